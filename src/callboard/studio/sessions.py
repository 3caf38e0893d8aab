"""Sessions: isolated lines of work with a lifecycle that allows only what is listed."""

from collections.abc import Awaitable, Callable

from callboard.core.canonical import Json
from callboard.core.clock import Clock
from callboard.core.errors import Conflict
from callboard.core.events import SessionChanged
from callboard.core.ids import IdMaker
from callboard.core.vocabulary import UNFINISHED
from callboard.core.vocabulary.run import (
    SESSION_TRANSITIONS,
    RunRecord,
    RunState,
    SessionRecord,
    SessionState,
    SignalKind,
)
from callboard.engine.engine import Engine
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.events import append_event
from callboard.store.journal.runs import list_runs
from callboard.store.journal.sessions import (
    insert_session,
    list_sessions,
    load_session,
    move_session,
    set_context,
)
from callboard.store.journal.signals import last_pause_reason

# Why a run is paused whose session was put away; only such runs come back with the session.
_SUSPENDED = "session suspended"


class Sessions:
    """Creates, switches, suspends, resumes and closes the sessions of a project."""

    def __init__(self, database: Database, engine: Engine, ids: IdMaker, clock: Clock) -> None:
        """Take the store and the engine whose runs belong to sessions."""
        self._database = database
        self._engine = engine
        self._ids = ids
        self._clock = clock

    async def create(
        self,
        name: str = "",
        context: dict[str, Json] | None = None,
        *,
        session_id: str | None = None,
    ) -> SessionRecord:
        """Make a session and activate it, under an id made for it or a new one."""
        made = self._new(name, context, session_id)
        return await self._database.write(lambda connection: self._begin(connection, made))

    async def current(self) -> SessionRecord:
        """Return the newest active session, making one if there is none."""
        active = self.list(SessionState.ACTIVE)
        if active:
            return active[0]
        made = self._new("main")

        def work(connection: Connection) -> SessionRecord:
            # Somebody else may have made one meanwhile.
            now_active = list_sessions(connection, SessionState.ACTIVE)
            return now_active[0] if now_active else self._begin(connection, made)

        return await self._database.write(work)

    def get(self, session_id: str) -> SessionRecord:
        """Return a session by id or name."""
        return self._database.read(lambda connection: load_session(connection, session_id))

    def list(self, state: SessionState | None = None) -> list[SessionRecord]:
        """Return sessions, newest first."""
        return self._database.read(lambda connection: list_sessions(connection, state))

    async def suspend(self, session_id: str) -> SessionRecord:
        """Freeze a session: its runs pause where they are."""
        self._allow(self.get(session_id), SessionState.SUSPENDED)
        await self._each_run(
            session_id,
            lambda run: self._engine.signal(run.id, SignalKind.PAUSE, _SUSPENDED),
            (RunState.PENDING, RunState.RUNNING, RunState.WAITING),
        )
        return await self._move(session_id, SessionState.SUSPENDED)

    async def resume(self, session_id: str) -> SessionRecord:
        """Bring a suspended session back, and with it the runs that were paused with it."""
        self._allow(self.get(session_id), SessionState.ACTIVE)
        session = await self._move(session_id, SessionState.ACTIVE)
        await self._each_run(session_id, self._wake, (RunState.PAUSED,))
        return session

    async def _wake(self, run: RunRecord) -> None:
        reason = self._database.read(lambda connection: last_pause_reason(connection, run.id))
        if reason == _SUSPENDED:
            await self._engine.signal(run.id, SignalKind.RESUME, "session resumed")

    async def switch(self, session_id: str) -> SessionRecord:
        """Suspend the current session and return the other one, active."""
        wanted = self.get(session_id)
        for session in self.list(SessionState.ACTIVE):
            if session.id != wanted.id:
                await self.suspend(session.id)
        return wanted if wanted.state is SessionState.ACTIVE else await self.resume(wanted.id)

    async def complete(self, session_id: str, summary: str = "") -> SessionRecord:
        """Close a session that is done with; open runs forbid it."""
        session = self.get(session_id)
        self._allow(session, SessionState.COMPLETED)
        unfinished = self._runs(session.id, UNFINISHED)
        if session.state is SessionState.ACTIVE and unfinished:
            raise Conflict(
                f"Session {session.name!r} has {len(unfinished)} unfinished runs",
                fix="Let them finish, or cancel them: " + ", ".join(run.id for run in unfinished),
                session_id=session.id,
            )
        for run in unfinished:
            await self._engine.signal(run.id, SignalKind.CANCEL, "session closed")
        return await self._move(session.id, SessionState.COMPLETED, summary)

    async def fail(self, session_id: str, reason: str) -> SessionRecord:
        """Close a session that cannot go on."""
        return await self._move(self.get(session_id).id, SessionState.FAILED, reason)

    async def update_context(
        self, session_id: str, change: Callable[[dict[str, Json]], dict[str, Json]]
    ) -> SessionRecord:
        """Apply a change to a session's context, atomically."""
        now = self._clock.now_ms()

        def work(connection: Connection) -> SessionRecord:
            session = load_session(connection, session_id)
            set_context(connection, session.id, change(dict(session.context)), now)
            return load_session(connection, session.id)

        return await self._database.write(work)

    def require_active(self, session: SessionRecord) -> None:
        """Refuse to work in a session that is put away or closed."""
        if session.state is not SessionState.ACTIVE:
            raise Conflict(
                f"Session {session.name!r} is {session.state.value}",
                fix=f"`callboard sessions resume {session.name}`, or name an active session.",
                session_id=session.id,
                state=session.state.value,
            )

    def _new(
        self, name: str, context: dict[str, Json] | None = None, session_id: str | None = None
    ) -> SessionRecord:
        made = session_id or self._ids.make("session")
        return SessionRecord(
            id=made,
            name=name or made,
            state=SessionState.CREATED,
            context=context or {},
            created_at=self._clock.now_ms(),
        )

    def _begin(self, connection: Connection, session: SessionRecord) -> SessionRecord:
        insert_session(connection, session)
        self._event(connection, session, SessionState.CREATED)
        return self._moved(connection, session.id, SessionState.ACTIVE)

    async def _move(self, session_id: str, new: SessionState, summary: str = "") -> SessionRecord:
        return await self._database.write(
            lambda connection: self._moved(connection, session_id, new, summary)
        )

    def _moved(
        self, connection: Connection, session_id: str, new: SessionState, summary: str = ""
    ) -> SessionRecord:
        session = load_session(connection, session_id)
        self._allow(session, new)
        now = self._clock.now_ms()
        move_session(connection, session.id, session.state, new, now, summary)
        self._event(connection, session, new)
        return load_session(connection, session.id)

    def _allow(self, session: SessionRecord, new: SessionState) -> None:
        if new in SESSION_TRANSITIONS[session.state]:
            return
        allowed = ", ".join(sorted(s.value for s in SESSION_TRANSITIONS[session.state]))
        raise Conflict(
            f"Session {session.name!r} is {session.state.value} and cannot become {new.value}",
            fix=f"From here it can become: {allowed}." if allowed else "Create a new session.",
            session_id=session.id,
            state=session.state.value,
        )

    def _runs(self, session_id: str, states: tuple[RunState, ...]) -> "list[RunRecord]":
        return self._database.read(
            lambda connection: list_runs(connection, states=states, session_id=session_id)
        )

    async def _each_run(
        self,
        session_id: str,
        act: Callable[[RunRecord], Awaitable[object]],
        states: tuple[RunState, ...],
    ) -> None:
        for run in self._runs(self.get(session_id).id, states):
            try:
                await act(run)
            except Conflict:
                # The run ended by itself while we were asking.
                continue

    def _event(self, connection: Connection, session: SessionRecord, state: SessionState) -> None:
        append_event(
            connection,
            SessionChanged(state.value, session.name),
            at=self._clock.now_ms(),
            session_id=session.id,
        )
