"""The folder of a recipe's run: what the mirror writes, with proposals and backups beside it."""

from pathlib import Path

from callboard.choreography.recipe.view import RunView
from callboard.core.vocabulary import RunRecord
from callboard.store.connection import Connection
from callboard.store.mirror import RunFolder


def folder_of(connection: Connection, run: RunRecord, root: Path | None) -> RunFolder:
    """Return what the folder of a run holds; backups are copied from the project's own."""
    view = RunView(connection, run)
    return RunFolder(
        run=view.to_json(),
        steps=tuple(view.lines()),
        cache=view.cache(),
        recipe=view.assignment.recipe.to_json(),
        files=_files(view, root),
    )


def _files(view: RunView, root: Path | None) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for commit in view.commits:
        path = commit.get("path")
        if commit.get("mode") == "propose":
            files[f"proposed/{path}"] = str(commit["text"]).encode("utf-8", "replace")
            files[f"proposed/{path}.diff"] = str(commit["diff"]).encode("utf-8", "replace")
        backup = commit.get("backup")
        if backup and root is not None and (root / str(backup)).is_file():
            files[f"backup/{path}"] = (root / str(backup)).read_bytes()
    return files
