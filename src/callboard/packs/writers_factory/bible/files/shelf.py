"""The four files on disk: found, read anew when they changed, written with the old version kept."""

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.core.errors import CallboardError
from callboard.packs.writers_factory.bible.files.documents import (
    BibleFileProblem,
    Document,
    read_document,
    write_document,
)
from callboard.packs.writers_factory.bible.project import ProjectFacts
from callboard.packs.writers_factory.bible.shapes import CHARACTERS, SHAPES, character_path
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.files import locked_folder
from callboard.store.reading import FileRefused, open_bounded

_LOCK_FOLDER: Final = "local/bible"
_MOST_CHARACTERS: Final = 200
_MARK: Final = b"template: protagonist"
_HEAD_BYTES: Final = 200
_TICK_NS: Final = 100_000_000

# Changed, modified, size, inode.
_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _SeenDocument:
    document: Document
    stamp: _Stamp
    # Whether another change would have shown in the stamp.
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a file; `version` is where the text it replaced is kept."""

    document: Document
    changed: bool
    version: str | None = None


class BibleShelf:
    """Reads and writes template files; what has not changed is not read twice."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace
        self._root = str(workspace.files.root)
        # Per template, what its file said and by which mark it is known again.
        self._seen: dict[tuple[TemplateName, str], _SeenDocument] = {}

    def locate(self, name: TemplateName, facts: ProjectFacts) -> str:
        """Return where a template's file lies, or will lie."""
        if name is not TemplateName.PROTAGONIST:
            return SHAPES[name].path
        expected = character_path(facts.protagonist_name)
        for path in (facts.protagonist_file, expected):
            if path and self._exists(path):
                return path
        return self._marked_protagonist() or facts.protagonist_file or expected

    def read(self, name: TemplateName, path: str) -> Document:
        """Return a template's file as it is now; a missing one is empty."""
        stamp = self._stamp(path)
        if stamp is None:
            return Document(name, path)
        seen = self._seen.get((name, path))
        if seen is not None and seen.is_settled and seen.stamp == stamp:
            return seen.document
        try:
            data = self._workspace.files.read_bytes(path)
        except (CallboardError, OSError) as error:
            told = error.message if isinstance(error, CallboardError) else str(error)
            return Document(name, path, problems=(BibleFileProblem(path, told),))
        # Two changes within one tick of the disk's clock look alike: a young file is read again.
        is_settled = self._workspace.studio.clock.now_ms() * 1_000_000 - stamp[0] > _TICK_NS
        is_same = seen is not None and seen.document.sha256 == digest_bytes(data)
        document = seen.document if seen and is_same else read_document(name, path, data)
        self._seen[name, path] = _SeenDocument(document, stamp, is_settled)
        return document

    def modified_ms(self, path: str) -> int | None:
        """Return when a file was last changed."""
        stamp = self._stamp(path)
        return None if stamp is None else stamp[1] // 1_000_000

    def save(self, before: Document, after: Document) -> Saved:
        """Write a template over what was read; refuse if somebody changed it meanwhile."""
        text = write_document(after)
        written = self._workspace.files.write_text(after.path, text, expected_sha256=before.sha256)
        return Saved(replace(after, sha256=written.sha256), True, written.backup)

    def move(self, old: str, new: str) -> None:
        """Give a file another name, unless one of that name is there."""
        self._workspace.files.move(old, new)

    def held(self) -> AbstractContextManager[None]:
        """Hold the files against everybody else who writes them."""
        kept = self._workspace.studio.project.folder
        return locked_folder(kept / _LOCK_FOLDER, within=kept)

    def _marked_protagonist(self) -> str | None:
        """Return the one character file that says it is the protagonist's."""
        try:
            names = sorted(os.listdir(self._path(CHARACTERS)))[:_MOST_CHARACTERS]
        except OSError:
            return None
        files = [f"{CHARACTERS}/{each}" for each in names if each.endswith(".md")]
        marked = [path for path in files if self._is_marked(path)]
        return marked[0] if len(marked) == 1 else None

    def _is_marked(self, path: str) -> bool:
        try:
            opened = open_bounded(self._path(path), within=Path(self._root))
        except (OSError, FileRefused):
            return False
        with os.fdopen(opened, "rb") as stream:
            return _MARK in stream.read(_HEAD_BYTES)

    def _exists(self, path: str) -> bool:
        return os.path.lexists(os.path.join(self._root, path))

    def _stamp(self, path: str) -> _Stamp | None:
        try:
            told = os.lstat(os.path.join(self._root, path))
        except OSError:
            return None
        return told.st_ctime_ns, told.st_mtime_ns, told.st_size, told.st_ino

    def _path(self, path: str) -> Path:
        return self._workspace.files.root / path
