"""FolderNotebooks: a folder of Markdown, text and PDF files as a notebook.

Reads only below the folder that was registered, never through a link that leads out of it, and
never what is hidden. Text is data: it is cleaned of control characters and nothing in it is run.
"""

import asyncio
import io
import os
from dataclasses import dataclass
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
from callboard.tools import ProjectFiles

SUFFIXES: Final = (".md", ".markdown", ".txt", ".text", ".pdf")
MAX_FILE_BYTES: Final = 20_000_000
_LEAST_SIMILARITY: Final = 0.45
_MOST_UNREADABLE: Final = 20
_PAGE_MARK: Final = "\f"


@dataclass(frozen=True, slots=True)
class _Reading:
    texts: list[SourceText]
    unreadable: list[str]
    paths: set[str]


class FolderNotebooks:
    """Notebooks that are folders of the writer."""

    def __init__(self, root: Path, library: Library) -> None:
        """Take the project folder and where passages are kept."""
        self._root = root
        self._library = library
        # What a file looked like when it was last read: size and time of change.
        self._seen: dict[tuple[str, str], tuple[int, int]] = {}

    def check(self, path: str, *, is_writers_choice: bool) -> str:
        """Return a folder as it is kept: relative inside the project, absolute where it is not.

        Outside of the project only an absolute path counts, and only if the writer chose it.
        """
        if not path.strip() or "\0" in path:
            raise InvalidInput("A notebook needs a folder", fix="Name the folder of the notebook.")
        given = Path(path).expanduser()
        is_outside = not given.resolve().is_relative_to(self._root.resolve())
        if is_writers_choice and given.is_absolute() and is_outside:
            kept = str(given.resolve())
        else:
            kept = ProjectFiles(self._root).resolve(path)
        if not self._folder(kept).is_dir():
            raise NotFound(
                f"There is no folder {path!r}", fix="Make the folder or name another.", path=path
            )
        return kept

    async def sync(self, notebook: Notebook) -> SyncReport:
        """Read what changed into the library."""
        collection = collection_of(notebook.id)
        known = {each.path: each.sha256 for each in self._library.documents(collection)}
        reading = await asyncio.to_thread(self._read, notebook, set(known))
        put = await self._library.put(collection, reading.texts)
        gone = sorted(set(known) - reading.paths)
        for path in gone:
            await self._library.remove(collection, path)
        untouched = len(reading.paths) - len(reading.texts) - len(reading.unreadable)
        return SyncReport(
            put.added,
            put.updated,
            put.unchanged + max(0, untouched),
            len(gone),
            tuple(reading.unreadable[:_MOST_UNREADABLE]),
        )

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
        return Path(kept) if os.path.isabs(kept) else self._root / kept

    def _read(self, notebook: Notebook, known: set[str]) -> _Reading:
        folder = self._folder(notebook.path)
        if not folder.is_dir():
            raise NotFound(
                f"The folder of the notebook {notebook.id!r} is gone: {notebook.path}",
                fix="Put it back, or register the notebook again.",
                notebook_id=notebook.id,
            )
        files = ProjectFiles(folder, max_read_bytes=MAX_FILE_BYTES)
        texts: list[SourceText] = []
        unreadable: list[str] = []
        paths: set[str] = set()
        for listed in files.list_files(suffixes=SUFFIXES):
            looks = (listed.size_bytes, listed.modified_ns)
            key = (notebook.id, listed.path)
            if listed.path in known and self._seen.get(key) == looks:
                paths.add(listed.path)
                continue
            try:
                text = read_text(listed.path, data := files.read_bytes(listed.path))
            except CallboardError as error:
                unreadable.append(f"{listed.path}: {error}")
                continue
            paths.add(listed.path)
            self._seen[key] = looks
            texts.append(SourceText(listed.path, text, digest_bytes(data)))
        return _Reading(texts, unreadable, paths)


def collection_of(notebook_id: str) -> str:
    """Return where the passages of a notebook are kept."""
    return f"notebook:{notebook_id}"


def read_text(path: str, data: bytes) -> str:
    """Return the text of a file; what is no UTF-8 is read as well as can be."""
    if path.lower().endswith(".pdf"):
        return _clean(_pdf_text(path, data))
    return _clean(data.decode("utf-8-sig", "replace"))


def _clean(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace(_PAGE_MARK, "\n")
    return without_controls(lines)


def _pdf_text(path: str, data: bytes) -> str:
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        return "\n\n".join(page.extract_text() for page in reader.pages)
    except Exception as error:
        raise InvalidInput(
            f"{path} is no PDF that can be read: {error}", fix="Save it again, or as text."
        ) from error


def _scores(passage: Passage) -> bool:
    is_near = passage.similarity is not None and passage.similarity >= _LEAST_SIMILARITY
    return passage.bm25 > 0 or is_near


def _passage(notebook: Notebook, found: Passage) -> NotebookPassage:
    return NotebookPassage(
        notebook.id, found.path, found.line_start, found.line_end, found.text, found.score
    )
