"""Consolidator: the door to consolidation for everybody else. The work is a run.

While a server runs, a clock asks for it every so many minutes.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from callboard.core.canonical import Json, canonical_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import RunRecord
from callboard.knowledge.graph import MergeReport
from callboard.library.story.contradiction import read_rules
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory.consolidation.merging import REPORT, Report
from callboard.packs.writers_factory.memory.consolidation.resolving import (
    WRITER,
    Resolver,
    Verdict,
)
from callboard.packs.writers_factory.memory.consolidation.running import (
    CONSOLIDATE,
    DOMAIN,
    AlreadyRunning,
)
from callboard.packs.writers_factory.memory.consolidation.turns import open_scenes, open_turns
from callboard.packs.writers_factory.memory.ingestion import Ingestor
from callboard.packs.writers_factory.memory.ledger import ConflictLedger, ConflictRecord
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.files import locked_folder, write_atomically

EXPORTS: Final = "knowledge"
GRAPH_FILE: Final = "knowledge_graph.json"
CONFLICTS_FILE: Final = "graph_conflicts.json"


class Consolidator:
    """Soft facts become hard ones, and contradictions wait for the writer."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace
        self._ledger = ConflictLedger(workspace.records)

    @property
    def interval_minutes(self) -> float:
        """How often it runs by itself; 0 is never."""
        return self._workspace.settings.consolidation.interval_minutes

    async def start(
        self, *, conversations: bool = True, session_id: str | None = None
    ) -> RunRecord:
        """Start a consolidation; a second one at the same time is refused."""
        return await self._workspace.studio.start(
            CONSOLIDATE, {"conversations": conversations}, session_id=session_id
        )

    async def ingest(self, bible: Bible | None = None) -> MergeReport:
        """Bring the Story Bible into the graph; the same files change nothing twice."""
        return await Ingestor(self._workspace, bible).ingest()

    def has_work(self) -> bool:
        """Say whether anything waits to be consolidated."""
        studio = self._workspace.studio
        if studio.knowledge.facts(DOMAIN).unpromoted(1):
            return True
        records = self._workspace.records
        return studio.database.read(
            lambda connection: bool(
                open_turns(connection, limit=1) or open_scenes(connection, records)
            )
        )

    def conflicts(self, *, only_open: bool = True) -> tuple[ConflictRecord, ...]:
        """Return what contradicts what, oldest first."""
        return self._ledger.all(only_open=only_open)

    def conflict(self, conflict_id: str) -> ConflictRecord:
        """Return one conflict."""
        return self._ledger.get(conflict_id)

    async def resolve(
        self, conflict_id: str, decision: str, scope: Json = None, *, by: str = WRITER
    ) -> ConflictRecord:
        """Decide a conflict: keep_existing, accept_new, or both_with_scope for some scenes."""
        studio = self._workspace.studio
        resolver = Resolver(
            studio.database,
            self._workspace.records,
            studio.knowledge.graph(DOMAIN),
            studio.knowledge.facts(DOMAIN),
        )
        rules = read_rules(studio.project.folder)
        verdict = Verdict.read(decision, scope, by)
        return await resolver.resolve(conflict_id, verdict, rules, studio.clock.now_ms)

    def reports(self) -> dict[str, Report]:
        """Return the reports of all consolidations by run, oldest first."""
        found = self._workspace.records.all(REPORT)
        return {run_id: Report.from_json(body) for run_id, body in found.items()}

    def export(self, folder: Path | None = None) -> tuple[Path, Path]:
        """Write graph and conflicts as JSON; nothing reads them back."""
        # Callboard's own folder may hold no links; one the user names may be reached as they like.
        within = self._workspace.studio.project.folder if folder is None else None
        target = folder or self._workspace.studio.project.folder / EXPORTS
        graph = self._workspace.studio.knowledge.graph(DOMAIN)
        conflicts = [each.to_json() for each in self.conflicts(only_open=False)]
        with locked_folder(target, within=within):
            paths = target / GRAPH_FILE, target / CONFLICTS_FILE
            for path, body in zip(paths, (graph.export(), conflicts), strict=True):
                text = f"{canonical_json(body)}\n"
                write_atomically(path, text.encode(), within=within)
        return paths


_log = logging.getLogger(__name__)
Pause = Callable[[float], Awaitable[None]]


class ConsolidationClock:
    """A loop that starts a consolidation whenever something waits for one."""

    def __init__(self, consolidator: Consolidator, *, pause: Pause = asyncio.sleep) -> None:
        """Take what consolidates and how time passes."""
        self._consolidator = consolidator
        self._pause = pause
        self._task: asyncio.Task[None] | None = None

    @property
    def is_ticking(self) -> bool:
        """Whether the loop is running."""
        return self._task is not None and not self._task.done()

    def start(self) -> bool:
        """Begin, unless the settings say never; return whether the loop runs."""
        if self._consolidator.interval_minutes <= 0:
            return False
        if not self.is_ticking:
            self._task = asyncio.create_task(self._tick(), name="consolidation clock")
        return True

    async def stop(self) -> None:
        """End the loop; a consolidation that was started goes on for itself."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _tick(self) -> None:
        # The settings are read anew each time, so a change or a 0 takes effect without a restart.
        while (minutes := self._consolidator.interval_minutes) > 0:
            await self._pause(minutes * 60)
            try:
                if self._consolidator.has_work():
                    await self._consolidator.start()
            except AlreadyRunning:
                continue
            except CallboardError as error:
                _log.warning("the scheduled consolidation did not start: %s", error)
