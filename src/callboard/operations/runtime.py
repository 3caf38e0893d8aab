"""The runtime's own operations: what a user does to sessions, issues, runs and budgets, on record.

Receipts stand in the session it is about. Runs that begin are not here: their journal says who
began what, with which arguments.
"""

from functools import partial
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from callboard.core.breaker import Breaker
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.core.events import EventBody
from callboard.core.vocabulary import Issue, IssueDraft
from callboard.core.vocabulary.run import Answer, SessionRecord, SignalKind, SignalRecord
from callboard.engine.engine import Engine
from callboard.models import ModelRequest
from callboard.models.accounts import Accounts, Budget, Limits, Scope
from callboard.models.traffic.shared_breakers import SharedBreakers
from callboard.operations.declaration import Operation, operation
from callboard.operations.performing import Operations
from callboard.store.journal.events import append_event
from callboard.studio.audit import Audit
from callboard.studio.issues import Issues
from callboard.studio.retention import Cleared, Clearing, Retention
from callboard.studio.sessions import Sessions
from callboard.studio.studio import Studio

P = ParamSpec("P")
R = TypeVar("R")

FAMILY: Final = "callboard"
# A signal takes effect after the step that is executing, which may wait for a slow model.
_A_DAY_SECONDS: Final = 86_400.0


def _moved(session: SessionRecord) -> str:
    return f"session {session.name}: {session.state.value}"


def _standing(issue: Issue) -> str:
    return f"issue {issue.id}: {issue.status.value}, {len(issue.receipt_ids)} receipts"


@operation(tell=_moved)
async def create_session(sessions: Sessions, session_id: str, name: str = "") -> SessionRecord:
    """Begin a session; it becomes the current one."""
    return await sessions.create(name, session_id=session_id)


@operation(tell=_moved)
async def switch_session(sessions: Sessions, session_id: str) -> SessionRecord:
    """Make another session the current one."""
    return await sessions.switch(session_id)


@operation(tell=_moved, undo="resume_session", timeout_seconds=_A_DAY_SECONDS)
async def suspend_session(sessions: Sessions, session_id: str) -> SessionRecord:
    """Put a session away: its runs pause where they are."""
    return await sessions.suspend(session_id)


@operation(tell=_moved, undo="suspend_session")
async def resume_session(sessions: Sessions, session_id: str) -> SessionRecord:
    """Bring a suspended session back."""
    return await sessions.resume(session_id)


@operation(tell=_moved)
async def complete_session(sessions: Sessions, session_id: str, summary: str = "") -> SessionRecord:
    """Close a session that is done with."""
    return await sessions.complete(session_id, summary)


@operation(tell=_standing, undo="close_issue")
async def add_issue(issues: Issues, draft: IssueDraft) -> Issue:
    """Write down an issue of one's own."""
    return await issues.add(draft)


@operation(tell=_standing, undo="reopen_issue")
async def close_issue(issues: Issues, number: int) -> Issue:
    """Say that an issue is dealt with."""
    return await issues.close(number)


@operation(tell=_standing, undo="close_issue")
async def reopen_issue(issues: Issues, number: int) -> Issue:
    """Take an issue up again."""
    return await issues.reopen(number)


@operation(tell=_standing)
async def link_receipts(issues: Issues, number: int, receipt_ids: list[str]) -> Issue:
    """Link receipts to an issue."""
    return await issues.link_receipts(number, receipt_ids)


@operation(tell=_standing)
async def link_session(
    audit: Audit, session_id: str, number: int, receipt_ids: list[str] | None = None
) -> Issue:
    """Link receipts of a session to an issue: the named ones, or all of them."""
    return await audit.link_issue(session_id, number, receipt_ids)


@operation(timeout_seconds=_A_DAY_SECONDS)
async def signal_run(
    engine: Engine, run_id: str, kind: SignalKind, reason: str = ""
) -> SignalRecord:
    """Pause a run, let it go on, or cancel it."""
    return await engine.signal(run_id, kind, reason)


@operation()
async def answer_question(
    engine: Engine, question_id: str, value: Json, dispatch: bool = True
) -> Answer:
    """Answer what a run asks."""
    return await engine.answer(question_id, value, dispatch=dispatch)


@operation(undo="clear_budget")
async def set_budget(
    accounts: Accounts, scope: Scope, limits: Limits, beyond: Limits | None = None
) -> Budget:
    """Set what a scope may spend in all, or beyond what it has spent so far."""
    return await accounts.set_limits(scope, limits, beyond)


@operation(undo="set_budget")
async def clear_budget(accounts: Accounts, scope: Scope) -> bool:
    """Remove the limits of a scope; what it has spent stays on record."""
    return await accounts.clear_limits(scope)


@operation()
async def reset_circuit(studio: Studio, resource: str) -> Breaker:
    """Let calls to a provider pass again at once; what it was is told."""

    def keep(body: EventBody, _request: ModelRequest | None) -> None:
        # Committed at the latest when the database is closed.
        studio.database.submit(partial(append_event, body=body, at=studio.clock.now_ms()))

    circuits = SharedBreakers(studio.database, clock=studio.clock, notify=keep)
    return await circuits.reset(resource)


@operation(timeout_seconds=_A_DAY_SECONDS)
async def clear_old_work(studio: Studio, wanted: Clearing) -> Cleared:
    """Let go what old, ended work left behind; receipts and results stay."""
    return await Retention(studio.database, studio.clock, studio.mirrors.touch).clear(wanted)


OPERATIONS: Final[dict[str, Operation[..., Any]]] = {
    each.name: each for each in list(vars().values()) if isinstance(each, Operation)
}
"""Everything a user can do to the runtime's nouns, by name."""


def runtime(studio: Studio) -> Operations:
    """Return what has the runtime's operations done in an open project."""
    return Operations(studio, FAMILY, _find)


async def begin_session(studio: Studio, name: str = "") -> SessionRecord:
    """Begin a session; the receipt of that is the first in its chain."""
    session_id = studio.ids.make("session")
    return await runtime(studio).perform_in(session_id, create_session, session_id, name)


async def change_session(
    studio: Studio,
    wanted: Operation[Concatenate[str, P], SessionRecord],
    session: str,
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> SessionRecord:
    """Do something to a session, by id or name, on record in its own chain."""
    found = studio.sessions.get(session).id
    return await runtime(studio).perform_in(found, wanted, found, *args, **kwargs)


async def change_issue(
    studio: Studio,
    wanted: Operation[Concatenate[int, P], Issue],
    number: int,
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> Issue:
    """Do something to an issue, on record where it comes from, or where the user works."""
    session_id = studio.issues.get(number).source.session_id
    return await runtime(studio).perform_in(session_id, wanted, number, *args, **kwargs)


async def send_signal(
    studio: Studio, run_id: str, kind: SignalKind, reason: str = ""
) -> SignalRecord:
    """Ask something of a run, on record in its session."""
    session_id = studio.engine.load(run_id).session_id
    return await runtime(studio).perform_in(session_id, signal_run, run_id, kind, reason)


async def give_answer(
    studio: Studio, asked: Answer, value: Json, *, dispatch: bool = True
) -> Answer:
    """Answer a question of a run, on record in its session."""
    session_id = studio.engine.load(asked.run_id).session_id
    return await runtime(studio).perform_in(
        session_id, answer_question, asked.id, value, dispatch=dispatch
    )


def _find(studio: Studio, kind: type[Any]) -> Any:
    nouns = (studio.sessions, studio.issues, studio.audit, studio.engine, studio.accounts)
    for noun in (studio, *nouns):
        if isinstance(noun, kind):
            return noun
    raise NotFound(f"No operation of the runtime works on a {kind.__name__}")
