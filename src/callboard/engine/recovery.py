"""Recovery: runs that nobody executes find a process again, or are given up with a word.

At start-up, and for as long as the process lives: what others leave behind is taken up.
"""

import asyncio
import logging
from typing import Final, Literal

from callboard.core.errors import Conflict
from callboard.core.run_events import RunChanged
from callboard.core.vocabulary.run import RunRecord, RunState
from callboard.engine.dispatcher import Dispatcher
from callboard.engine.errors import RunInterrupted, UnknownChoreography
from callboard.engine.ownership import Ownership
from callboard.engine.scope import Backstage
from callboard.store.connection import Connection, StoreError
from callboard.store.journal.events import append_event
from callboard.store.journal.runs import claim, deaths_in_vain, finish, load_run, unfinished_owners

_log = logging.getLogger(__name__)

ADOPT_SECONDS: Final = 5.0
MOST_DEATHS: Final = 5
# A run that was stored a moment ago may be meant for a process that is about to claim it.
_FRESH_MS: Final = 60_000


class Recovery:
    """Looks for runs without a living owner."""

    def __init__(self, backstage: Backstage, ownership: Ownership, dispatcher: Dispatcher) -> None:
        """Take who lives, and who executes what is found."""
        self._backstage = backstage
        self._database = backstage.database
        self._ownership = ownership
        self._dispatcher = dispatcher
        self._most_deaths = MOST_DEATHS
        # Goes on looking; only where unfinished runs are resumed.
        self._adopter: asyncio.Task[None] | None = None

    async def stop(self) -> None:
        """Look no more."""
        if self._adopter is not None:
            self._adopter.cancel()
            await asyncio.wait({self._adopter})
            self._adopter = None

    async def recover(self, mode: Literal["auto", "manual"], most_deaths: int) -> list[RunRecord]:
        """Resume every unfinished run without a living owner, or mark it as interrupted."""
        self._most_deaths = most_deaths
        recovered: list[RunRecord] = []
        for run in self._orphans():
            if mode == "auto":
                if await self._take_up(run):
                    recovered.append(run)
            elif run.state in (RunState.RUNNING, RunState.PENDING):
                await self._mark_interrupted(run, "")
                recovered.append(run)
        if mode == "auto" and self._adopter is None:
            self._adopter = asyncio.create_task(self._adopt(), name="callboard-adopter")
        return recovered

    async def _adopt(self) -> None:
        """Take up, for as long as this process lives, what other processes leave behind."""
        while True:
            await asyncio.sleep(ADOPT_SECONDS)
            try:
                for run in self._orphans(older_than_ms=_FRESH_MS):
                    await self._take_up(run)
            except StoreError as error:
                _log.warning("cannot look for runs that nobody executes: %s", error)

    async def _take_up(self, run: RunRecord) -> bool:
        try:
            if self._database.read(lambda connection: self._is_deadly(connection, run)):
                died = f"its process died {self._most_deaths} times in a row"
                told = f"Run {run.id} was given up: {died} without finishing a step"
                await self._mark_interrupted(run, told)
                return False
            await self._dispatcher.dispatch(run.id)
        except Conflict:
            # Another process that started at the same moment was quicker.
            return False
        except UnknownChoreography as error:
            _log.warning("run %s stays as it is: %s", run.id, error)
            return False
        return True

    def _orphans(self, *, older_than_ms: int = 0) -> list[RunRecord]:
        """Return the open runs nobody executes, oldest first.

        One that was stored a moment ago may be meant for a process that is about to claim it.
        """
        newest = self._backstage.clock.now_ms() - older_than_ms

        def work(connection: Connection) -> list[RunRecord]:
            known = unfinished_owners(connection)
            alive = {owner: self._is_at_work(connection, owner) for _, owner, _ in known}
            lost = [
                run_id
                for run_id, owner, created_at in known
                if not alive[owner] and (owner is not None or created_at <= newest)
                if self._dispatcher.live(run_id) is None
            ]
            return [load_run(connection, run_id) for run_id in lost]

        found = self._database.read(work)
        return [run for run in found if not self._dispatcher.has(run.id)]

    def _is_at_work(self, connection: Connection, owner: str | None) -> bool:
        # What this process owns it executes, or it is an orphan like any other.
        if owner is None or owner == self._ownership.id:
            return False
        return self._ownership.is_alive(connection, owner)

    def _is_deadly(self, connection: Connection, run: RunRecord) -> bool:
        """Say whether a run has killed so many processes that no other is to try it."""
        if run.owner in (None, self._ownership.id) or run.state is not RunState.RUNNING:
            return False
        return deaths_in_vain(connection, run.id) >= self._most_deaths

    def give_up(self, connection: Connection, run: RunRecord, told: str = "") -> None:
        """End a run that nobody executes, within a transaction of the caller."""
        error = RunInterrupted(
            told or f"Run {run.id} was interrupted",
            fix=f"`callboard runs retry {run.id}` goes on from its last finished step.",
        ).record()
        now, me = self._backstage.clock.now_ms(), self._ownership.id
        if claim(connection, run.id, me, run.owner):
            finish(connection, run.id, RunState.FAILED, me, now, error=error)
            body = RunChanged(RunState.FAILED.value, error=error.to_json())
            append_event(connection, body, at=now, session_id=run.session_id, run_id=run.id)

    async def _mark_interrupted(self, run: RunRecord, told: str) -> None:
        await self._database.write(lambda connection: self.give_up(connection, run, told))
        self._backstage.settled(run.id, run.session_id)
