"""Undoing by word of mouth: the last turn that wrote is taken back, and the reply says what."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from callboard.choreography.turn.acting.results import named
from callboard.choreography.turn.acting.scene import told
from callboard.choreography.turn.requests import UndoResult
from callboard.choreography.turn.work import Work
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect, EntitySource, EntityState


async def undo_turn(work: Work) -> str:
    """Take back what the last turn wrote, and say so; or say why that is not possible."""

    async def act() -> Json:
        return (await work.domain.undo(work.who)).model_dump(mode="json")

    try:
        # Once: undoing again would take back the turn before.
        said = await work.stage.step("undo", act, effect=Effect.ONCE)
    except CallboardError as error:
        return f"I could not undo that: {told(error)}"
    if not isinstance(said, dict):
        return "It was undone."
    done = UndoResult.model_validate(cast("dict[str, Any]", said))
    drafts = _bring_back_drafts(work, done.removed_ids)
    parts = [f"{done.restored} restored"] if done.restored else []
    parts += [f"{done.removed} removed again"] if done.removed else []
    names = named(done.labels)
    lines = [f"Undone{': ' + names if names else ''} ({', '.join(parts) or 'nothing left'})."]
    again = [f"{named(drafts)} can be saved again."] if drafts else []
    return " ".join([*lines, *again, *done.notes])


def _bring_back_drafts(work: Work, gone: Sequence[str]) -> list[str]:
    """Forget things whose rows are gone; what had been a draft is one again. Return those."""
    labels: list[str] = []
    for row_id in gone:
        entity, content = work.registry.find(row_id), work.content(row_id)
        if entity is None:
            continue
        work.registry.forget(row_id, work.turn, "undone")
        if content is None:
            continue
        draft = replace(
            entity,
            id=content.temp_id,
            state=EntityState.PENDING,
            source=EntitySource.GENERATE,
            persisted=False,
            pinned=False,
        )
        work.registry.add(draft, work.turn)
        work.contents[content.temp_id] = replace(content, db_id=None)
        labels.append(entity.label)
    return labels
