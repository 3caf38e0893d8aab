"""FolderNotebooks: a folder of Markdown, text and PDF files as a notebook.

Reads only below the folder that was registered, never through a link that leads out of it, never
what is hidden, and of every file no more than a book's worth. Text is data: it is cleaned of
control characters and nothing in it is run.
"""

import asyncio
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from callboard.core.canonical import digest_bytes
from callboard.core.errors import CallboardError, InvalidInput, NotFound
from callboard.knowledge.library import Library, Passage, SourceText
from callboard.packs.writers_factory.memory.decisions import without_controls
from callboard.packs.writers_factory.memory.notebooks.provider import (
    Notebook,
    NotebookPassage,
    SyncReport,
)
from callboard.tools import ListedFile, ProjectFiles

SUFFIXES: Final = (".md", ".markdown", ".txt", ".text", ".pdf")
MAX_FILE_BYTES: Final = 20_000_000
MAX_PDF_CHARS: Final = 5_000_000
_LEAST_SIMILARITY: Final = 0.45
_MOST_UNREADABLE: Final = 20
_BATCH_BYTES: Final = 32_000_000
_PAGE_MARK: Final = "\f"
_HEAD_BYTES: Final = 65_536
_MOST_ODD: Final = 0.2


@dataclass(frozen=True, slots=True)
class _SeenFile:
    """What a file looked like when it was last read, and what was wrong with it if anything was."""

    size_bytes: int
    modified_ns: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _FolderReading:
    """Some files as they were read; `seen` holds good once the texts are stored."""

    texts: list[SourceText]
    unreadable: list[str]
    untouched: set[str]
    seen: dict[tuple[str, str], _SeenFile]


class FolderNotebooks:
    """Notebooks that are folders of the writer."""

    def __init__(self, root: Path, library: Library) -> None:
        """Take the project folder and where passages are kept."""
        self._root = root
        self._library = library
        self._seen: dict[tuple[str, str], _SeenFile] = {}

    def check(self, path: str, *, is_writers_choice: bool) -> str:
        """Return a folder as it is kept: relative inside the project, absolute where it is not.

        Outside of the project only an absolute path counts, and only if the writer chose it.
        """
        if not path.strip() or not _can_be_a_path(path):
            raise InvalidInput("A notebook needs a folder", fix="Name the folder of the notebook.")
        given = os.path.realpath(os.path.expanduser(path))
        is_absolute = os.path.isabs(os.path.expanduser(path))
        is_outside = not Path(given).is_relative_to(os.path.realpath(self._root))
        if is_writers_choice and is_absolute and is_outside:
            kept = given
        else:
            kept = ProjectFiles(self._root).resolve(path)
        if not os.path.isdir(self._folder(kept)):
            raise NotFound(
                f"There is no folder {path!r}", fix="Make the folder or name another.", path=path
            )
        return kept

    async def sync(self, notebook: Notebook) -> SyncReport:
        """Read what changed into the library."""
        collection = collection_of(notebook.id)
        known = {each.path for each in self._library.documents(collection)}
        files = self._files(notebook)
        listed = await asyncio.to_thread(files.list_files, suffixes=SUFFIXES)
        report, kept = SyncReport(), set[str]()
        for batch in in_batches(listed):
            reading = await asyncio.to_thread(self._read, notebook.id, files, batch, known)
            put = await self._library.put(collection, reading.texts)
            self._seen.update(reading.seen)
            kept |= reading.untouched | {each.path for each in reading.texts}
            report = replace(
                report,
                added=report.added + put.added,
                updated=report.updated + put.updated,
                unchanged=report.unchanged + put.unchanged + len(reading.untouched),
                unreadable=(*report.unreadable, *reading.unreadable)[:_MOST_UNREADABLE],
            )
        gone = sorted(known - kept)
        for path in gone:
            await self._library.remove(collection, path)
        return replace(report, removed=len(gone))

    async def query(self, notebook: Notebook, question: str, k: int) -> list[NotebookPassage]:
        """Return the passages that share words or meaning with a question."""
        await self.sync(notebook)
        asked = without_controls(question).strip()
        if not asked:
            return []
        found = await asyncio.to_thread(self._library.search, collection_of(notebook.id), asked, k)
        return [_passage(notebook, each) for each in found if _scores(each)]

    async def forget(self, notebook: Notebook) -> None:
        """Drop the passages; the files stay."""
        await self._library.remove(collection_of(notebook.id))
        self._seen = {key: seen for key, seen in self._seen.items() if key[0] != notebook.id}

    def _folder(self, kept: str) -> Path:
        if os.path.isabs(kept):
            return Path(kept)
        # Looked at anew each time: what was a folder of the project may be a link out of it now.
        return self._root / ProjectFiles(self._root).resolve(kept)

    def _files(self, notebook: Notebook) -> ProjectFiles:
        folder = self._folder(notebook.path)
        if not os.path.isdir(folder):
            raise NotFound(
                f"The folder of the notebook {notebook.id!r} is gone: {notebook.path}",
                fix="Put it back, or register the notebook again.",
                notebook_id=notebook.id,
            )
        return ProjectFiles(folder, max_read_bytes=MAX_FILE_BYTES)

    def _read(
        self, notebook_id: str, files: ProjectFiles, batch: Iterable[ListedFile], known: set[str]
    ) -> _FolderReading:
        reading = _FolderReading([], [], set(), {})
        for listed in batch:
            path, key = listed.path, (notebook_id, listed.path)
            now, seen = _SeenFile(listed.size_bytes, listed.modified_ns), self._seen.get(key)
            if seen is not None and seen.problem and replace(seen, problem="") == now:
                reading.unreadable.append(seen.problem)
            elif seen == now and path in known:
                reading.untouched.add(path)
            else:
                reading.seen[key] = replace(now, problem=_take(files, path, reading))
        return reading


def _take(files: ProjectFiles, path: str, reading: _FolderReading) -> str:
    """Add a file to what is read; return what is wrong with it, if anything is."""
    try:
        text = read_text(path, data := files.read_bytes(path))
    except CallboardError as error:
        reading.unreadable.append(f"{path}: {error}")
        return reading.unreadable[-1]
    reading.texts.append(SourceText(path, text, digest_bytes(data)))
    return ""


def in_batches(
    listed: Iterable[ListedFile], *, most_bytes: int = _BATCH_BYTES
) -> Iterator[list[ListedFile]]:
    """Put files together as far as they may be held in memory at once."""
    batch: list[ListedFile] = []
    size = 0
    for each in listed:
        if batch and size + each.size_bytes > most_bytes:
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += each.size_bytes
    if batch:
        yield batch


def _can_be_a_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def collection_of(notebook_id: str) -> str:
    """Return where the passages of a notebook are kept."""
    return f"notebook:{notebook_id}"


def read_text(path: str, data: bytes) -> str:
    """Return the text of a file, read as well as can be; what is clearly none is refused."""
    if path.lower().endswith(".pdf"):
        return _clean(_pdf_text(path, data))
    if not _looks_like_text(data[:_HEAD_BYTES]):
        raise InvalidInput(f"{path} is no UTF-8 text", fix="Save it as UTF-8, or rename it.")
    return _clean(data.decode("utf-8-sig", "replace"))


def _looks_like_text(head: bytes) -> bool:
    """Say whether nearly everything can be read; one odd byte makes no picture of a text."""
    decoded = head.decode("utf-8-sig", "replace").replace("\ufffd", "\0")
    return len(decoded) - len(_clean(decoded)) <= len(decoded) * _MOST_ODD


def _clean(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace(_PAGE_MARK, "\n")
    return without_controls(lines)


def _pdf_text(path: str, data: bytes) -> str:
    import pypdf

    pages: list[str] = []
    room = MAX_PDF_CHARS
    try:
        for page in pypdf.PdfReader(io.BytesIO(data)).pages:
            pages.append(page.extract_text())
            room -= len(pages[-1])
            if room < 0:
                break
    except Exception as error:
        raise InvalidInput(
            f"{path} is no PDF that can be read: {error}", fix="Save it again, or as text."
        ) from error
    if room < 0:
        # A small file can unpack to any amount of text.
        raise InvalidInput(
            f"{path} holds more than {MAX_PDF_CHARS} characters", fix="Split the file."
        )
    return "\n\n".join(pages)


def _scores(passage: Passage) -> bool:
    is_near = passage.similarity is not None and passage.similarity >= _LEAST_SIMILARITY
    return passage.bm25 > 0 or is_near


def _passage(notebook: Notebook, found: Passage) -> NotebookPassage:
    return NotebookPassage(
        found.path, found.line_start, found.line_end, found.text, notebook.id, found.score
    )
