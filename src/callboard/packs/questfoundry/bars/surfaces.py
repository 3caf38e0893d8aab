"""Surfaces: what players read, of the book and of the files built from it, as plain text.

A format that keeps the reader's keys itself is a screen; one that cannot is paper. A source for
other tools is no surface. What cannot be read is said to be not read.
"""

import io
import json
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import Any, Final, Literal, cast
from urllib.parse import unquote

from callboard.packs.questfoundry.book.model import Book

SurfaceKind = Literal["screen", "paper", "source", "unread"]
_KINDS: Final[Mapping[str, SurfaceKind]] = {
    ".html": "screen",
    ".htm": "screen",
    ".md": "paper",
    ".txt": "paper",
    ".epub": "paper",
    ".pdf": "unread",
    ".twee": "source",
    ".tw": "source",
    ".ink": "source",
    ".json": "source",
    ".dot": "source",
    ".typ": "source",
}
_MOST_BYTES: Final = 256 * 1024 * 1024
# Marks that show nothing and could part a word from itself.
_HIDDEN: Final = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_RUN: Final = re.compile(r"\w+(?:-\w+)*")
_BLOCKS: Final = frozenset(
    (
        *("p", "div", "section", "article", "li", "ul", "ol", "br", "tr", "td", "th", "a"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "nav", "header", "footer", "main", "aside"),
        *("button", "option", "figcaption", "title"),
    )
)
_ELSEWHERE: Final = re.compile(r"[a-zA-Z][\w+.-]{0,20}:|//")
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}


@dataclass(frozen=True, slots=True)
class SurfaceText:
    """Something players read, and where it stands."""

    place: str
    text: str
    is_caption: bool = False


@dataclass(frozen=True, slots=True)
class BuiltText:
    """What was read of one built file. `headings` are levels in their order."""

    name: str
    kind: SurfaceKind
    text: str = ""
    ids: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    headings: tuple[int, ...] = ()
    images_without_alt: int = 0


def runs_of(text: str) -> list[str]:
    """Return the words of a text as written, hyphens kept, in lower case."""
    shown = text if text.isascii() else _HIDDEN.sub("", text)
    return _RUN.findall(shown.lower().replace("’", "'"))


def shown(text: str) -> str:
    """Return a text without marks that show nothing."""
    return text if text.isascii() else _HIDDEN.sub("", text)


def surfaces_beside_sections(book: Book) -> Iterator[SurfaceText]:
    """Yield everything players read that stands in no section."""
    yield SurfaceText("title", book.title)
    yield SurfaceText("author", book.author)
    for gateway in book.gateways:
        yield SurfaceText(f"gateway {gateway.id}", f"{gateway.phrase}\n{gateway.refusal}")
    for ending in book.endings:
        yield SurfaceText(f"ending {ending.section}", ending.title)
    for picture in book.pictures:
        told = f"{picture.caption}\n{picture.alt}"
        yield SurfaceText(f"picture {picture.id}", told, is_caption=True)
    for cue in book.cues:
        told = f"{cue.caption}\n{cue.description}\n{cue.safety_note}"
        yield SurfaceText(f"cue {cue.id}", told, is_caption=True)
    for entry in book.codex:
        told = f"{entry.title}\n{entry.overview}\n{entry.usage}\n{entry.context}"
        yield SurfaceText(f"codex {entry.slug}", told)


def read_built(name: str, data: bytes) -> Iterator[BuiltText]:
    """Yield the texts of a built file; an EPUB has several."""
    suffix = PurePosixPath(name).suffix.lower()
    # A page that Twine keeps a story in is read by its author.
    kind = "source" if name.endswith(".twine.html") else _KINDS.get(suffix, "unread")
    if kind == "source":
        yield BuiltText(name, kind)
    elif kind == "unread" or len(data) > _MOST_BYTES:
        yield BuiltText(name, "unread")
    elif suffix == ".epub":
        yield from _epub(name, data)
    elif suffix in (".html", ".htm"):
        yield _told(name, kind, _parsed(data))
    else:
        yield BuiltText(name, kind, data.decode("utf-8", "replace"))


def _epub(name: str, data: bytes) -> Iterator[BuiltText]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(each.file_size for each in archive.infolist()) > _MOST_BYTES:
                yield BuiltText(name, "unread")
                return
            names = archive.namelist()
            pages = {
                each: _parsed(archive.read(each))
                for each in names
                if each.endswith((".xhtml", ".html", ".htm"))
            }
            for each, page in pages.items():
                page.links += _broken(each, page, pages, names)
                yield _told(f"{name}/{each}", "paper", page)
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError):
        # Damaged, encrypted or packed in a way nobody here knows.
        yield BuiltText(name, "unread")


def _broken(
    name: str, page: "_PageText", pages: Mapping[str, "_PageText"], names: list[str]
) -> Iterator[str]:
    """Yield the links to other files of an EPUB that lead nowhere."""
    for link in page.outer:
        path, _, anchor = link.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(path)))
        if target not in names or (anchor and target in pages and anchor not in pages[target].ids):
            yield link


def _parsed(data: bytes) -> "_PageText":
    page = _PageText()
    page.feed(data.decode("utf-8", "replace"))
    page.close()
    return page


def _told(name: str, kind: SurfaceKind, page: "_PageText") -> BuiltText:
    return BuiltText(
        name,
        kind,
        "".join(page.shown),
        tuple(page.ids),
        tuple(page.links),
        tuple(page.headings),
        page.images_without_alt,
    )


class _PageText(HTMLParser):
    """The text of a page as it is shown or read aloud; what stories keep as JSON is shown later."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        # Links to other files; only those that lead somewhere else than the net.
        self.outer: list[str] = []
        self.headings: list[int] = []
        self.images_without_alt = 0
        self._within = ""
        self._is_json = False
        self._script: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attrs}
        if "id" in held:
            self.ids.append(held["id"])
        link = held.get("href", "") if tag == "a" else ""
        if link.startswith("#"):
            self.links.append(link[1:])
        elif link and not _ELSEWHERE.match(link):
            self.outer.append(link)
        if tag in _HEADINGS:
            self.headings.append(_HEADINGS[tag])
        if tag == "img" and "alt" not in held:
            self.images_without_alt += 1
        for name in ("alt", "title", "aria-label", "placeholder"):
            if held.get(name):
                self.shown.append(f"\n{held[name]}\n")
        if tag in ("script", "style"):
            self._within = tag
            self._is_json = "json" in held.get("type", "")
        elif tag in _BLOCKS:
            self.shown.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            if self._is_json:
                self.shown += _prose_in("".join(self._script))
            self._within, self._is_json = "", False
            self._script.clear()
        elif tag in _BLOCKS:
            self.shown.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.shown.append(data)
        elif self._is_json:
            self._script.append(data)


def _prose_in(script: str) -> Iterator[str]:
    """Yield the strings of JSON that read as prose: a name of the machine has no blank in it."""
    try:
        waiting: list[Any] = [json.loads(script)]
    except (ValueError, RecursionError):
        return
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            if " " in each:
                yield f"\n{each}\n"
        elif isinstance(each, list):
            waiting += cast("list[Any]", each)
        elif isinstance(each, dict):
            waiting += cast("dict[str, Any]", each).values()
