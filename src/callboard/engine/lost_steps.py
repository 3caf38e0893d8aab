"""Lost steps: what the ledger says a run has done, and its journal does not hold.

Asked only when a run that is gone on with comes to an effect its journal knows nothing of, and then
once for all such runs. Says what is lost; what is done about it is not decided here.
"""

import asyncio
import logging

from callboard.core.vocabulary.run import RunRecord
from callboard.engine.errors import JournalUnavailable
from callboard.store.connection import Connection, StoreError
from callboard.store.database import Database
from callboard.store.journal.runs import load_run

_log = logging.getLogger(__name__)

_Lost = frozenset[str] | None
"""The keys a run has lost; None if the ledger is not whole, so that it may be any."""


class LostSteps:
    """Compares the journals of the runs in this process's hands with the ledger."""

    def __init__(self, database: Database) -> None:
        """Take the database whose ledger is asked."""
        self._database = database
        # Runs that nothing was looked up for yet.
        self._waiting: dict[str, RunRecord] = {}
        self._found: dict[str, _Lost] = {}
        self._asking = asyncio.Lock()

    def expect(self, run: RunRecord) -> None:
        """Note that a run is gone on with, and may ask."""
        self._found.pop(run.id, None)
        self._waiting[run.id] = run

    def dismiss(self, run_id: str) -> None:
        """Forget a run that is no longer in this process's hands."""
        self._waiting.pop(run_id, None)
        self._found.pop(run_id, None)

    async def include(self, run_id: str, key: str) -> bool:
        """Say whether a step that a run's journal does not hold may have been begun before."""
        async with self._asking:
            if run_id in self._waiting:
                await self._look_up(tuple(self._waiting.values()))
        # What is new in this process has lost nothing.
        lost = self._found.get(run_id, frozenset())
        if lost is not None and key not in lost:
            return False
        why = "is altered" if lost is None else "knows of it"
        _log.warning(
            "the journal of run %s does not hold step %r, and the ledger %s: it is looked into"
            " before it is done; `callboard doctor` names what is missing.",
            run_id,
            key,
            why,
        )
        return True

    async def _look_up(self, runs: tuple[RunRecord, ...]) -> None:
        reading = asyncio.ensure_future(asyncio.to_thread(self._compare, runs))
        try:
            found = await asyncio.shield(reading)
        except StoreError as error:
            raise JournalUnavailable(error) from error
        except asyncio.CancelledError:
            # Whoever cancels may close the database next: nobody may be reading it then.
            await asyncio.wait({reading})
            reading.exception()
            raise
        for run_id, lost in found.items():
            if self._waiting.pop(run_id, None) is not None:
                self._found[run_id] = lost

    def _compare(self, runs: tuple[RunRecord, ...]) -> dict[str, _Lost]:
        def lineages(connection: Connection) -> dict[str, set[str]]:
            return {run.id: _lineage(connection, run) for run in runs}

        lines = self._database.read(lineages)
        missing = self._database.missing("steps", set[str]().union(*lines.values()))
        if not missing.is_whole:
            return dict.fromkeys(lines)
        return {
            run_id: frozenset(str(key) for owner, key in missing.keys if owner in line)
            for run_id, line in lines.items()
        }


def _lineage(connection: Connection, run: RunRecord) -> set[str]:
    """Return the ids of a run and of those whose journals it shares."""
    line = {run.id}
    while run.parent_id is not None and run.parent_id not in line:
        line.add(run.parent_id)
        run = load_run(connection, run.parent_id)
    return line
