"""Drafting: a recipe or a plan by a model that is held to choices, from the kitchen's data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.choreography.turn.domain import Row, WantedContent
from callboard.packs.alfred.kitchen.generation.content import PLAN, RECIPE
from callboard.packs.alfred.kitchen.generation.dishes import dish_book, pick
from callboard.packs.alfred.kitchen.generation.invention import (
    Brief,
    compose,
    dishes_for,
    eater_of,
    gaps_of,
)
from callboard.packs.alfred.kitchen.generation.selection import (
    PlanBrief,
    Wish,
    entries_for,
    gaps_for,
)
from callboard.packs.alfred.kitchen.profile import needs_instructions

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage

_LONGEST_WISH: Final = 200
_MOST_SERVINGS: Final = 50


async def draft(
    stage: "Stage",
    key: str,
    wanted: WantedContent,
    profile: Row,
    today: date,
    taken: frozenset[str],
) -> Sequence[Row] | None:
    """Return one draft; an empty list if nothing can be made; None for what is made elsewhere."""
    if wanted.content_type == RECIPE:
        return await draft_recipe(stage, key, wanted, profile, taken)
    if wanted.content_type == PLAN:
        return await draft_plan(stage, key, wanted, profile, today)
    return None


async def draft_recipe(
    stage: "Stage", key: str, wanted: WantedContent, profile: Row, taken: frozenset[str]
) -> Sequence[Row]:
    """Return a new recipe, or nothing if nothing fits who eats it."""
    wish = str(wanted.arguments.get("wish") or wanted.request)[:_LONGEST_WISH]
    brief = Brief(
        wish=wish,
        servings=_servings(wanted, profile),
        eater=eater_of(profile, wanted.constraints, wish),
        stock=_stock_names(wanted),
        taken=taken,
        form=_form(wanted.revises),
    )
    fitting = dishes_for(brief)
    if not fitting:
        return []
    chosen = await pick(stage, f"{key}/dish", wish, {"dish": fitting})
    for name in dict.fromkeys([chosen["dish"], *fitting]):
        gaps = gaps_of(name, brief)
        picks = await pick(stage, f"{key}/{name}", wish, gaps)
        made = compose(name, picks, brief) or _any(name, gaps, brief)
        if made is not None:
            return [made if needs_instructions(profile) else {**made, "steps": []}]
    return []


async def draft_plan(
    stage: "Stage", key: str, wanted: WantedContent, profile: Row, today: date
) -> Sequence[Row]:
    """Return a plan of the user's own recipes; nothing if none may be eaten or no day is open."""
    arguments = wanted.arguments
    limits = [
        *wanted.constraints,
        *(f"diet:{each}" for each in arguments.get("diets") or ()),
        *(f"avoid:{each}" for each in arguments.get("without") or ()),
    ]
    wishes = {
        day: Wish.of(text, eater_of(profile, limits, text))
        for day, text in cast("Mapping[str, str]", arguments.get("wishes") or {}).items()
    }
    brief = PlanBrief(
        start=_date(arguments.get("start"), today),
        end=_date(arguments.get("end"), today),
        meals=tuple(str(each) for each in arguments.get("meals") or ("dinner",)),
        count=int(arguments["count"]) if arguments.get("count") else None,
        profile=profile,
        eater=eater_of(profile, limits, ""),
        today=today,
        recipes=wanted.data.get("recipes", ()),
        stock=wanted.data.get("inventory_items", ()),
        planned=wanted.data.get("meal_plans", ()),
        wishes=wishes,
        replaces=bool(arguments.get("replaces")),
    )
    slots = brief.slots()
    gaps = gaps_for(brief, slots)
    if not any(gaps.values()):
        return []
    names = {slot: [str(row["name"]) for row in rows] for slot, rows in gaps.items() if rows}
    picks = await pick(stage, f"{key}/meals", wanted.request[:_LONGEST_WISH], names)
    household = profile.get("household_size")
    return [{"entries": entries_for(slots, gaps, picks, household, wishes)}]


def _any(name: str, gaps: Mapping[str, Sequence[str]], brief: Brief) -> dict[str, Any] | None:
    """Return the first combination that works, if what was picked does not."""
    for main in gaps["main"]:
        for flavour in (*gaps["flavour"], ""):
            picks = {"main": main, "vegetable": gaps["vegetable"][0], "flavour": flavour}
            made = compose(name, picks, replace(brief))
            if made is not None:
                return made
    return None


def _servings(wanted: WantedContent, profile: Row) -> float:
    asked = wanted.arguments.get("servings") or (wanted.revises or {}).get("servings")
    servings = float(asked or profile.get("household_size") or 2)
    return min(max(servings, 1.0), float(_MOST_SERVINGS))


def _stock_names(wanted: WantedContent) -> tuple[str, ...]:
    """Return what is in the house, what expires first in front."""
    rows = sorted(
        wanted.data.get("inventory_items", ()),
        key=lambda row: str(row.get("expires_on") or "9999-99-99"),
    )
    names: list[str] = []
    for row in rows:
        known: Any = row.get("ingredient")
        name = cast("Row", known).get("name") if isinstance(known, Mapping) else row.get("name")
        if name and row.get("quantity") != 0:
            names.append(str(name))
    return tuple(dict.fromkeys(names))


def _form(draft: Row | None) -> str:
    """Return the form an earlier draft was cast in."""
    tags: Any = (draft or {}).get("tags")
    listed = [str(each) for each in cast("list[Any]", tags)] if isinstance(tags, list) else []
    book = dish_book()
    return next((name for tag in listed for name in book.named_in(tag)), "")


def _date(value: Any, default: date) -> date:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return default
