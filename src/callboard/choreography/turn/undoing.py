"""Undoing by word of mouth: the last turn that wrote is taken back, and the reply says what."""

from typing import Any, cast

from callboard.choreography.turn.acting.results import named
from callboard.choreography.turn.acting.scene import told
from callboard.choreography.turn.requests import UndoResult
from callboard.choreography.turn.work import Work
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect


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
    parts = [f"{done.restored} restored"] if done.restored else []
    parts += [f"{done.removed} removed again"] if done.removed else []
    names = named(done.labels)
    lines = [f"Undone{': ' + names if names else ''} ({', '.join(parts) or 'nothing left'})."]
    return " ".join([*lines, *done.notes])
