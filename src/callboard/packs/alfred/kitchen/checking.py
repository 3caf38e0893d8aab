"""Checking: whether content may be kept. Its shape, who eats it, and that it is grounded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

from callboard.choreography.turn.domain import Objection, Row
from callboard.choreography.turn.requests import ReadRequest, ReadResult
from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.generation.content import PLAN, recipe_refs, shape_objections
from callboard.packs.alfred.kitchen.profile.effects import needs_instructions
from callboard.packs.alfred.kitchen.safety.checking import Eater, check_for

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
        found += await _plan_objections(content, eater, read)
    return found


async def _plan_objections(content: Row, eater: Eater, read: Read) -> list[Objection]:
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
