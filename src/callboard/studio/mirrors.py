"""Mirrors: readable copies written after the commit, off the event loop, never in its way."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from callboard.core.errors import CallboardError
from callboard.prompts import ResponseMirror
from callboard.store.database import Database
from callboard.store.faults import FaultPoints
from callboard.store.mirror import RunMirror
from callboard.studio.issues import Issues
from callboard.tools import sync_mirror

_log = logging.getLogger(__name__)

Mirror = Callable[[str, str], None]


class Mirrors:
    """Collects runs that changed and brings their mirrors up to date, one thread at a time."""

    def __init__(self, mirror: Mirror | None) -> None:
        """Take what writes the copies of a run; None if a project keeps none."""
        self._mirror = mirror or _nothing
        # Run id to session id; filled by the event loop, emptied by the task that writes.
        self._changed: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None

    def touch(self, run_id: str, session_id: str) -> None:
        """Note that a run changed; soon afterwards its mirrors are written."""
        self._changed[run_id] = session_id
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._write())

    async def flush(self) -> None:
        """Write what is left and return when it is on disk."""
        while self._changed or (self._task is not None and not self._task.done()):
            if self._task is None or self._task.done():
                self._task = asyncio.ensure_future(self._write())
            await self._task

    async def _write(self) -> None:
        # A turn of the loop gathers the runs that changed together.
        await asyncio.sleep(0)
        while self._changed:
            changed, self._changed = self._changed, {}
            await asyncio.to_thread(self._sync, changed)

    def _sync(self, changed: dict[str, str]) -> None:
        for run_id, session_id in changed.items():
            try:
                self._mirror(run_id, session_id)
            except (OSError, CallboardError) as error:
                # A mirror is a copy: failing to write it must not fail the run.
                _log.warning("the mirror of run %s was not written: %s", run_id, error)
            except Exception:  # noqa: BLE001 - the border to packs, which shape folders
                # One folder that cannot be shaped must not cost the others theirs.
                _log.warning("the mirror of run %s was not written", run_id, exc_info=True)


def _nothing(_run_id: str, _session_id: str) -> None:
    """Write no copy."""


def mirror_writer(
    database: Database, audit: Path, issues: Issues, run_mirror: RunMirror, faults: FaultPoints
) -> Mirror:
    """Return what writes the copies a run has in its project."""
    response_mirror = ResponseMirror(database, audit)

    def write(run_id: str, session_id: str) -> None:
        def pointed_to() -> None:
            sync_mirror(database, audit, session_id, faults)
            response_mirror.sync(session_id)
            issues.sync_mirror()

        try:
            run_mirror.sync(run_id, first=pointed_to)
        except Exception:
            # A folder that cannot be shaped or written must not cost what it points to its copy.
            pointed_to()
            raise

    return write
