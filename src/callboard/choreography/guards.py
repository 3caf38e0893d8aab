"""Guards: what keeps a run from starting while another of its kind is under way.

A guard is called in the transaction that stores the new run. The words of a refusal are the
caller's; what counts as under way is decided here.
"""

from collections.abc import Callable, Iterable
from typing import Final

from callboard.core.errors import Conflict
from callboard.core.vocabulary import UNFINISHED, RunRecord, RunState, SignalKind
from callboard.operations.runtime import send_signal
from callboard.store.connection import Connection
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio

# Between its creation and its first step a run belongs to nobody yet.
_STARTING_MS: Final = 10_000

Refusal = Callable[[RunRecord], Conflict]
"""Makes the error that names the run which is under way."""


def is_interrupted(studio: Studio, run: RunRecord) -> bool:
    """Say whether a run should go on but its process has died and nobody has taken it up."""
    if run.state not in (RunState.PENDING, RunState.RUNNING) or studio.engine.is_executed(run):
        return False
    has_begun = run.state is RunState.RUNNING or run.owner is not None
    return has_begun or studio.clock.now_ms() - run.created_at >= _STARTING_MS


async def end_left(studio: Studio, run: RunRecord) -> bool:
    """End a run that was paused or that nobody goes on with, so that another may begin.

    What it has done stands, and whoever comes next tells of it. Says whether it was one.
    """
    if run.state is not RunState.PAUSED and not is_interrupted(studio, run):
        return False
    await send_signal(studio, run.id, SignalKind.CANCEL, "another message came after it")
    return True


def only_one(
    choreography: str, refusal: Refusal, counts: Callable[[RunRecord], bool] | None = None
) -> Callable[[Connection], None]:
    """Return what objects to a second run of a choreography while one that counts is under way."""

    def guard(connection: Connection) -> None:
        under_way = list_runs(connection, states=UNFINISHED, choreography=choreography)
        _refuse((run for run in under_way if counts is None or counts(run)), refusal)

    return guard


def one_per_session(
    studio: Studio, connection: Connection, run: RunRecord, refusal: Refusal
) -> None:
    """Object to a stored run while another of its choreography is under way in its session.

    One whose process died is given up for it: what it had done stands, and it can be retried.
    """
    under_way = list_runs(
        connection,
        states=UNFINISHED,
        session_id=run.session_id,
        choreography=run.choreography,
    )
    others = [other for other in under_way if other.id != run.id]
    lost = [other for other in others if is_interrupted(studio, other)]
    _refuse((other for other in others if other not in lost), refusal)
    for other in lost:
        studio.engine.give_up(connection, other)


def _refuse(others: Iterable[RunRecord], refusal: Refusal) -> None:
    for other in others:
        raise refusal(other)
