"""The readable copies of a project's database: which disagree with it, and writing them anew.

Refuses to choose: where the database itself is not proven to be what was written, the copy may be
the better one, and nothing is written over it.
"""

import filecmp
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from callboard.choreography.recipe import is_recipe_run
from callboard.choreography.recipe.proposals import folder_of
from callboard.cli.reading import Owners
from callboard.core.clock import SystemClock
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection, StoreError
from callboard.store.database import Database
from callboard.store.faults import NoFaults
from callboard.store.journal.runs import list_runs
from callboard.store.mirror import RunFolder, RunMirror
from callboard.studio.doubts import Doubts
from callboard.studio.project import Project
from callboard.tools import ProjectFiles, ToolRegistry, Verification, sync_mirror, verify

_MIRROR_FILES = ("run.json", "steps.jsonl", "cache.json", "recipe.json")


@dataclass(frozen=True, slots=True)
class Copies:
    """The run folders and receipt files of a project, beside its open database."""

    project: Project
    database: Database
    # Whether every row is known to be what was written.
    is_proven: bool

    def stale_runs(self) -> list[str]:
        """Return the runs whose folder is not what the journal would make of it."""
        owners = Owners(self.database, self.project)
        runs = [run for run in self.database.read(list_runs) if not owners.executes(run)]
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "runs"
            fresh = self._mirror(folder)
            stale: list[str] = []
            for run in runs:
                try:
                    fresh.sync(run.id)
                except StoreError:
                    # Told by its own check; the folder may be the better copy.
                    continue
                made, there = folder / run.id, self.project.runs / run.id
                _, differing, missing = filecmp.cmpfiles(made, there, _MIRROR_FILES, shallow=False)
                if differing or missing:
                    stale.append(run.id)
        return stale

    def write_runs(self, run_ids: list[str]) -> Path | None:
        """Write run folders anew; return where those went that held something, if any did."""
        # What only the mirrors know is journaled before they are written anew.
        executes = Owners(self.database, self.project).executes
        Doubts(self.project, self.database, ToolRegistry(), executes).journal()
        aside = self.project.folder / "backups" / f"folders-{SystemClock().now_ms()}"
        mirror = self._mirror(self.project.runs)
        for run_id in run_ids:
            there = self.project.runs / run_id
            if there.is_dir():
                shutil.copytree(there, aside / run_id, symlinks=True)
            mirror.sync(run_id)
        return aside if aside.exists() else None

    def receipts(self) -> Verification:
        """Compare the receipt files with the receipts."""
        return verify(self.database, self.project.trail)

    def write_receipts(self, found: Verification) -> None:
        """Append to the receipt files what they lack."""
        for session_id in found.sessions:
            sync_mirror(self.database, self.project.audit, session_id)

    def _mirror(self, folder: Path) -> RunMirror:
        files = ProjectFiles(self.project.root, kept=self.project.folder)

        def shape(connection: Connection, run: RunRecord) -> RunFolder | None:
            # Folders of recipes have a shape of their own.
            return folder_of(connection, run, files) if is_recipe_run(run) else None

        return RunMirror(self.database, folder, NoFaults(), shape)
