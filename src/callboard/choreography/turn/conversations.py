"""Conversations as a user steers them: the mode they go on in, and their end, on record.

What is said in one is `talk`'s.
"""

from typing import Any, Final

from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.memory_rows import load_state, save_state
from callboard.choreography.turn.modes import find_mode
from callboard.choreography.turn.thinking.deciding import ModelUnavailable
from callboard.choreography.turn.turn import ANSWER, Busy, refuse_strangers
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import UNFINISHED, RunRecord, RunState, SignalKind
from callboard.core.vocabulary.run import Answer
from callboard.operations import Does, Operations, operation
from callboard.store.connection import Connection
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio

TURN: Final = "turn"
# Summing up waits for whatever model there is.
_AN_HOUR_SECONDS: Final = 3600.0


class TurnFailed(CallboardError):
    """A turn ended without a reply; what it had done is told with the next one."""

    code = "turn_failed"


class Conversations:
    """The conversations about one domain in one open project."""

    def __init__(self, studio: Studio, domain: Domain, pack: str) -> None:
        """Take the project, what is talked about, and the pack that offers it."""
        self._studio = studio
        self._domain = domain
        self._name = f"{pack}/{TURN}"

    def open_turn(self, session_id: str) -> tuple[RunRecord | None, Answer | None]:
        """Return the run that is not over, and what it asks the user, if it does."""

        def work(connection: Connection) -> tuple[RunRecord | None, Answer | None]:
            runs = list_runs(
                connection, states=UNFINISHED, session_id=session_id, choreography=self._name
            )
            for run in runs:
                asked = list_questions(connection, run_id=run.id)
                mine = [each for each in asked if each.key.endswith(f"/{ANSWER}")]
                return run, (mine[0] if mine else None)
            return None, None

        return self._studio.database.read(work)

    async def choose_mode(self, session_id: str, who: Who, mode: str) -> str | None:
        """Go on in a mode; `auto` leaves it to each message. Nothing is said, no turn is made."""
        chosen = None if mode == "auto" else find_mode(self._domain.modes(), mode).name
        now = self._studio.clock.now_ms()
        run, question = self.open_turn(session_id)
        if run is not None and question is None:
            raise busy(run)

        def work(connection: Connection) -> None:
            refuse_strangers(connection, session_id, who.user_id)
            state = load_state(connection, session_id)
            state.mode, state.user_id, state.suggestion = chosen, who.user_id, None
            save_state(connection, session_id, state, now)

        await self._studio.database.write(work)
        return chosen

    async def end(self, session_id: str, who: Who) -> dict[str, Any]:
        """Drop what is open, and sum the conversation up."""
        studio = self._studio
        studio.database.read(lambda c: refuse_strangers(c, session_id, who.user_id))
        run, _question = self.open_turn(session_id)
        if run is not None:
            await studio.engine.signal(run.id, SignalKind.CANCEL, "the conversation ended")
        args: dict[str, Json] = {"end": True, "user_id": who.user_id, "timezone": who.timezone}
        started = await studio.start(self._name, args, session_id=session_id)
        done = await studio.engine.wait(started.id)
        if done.state is not RunState.DONE:
            raise failure(done)
        return dict(done.result)


@operation()
async def choose_mode(
    conversations: Conversations, session_id: str, who: Who, mode: str
) -> str | None:
    """Go on in another mode."""
    return await conversations.choose_mode(session_id, who, mode)


@operation(does=Does.ONCE, timeout_seconds=_AN_HOUR_SECONDS)
async def end_conversation(
    conversations: Conversations, session_id: str, who: Who
) -> dict[str, Any]:
    """End a conversation."""
    return await conversations.end(session_id, who)


def conversation_operations(studio: Studio, pack: str, conversations: Conversations) -> Operations:
    """Return what steers conversations, on record."""
    return Operations(studio, pack, lambda _studio, _kind: conversations)


def busy(run: RunRecord) -> Busy:
    """Return what somebody is told who speaks while a turn is under way."""
    return Busy(
        "A turn is under way in this conversation",
        fix=f"Wait for it; `callboard runs show {run.id}` shows where it is.",
        run_id=run.id,
    )


def failure(run: RunRecord) -> CallboardError:
    """Return why a run of a conversation came to nothing."""
    error = run.error
    if error is None:
        return TurnFailed(f"The turn was {run.state.value}", run_id=run.id)
    if error.code == ModelUnavailable.code:
        return ModelUnavailable(error.message, fix=error.fix, run_id=run.id)
    return TurnFailed(error.message, fix=error.fix, run_id=run.id, cause=error.code)
