"""The folder of a recipe's run: what the mirror writes, with proposals and backups beside it."""

import logging

from callboard.choreography.recipe.view import RunView
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.mirror import RunFolder
from callboard.store.reading import FileRefused
from callboard.tools import ProjectFiles

_log = logging.getLogger(__name__)


def folder_of(connection: Connection, run: RunRecord, files: ProjectFiles | None) -> RunFolder:
    """Return what the folder of a run holds; backups are copied from the project's own."""
    view = RunView(connection, run)
    return RunFolder(
        run=view.to_json(),
        steps=tuple(view.lines()),
        cache=view.cache(),
        recipe=view.assignment.recipe.to_json(),
        files=_files(view, files),
    )


def _files(view: RunView, project: ProjectFiles | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for commit in view.commits:
        path = commit.get("path")
        if commit.get("mode") == "propose":
            files[f"proposed/{path}"] = str(commit["text"]).encode("utf-8", "replace")
            files[f"proposed/{path}.diff"] = str(commit["diff"]).encode("utf-8", "replace")
        backup = commit.get("backup")
        if backup and project is not None and (held := _backup(project, str(backup))) is not None:
            files[f"backup/{path}"] = held
    return files


def _backup(project: ProjectFiles, backup: str) -> bytes | None:
    try:
        return project.read_backup(backup)
    except FileRefused as refused:
        # The copy of a copy: the run's folder is of use without it.
        _log.warning("a backup was not copied into the folder of its run: %s", refused)
        return None
