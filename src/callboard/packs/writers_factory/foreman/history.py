"""The conversation with the Foreman: the finished turns of a session, read from the journal.

So it survives restarts and other models. Past replies are shown as messages in their element,
without their thinking; what actions led to follows as a system turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.choreography.conversation import user_turn
from callboard.core.canonical import Json
from callboard.core.vocabulary import Content, RunRecord, RunState, Trust
from callboard.engine.errors import RunInterrupted
from callboard.engine.run import Run
from callboard.packs.writers_factory.foreman.actions import results_markup
from callboard.packs.writers_factory.model import FOREMAN, PACK
from callboard.prompts import Turn
from callboard.replies import Action
from callboard.store.connection import Connection
from callboard.store.journal.runs import list_runs

CHAT: Final = f"{PACK}/chat"
_MOST_UNANSWERED: Final = 10


@dataclass(frozen=True, slots=True)
class TurnRound:
    """One reply within a turn, and what its actions led to."""

    message: str
    results: tuple[dict[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class PastTurn:
    """What the writer said, and everything that followed."""

    run_id: str
    message: str
    rounds: tuple[TurnRound, ...]
    created_at: int
    result: dict[str, Any]


def exchanges(connection: Connection, session_id: str, limit: int | None = None) -> list[PastTurn]:
    """Return the finished turns of a session, or the newest of them, oldest first."""
    done = list_runs(
        connection,
        states=(RunState.DONE,),
        choreography=CHAT,
        session_id=session_id,
        limit=limit,
    )
    return [_exchange(run) for run in reversed(done) if isinstance(run.result, dict)]


def interrupted(connection: Connection, run: Run) -> tuple[str, ...]:
    """Return what was said since the last answer before a turn and was cut off, oldest first."""
    lost: list[str] = []
    recent = list_runs(
        connection, choreography=CHAT, session_id=run.session_id, limit=_MOST_UNANSWERED
    )
    for each in recent:
        if each.id == run.id:
            continue
        if each.state is RunState.DONE:
            break
        if each.error is not None and each.error.code == RunInterrupted.code:
            lost.append(str(each.args["message"]))
    return tuple(reversed(lost))


def turns_of(said: list[PastTurn]) -> tuple[Turn, ...]:
    """Return exchanges as a prompt shows them."""
    turns: list[Turn] = []
    for each in said:
        turns.append(user_turn(each.message))
        for one in each.rounds:
            turns += round_turns(one)
    return tuple(turns)


def round_turns(one: TurnRound) -> list[Turn]:
    """Return one reply and its results as a prompt shows them."""
    text = f"<message>\n{one.message}\n</message>"
    turns = [Turn(Content(text, f"agent:{FOREMAN}", Trust.UNTRUSTED), "assistant")]
    if one.results:
        # Every value in it is escaped and the elements are ours, like those of the state.
        shown = Content(results_markup(one.results), "action_results", Trust.TRUSTED)
        turns.append(Turn(shown, "system"))
    return turns


def waiting_from_json(result: Mapping[str, Any]) -> tuple[Action, ...]:
    """Return the actions a turn left waiting for the writer's yes."""
    return tuple(Action(each["type"], each["content"]) for each in result.get("waiting") or ())


def _exchange(run: RunRecord) -> PastTurn:
    result = cast("dict[str, Any]", run.result)
    rounds = tuple(
        TurnRound(str(each["message"]), tuple(each["results"])) for each in result.get("rounds", ())
    )
    return PastTurn(run.id, str(run.args["message"]), rounds, run.created_at, result)
