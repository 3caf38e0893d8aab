"""The whole way with a model that can only choose and tell a little."""

import json
import re
from typing import Any

import pytest
from scene_stage import build, open_stage

from callboard.models import ModelRequest
from callboard.packs.writers_factory.manuscript import outline_faults, uncovered_beats
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.scenes.variants import shared_runs
from callboard.testing import SCRIPTED

pytestmark = pytest.mark.anyio

MINIMAL: dict[str, Any] = {
    **SCRIPTED,
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}},
}
TAG = re.compile(r"</?\w+[^>]*>|\{\{|\.\.\.>|\bdata origin\b")


def tiny(request: ModelRequest) -> str:
    """Answer like a tiny model: the first choice, or some words where words are asked for."""
    properties = dict(request.json_schema or {}).get("properties", {})
    if "choice" in properties:
        return json.dumps({"choice": properties["choice"]["enum"][0]})
    if "line" in properties:
        stem = str(properties["line"]["pattern"]).partition("(")[0].removeprefix("^")
        return json.dumps({"line": f"{stem}the wind in the ropes,"})
    if properties:
        return "{}"
    if request.prompt_type == "tournament_passage_again":
        return "<content_update target='x'>Ines looks at the clock. <action type='y'>It"
    # A different story for every strategy, with a tag, an echo, a loop and a cut-off end.
    things = {"run, fall": "rope", "fears": "letter"}
    thing = next((t for word, t in things.items() if word in request.prompt_text), "lamp")
    told = [f"Ines took the {thing} and counted to {n} before the wind turned." for n in range(9)]
    said = " ".join([*told, told[0]])
    return f"<message>{said}</message> It was done with surgical precision. Then she"


async def test_the_way_of_a_scene_on_a_small_model(project: Any) -> None:
    async with open_stage(project, tiny, MINIMAL) as stage:
        await build(stage)
        planned = await stage.result("plan_scenes")
        outline = await stage.scenes.approve_outline()
        assert outline_faults(outline) == ()
        assert uncovered_beats(outline) == ()
        assert len(planned["scenes"]) == len(outline)
        midpoint = next(scene for scene in outline if scene.beat_number == 9)

        made = await stage.result(
            "scaffold", chapter=midpoint.chapter, scene=midpoint.scene, title=midpoint.title
        )
        assert made["beat_alignment"] == "Midpoint – false victory"
        assert made["time_of_day"]
        await stage.scenes.approve_scaffold(midpoint.id)

        await stage.result("write_scene", scaffold_id=midpoint.id)
        variants = stage.scenes.variants(midpoint.id)
        assert len(variants) == 3
        for variant in variants:
            assert 80 <= variant.word_count <= 220, (variant.word_count, variant.text)
            assert "surgical precision" not in variant.text
            assert variant.text.count("counted to 0") == 1
            assert not TAG.search(variant.text), variant.text
            assert "Ines" in variant.text
        assert len({variant.text for variant in variants}) == 3
        assert shared_runs(variants[0].text, variants[1].text) < 1

        hybrid = await stage.result("hybrid", scene_id=midpoint.id, wishes="more rain")
        assert hybrid["provenance"]
        await stage.scenes.select(midpoint.id, hybrid["id"])
        accepted = await stage.result("accept", scene_id=midpoint.id)
        assert stage.book.scene(midpoint.id).status is SceneStatus.DRAFTED
        assert stage.graph.node(f"scene:{midpoint.id}") is not None
        assert accepted["next_scene"]["scene_id"] != midpoint.id
