"""The parsed files of a project: brought up to date with it, file by file.

A file is read again when its time or size changed, and parsed again only when its content did.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.library.story.index.metadata import describe
from callboard.library.story.index.names import NameCounts, count_names
from callboard.library.story.model import StoryFile
from callboard.library.story.text import Document
from callboard.tools import FileMissing, ListedFile, ProjectFiles, Unreadable

SUFFIXES: Final = (".md", ".markdown", ".txt")
# A file this young may change again without its time telling.
_SETTLED_NS: Final = 50_000_000


@dataclass(frozen=True)
class ParsedFile:
    """A file as it was read, and what follows from its content alone."""

    document: Document
    file: StoryFile

    @cached_property
    def names(self) -> NameCounts:
        """The capitalised words of its prose."""
        return count_names(self.document)


@dataclass(frozen=True, slots=True)
class ParsedTexts:
    """All texts of a project at one moment, and why others are not among them."""

    parsed: Mapping[str, ParsedFile]
    problems: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _SeenFile:
    modified_ns: int
    size_bytes: int
    is_settled: bool
    parsed: ParsedFile | None = None
    problem: str | None = None

    def is_as(self, listed: ListedFile) -> bool:
        same = (self.modified_ns, self.size_bytes) == (listed.modified_ns, listed.size_bytes)
        return self.is_settled and same

    def says_the_same_as(self, other: "_SeenFile | None") -> bool:
        return other is not None and (self.parsed, self.problem) == (other.parsed, other.problem)


class ParsedFiles:
    """What was parsed so far; one thread at a time brings it up to date."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self._seen: dict[str, _SeenFile] = {}
        self._texts: ParsedTexts | None = None
        self._largest_bytes = 0

    def refresh(self, files: ProjectFiles, largest_bytes: int) -> ParsedTexts:
        """Return the texts of the project; the same object as long as nothing has changed."""
        with self._lock:
            if largest_bytes != self._largest_bytes:
                self._seen, self._largest_bytes = {}, largest_bytes
            listed = files.list_files(suffixes=SUFFIXES, with_links_out=True)
            seen = {each.path: self._look(files, each) for each in listed}
            is_same = len(seen) == len(self._seen) and all(
                each.says_the_same_as(self._seen.get(path)) for path, each in seen.items()
            )
            self._seen = seen
            if self._texts is None or not is_same:
                self._texts = ParsedTexts(
                    {path: each.parsed for path, each in seen.items() if each.parsed is not None},
                    {path: each.problem for path, each in seen.items() if each.problem is not None},
                )
            return self._texts

    def _look(self, files: ProjectFiles, listed: ListedFile) -> _SeenFile:
        old = self._seen.get(listed.path)
        if old is not None and old.is_as(listed):
            return old
        if listed.leads_out:
            return _SeenFile(0, 0, True, problem="a link that leads out of the project, left out")
        is_settled = time.time_ns() - listed.modified_ns > _SETTLED_NS
        stamp = (listed.modified_ns, listed.size_bytes, is_settled)
        if listed.size_bytes > self._largest_bytes:
            return _SeenFile(*stamp, problem=f"larger than {self._largest_bytes} bytes, left out")
        try:
            text = files.read_text(listed.path)
        except Unreadable:
            return _SeenFile(*stamp, problem="not UTF-8 text, left out")
        except FileMissing:
            return _SeenFile(0, 0, False, problem="gone while it was being read")
        if old is not None and old.parsed is not None and old.parsed.file.sha256 == text.sha256:
            return _SeenFile(*stamp, parsed=old.parsed)
        document = Document(listed.path, text.text)
        return _SeenFile(*stamp, parsed=ParsedFile(document, describe(document, text.sha256)))
