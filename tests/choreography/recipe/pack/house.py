"""The shelf of the little house, with seeds from words and evidence rules for two roles."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from callboard.choreography.grounding import Grounding
from callboard.choreography.recipe import Recipe, RecipeHouse, RecipeShelf
from callboard.replies.evidence import EvidenceRules
from callboard.studio.studio import Studio

_HERE = Path(__file__).parent
_RULES = EvidenceRules.from_data(
    {
        "planner": [["receipt"]],
        "writer": [["scene_or_slot_quote"]],
        "editor": [["scene_or_slot_quote"]],
        "continuity": [["scene_or_slot_quote"], ["scope"], ["receipt"]],
        "critic": [["scene_or_slot_quote"]],
    }
)


def seeds(_studio: Studio, description: str, _recipe: Recipe) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    number = re.search(r"scene (\d+)", description, re.IGNORECASE)
    if number:
        found["scene_path"] = f"Story/Scenes/SCN-{int(number[1]):02}.md"
    about = re.search(r"about (.+)", description)
    if about:
        found["themes"] = [each.strip() for each in about[1].split(",")]
    return found


def describe(_studio: Studio, recipe: Recipe, args: Mapping[str, Any]) -> str:
    return f"{recipe.label}: {args.get('scene_path', '')}".strip(": ")


def recipes(studio: Studio | None) -> RecipeShelf:
    house = RecipeHouse(
        pack="little",
        recipes=_HERE / "recipes",
        seeds=seeds,
        describe=describe,
        grounding=lambda _studio: Grounding(
            _RULES, lambda _s: lambda path: "scene" if "Scenes/" in path else "other"
        ),
    )
    return RecipeShelf(house, studio)
