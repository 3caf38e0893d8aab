"""Content: the shapes of recipes and plans, how they are written, what speaks against them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.choreography.turn.domain import Objection, Row
from callboard.choreography.turn.requests import ReadRequest, ReadResult, WriteRequest
from callboard.core.errors import NotFound
from callboard.core.parsing import misfit
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.amounts import read_number
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for
from callboard.packs.alfred.kitchen.profile import needs_instructions

RECIPE: Final = "recipe"
PLAN: Final = "meal_plan"
TO_TASTE: Final = "to taste"
_GIVEN_BY_CODE: Final = ("temp_id", "type", "label")


class _Content(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Line(_Content):
    """An ingredient of a generated recipe."""

    name: str = Field(min_length=1, max_length=120)
    quantity: float | str | None = None
    unit: str | None = Field(default=None, max_length=30)
    preparation: str | None = Field(default=None, max_length=120)
    optional: bool = False


class Instruction(_Content):
    """A step of a generated recipe."""

    text: str = Field(min_length=1, max_length=600)
    minutes: int | None = Field(default=None, ge=0, le=2880)


class GeneratedRecipe(_Content):
    """A recipe that was made up."""

    name: str = Field(min_length=1, max_length=120)
    cuisine: str | None = None
    course: str | None = None
    description: str | None = Field(default=None, max_length=600)
    servings: float = Field(gt=0, le=100)
    prep_minutes: int | None = Field(default=None, ge=0, le=2880)
    cook_minutes: int | None = Field(default=None, ge=0, le=2880)
    difficulty: Literal["easy", "medium", "hard"] | None = None
    ingredients: list[Line] = Field(min_length=1, max_length=60)
    steps: list[Instruction] = Field(default_factory=list[Instruction], max_length=40)
    tags: list[str] = Field(default_factory=list[str], max_length=20)


class Entry(_Content):
    """A meal of a generated plan: a recipe by id or name, or words."""

    date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")
    meal_type: Literal["breakfast", "lunch", "dinner", "snack"] = "dinner"
    recipe_ref: str | None = Field(default=None, max_length=200)
    note: str | None = Field(default=None, max_length=300)
    servings: float | None = Field(default=None, gt=0, le=100)


class GeneratedPlan(_Content):
    """A plan that was made up."""

    entries: list[Entry] = Field(min_length=1, max_length=62)


_SHAPES: Final[Mapping[str, type[_Content]]] = {RECIPE: GeneratedRecipe, PLAN: GeneratedPlan}


@cache
def content_schema(content_type: str) -> Mapping[str, Any]:
    """Return the JSON schema of what is generated."""
    return _shape(content_type).model_json_schema()


def shape_objections(
    content_type: str, content: Row, *, may_lack_steps: bool = False
) -> list[Objection]:
    """Return what content lacks to be a recipe or a plan."""
    try:
        read = _shape(content_type).model_validate(dict(content))
    except ValidationError as error:
        return [
            Objection("shape", ".".join(map(str, each["loc"])) or content_type, misfit(each))
            for each in error.errors(include_url=False)[:5]
        ]
    if isinstance(read, GeneratedRecipe):
        return _recipe_objections(read, may_lack_steps=may_lack_steps)
    return _plan_objections(read) if isinstance(read, GeneratedPlan) else []


def content_to_write(content_type: str, content: Row) -> WriteRequest:
    """Return the write that saves content."""
    read = _shape(content_type).model_validate(dict(content))
    if isinstance(read, GeneratedRecipe):
        return WriteRequest.model_validate(
            {"op": "create", "table": "recipes", "records": [_recipe_record(read)]}
        )
    assert isinstance(read, GeneratedPlan)  # noqa: S101 - there are two shapes
    records = [_entry_record(entry) for entry in read.entries]
    return WriteRequest.model_validate({"op": "upsert", "table": "meal_plans", "records": records})


def _shape(content_type: str) -> type[_Content]:
    found = _SHAPES.get(content_type)
    if found is None:
        raise NotFound(
            f"The kitchen makes no {content_type!r}", fix=f"It makes: {', '.join(_SHAPES)}."
        )
    return found


def _recipe_objections(recipe: GeneratedRecipe, *, may_lack_steps: bool) -> list[Objection]:
    found: list[Objection] = []
    if not recipe.steps and not may_lack_steps:
        found.append(Objection("shape", "steps", "There is no instruction"))
    found += [
        Objection("shape", "ingredients", f"{line.quantity!r} of {line.name} is no amount")
        for line in recipe.ingredients
        if not _is_amount(line.quantity)
    ]
    return found


def _plan_objections(plan: GeneratedPlan) -> list[Objection]:
    found: list[Objection] = []
    seen: set[tuple[str, str]] = set()
    for entry in plan.entries:
        slot = (entry.date, entry.meal_type)
        if slot in seen:
            found.append(Objection("shape", entry.date, f"{entry.meal_type} is there twice"))
        seen.add(slot)
        if not (entry.recipe_ref or entry.note):
            found.append(Objection("shape", entry.date, "There is neither a recipe nor a note"))
    return found


def _is_amount(quantity: float | str | None) -> bool:
    if quantity is None or isinstance(quantity, int | float):
        return quantity is None or quantity > 0
    return _amount(quantity) is not None or quantity.strip().casefold() in ("", TO_TASTE, "some")


def _amount(quantity: float | str | None) -> float | None:
    if isinstance(quantity, str):
        number, rest = read_number(quantity)
        return number if number and not rest else None
    return quantity


def _recipe_record(recipe: GeneratedRecipe) -> dict[str, Any]:
    own = recipe.model_dump(exclude={"ingredients", "steps", "tags"}, exclude_none=True)
    return {
        **own,
        "source_type": "generated",
        "ingredients": [_line_record(line) for line in recipe.ingredients],
        "steps": [step.model_dump(exclude_none=True) for step in recipe.steps],
        "tags": list(dict.fromkeys(tag.strip().casefold() for tag in recipe.tags if tag.strip())),
    }


def _line_record(line: Line) -> dict[str, Any]:
    amount = _amount(line.quantity)
    record: dict[str, Any] = {"ingredient": line.name, "optional": line.optional}
    if amount is not None:
        record |= {"quantity": amount}
        if line.unit:
            record["unit"] = line.unit
    preparation = line.preparation
    if amount is None and isinstance(line.quantity, str) and line.quantity.strip():
        preparation = ", ".join(filter(None, (preparation, line.quantity.strip())))
    return {**record, "preparation": preparation} if preparation else record


def _entry_record(entry: Entry) -> dict[str, Any]:
    record: dict[str, Any] = {"plan_date": entry.date, "meal_type": entry.meal_type}
    if entry.servings:
        record["servings"] = entry.servings
    if entry.recipe_ref:
        record["recipe"] = entry.recipe_ref
    if entry.note:
        record["note"] = entry.note
    return record


def without_marks(content: Row) -> dict[str, Any]:
    """Return content without what code adds to it."""
    return {name: value for name, value in content.items() if name not in _GIVEN_BY_CODE}


def recipe_refs(content: Row) -> Sequence[str]:
    """Return the recipes a plan refers to."""
    entries: Any = content.get("entries")
    if not isinstance(entries, list):
        return ()
    refs = [each.get("recipe_ref") for each in entries if isinstance(each, Mapping)]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return [str(ref) for ref in refs if ref]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


Read = Callable[[ReadRequest], Awaitable[ReadResult]]


async def content_objections(
    content_type: str, content: Row, profile: Row, constraints: Sequence[str], read: Read
) -> list[Objection]:
    """Return everything that speaks against content."""
    may_lack_steps = not needs_instructions(profile)
    found = shape_objections(content_type, content, may_lack_steps=may_lack_steps)
    eater = Eater.of(profile, constraints)
    found += check_for(eater, content)
    if content_type == PLAN and not found:
        found += await _grounding_objections(content, eater, read)
    return found


async def _grounding_objections(content: Row, eater: Eater, read: Read) -> list[Objection]:
    """A plan's recipes are the user's own, and each may be eaten."""
    refs = list(dict.fromkeys(recipe_refs(content)))
    stored = [ref for ref in refs if not ref.startswith("temp_")]
    known = await _recipes(stored, read)
    found: list[Objection] = []
    for ref in stored:
        recipe = known.get(ref) or known.get(name_key(ref))
        if recipe is None:
            found.append(Objection("unknown", ref, "There is no such recipe"))
        else:
            found += check_for(eater, recipe)
    return found


async def _recipes(refs: Sequence[str], read: Read) -> Mapping[str, Row]:
    known: dict[str, Row] = {}
    for start in range(0, len(refs), 50):
        some = list(refs[start : start + 50])
        either: Any = {
            "or": [
                {"field": "id", "op": "in", "value": some},
                {"field": "name", "op": "in", "value": some},
            ]
        }
        request = ReadRequest.model_validate(
            {
                "table": "recipes",
                "filters": [either],
                "include": ["ingredients", "steps", "tags"],
                "limit": 200,
            }
        )
        for row in cast("list[Row]", (await read(request)).rows):
            known[str(row["id"])] = row
            known[name_key(str(row["name"]))] = row
    return known
