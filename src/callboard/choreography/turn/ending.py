"""Ending a conversation: it is summed up once more, and what it avoided is no longer avoided."""

from typing import Any, cast

from callboard.choreography.stage import Stage
from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.prompting import Asker, Hidden
from callboard.choreography.turn.remembering import compress, load_state, save_state
from callboard.core.canonical import Json
from callboard.engine.scope import StepScope
from callboard.knowledge.entities import load_registry


async def end_session(stage: Stage, who: Who, mode: str) -> dict[str, Any]:
    """Sum a conversation up and close it; a later message opens it again."""
    studio, session = stage.studio, who.session_id
    state = studio.database.read(lambda connection: load_state(connection, session))
    registry = studio.database.read(lambda connection: load_registry(connection, session))
    hidden = Hidden.of(registry, state.gone)
    if state.recent:
        asker = Asker(stage, mode)
        state.summary = await compress(asker, state, state.recent, hidden, state.turn)
    state.constraints = []
    state.clarification = state.proposal = state.suggestion = None
    summary = state.summary.model_dump(mode="json")

    async def act(scope: StepScope) -> Json:
        now = studio.clock.now_ms()
        state.ended_at = now
        scope.commit_with(lambda connection: save_state(connection, session, state, now))
        return {"ended": True, "turns": state.turn, "summary": summary}

    return cast("dict[str, Any]", await stage.run.step("end", act))
