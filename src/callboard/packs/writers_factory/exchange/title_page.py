"""The title page: who wrote the book and how to reach them, its date, language and cover.

All of it is the writer's to say. What nobody has said is left out of a book and named as missing;
nothing is made up. A cover is an image of the project that is what it says it is, or one set in
type by code.
"""

import re
import struct
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from xml.sax.saxutils import escape

from callboard.core.codec import Coded
from callboard.core.errors import InvalidInput
from callboard.library.binding.volume import Cover
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.bible.values import clean_text
from callboard.packs.writers_factory.workspace import Workspace
from callboard.tools import ProjectFiles

MOST_BYTES: Final = 4_000_000
MOST_PIXELS: Final = 10_000
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8\xff"
_WIDTH, _HEIGHT = 1600, 2560
_TITLE_LINE: Final = 14
_AUTHOR_LINE: Final = 26


class CoverRefused(InvalidInput):
    """A file cannot be a cover."""

    code = "cover_refused"


def read_cover(files: ProjectFiles, path: str) -> Cover:
    """Return the image a project holds, told by its bytes and not by its name."""
    size = (files.root / files.resolve(path)).stat().st_size if files.sha256(path) else 0
    data = files.read_bytes(path) if size <= MOST_BYTES else b""
    if not data:
        raise CoverRefused(
            f"{path} has {size} bytes", fix=f"A cover has 1 to {MOST_BYTES} bytes.", path=path
        )
    if data.startswith(_PNG) and data[12:16] == b"IHDR" and len(data) > 24:
        suffix, sides = "png", struct.unpack(">II", data[16:24])
    elif data.startswith(_JPEG) and (found := _jpeg_size(data)) is not None:
        suffix, sides = "jpg", found
    else:
        raise CoverRefused(
            f"{path} is neither a PNG nor a JPEG image", fix="Name an image file.", path=path
        )
    if not all(0 < side <= MOST_PIXELS for side in sides):
        raise CoverRefused(
            f"{path} is {sides[0]} by {sides[1]} pixels",
            fix=f"Sides have 1 to {MOST_PIXELS} pixels; 1600 by 2560 is usual.",
            path=path,
        )
    return Cover(data, suffix)


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height from the frame header; None if there is none."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    return None


def typographic_cover(title: str, author: str) -> Cover:
    """Return a cover of nothing but words."""
    lines = textwrap.wrap(title, _TITLE_LINE)[:7] or [title]
    longest = max(len(line) for line in lines)
    size = min(200, int(2000 / max(longest, 1)))
    first = 900 - size * len(lines) // 2
    parts = [_words(line, first + row * int(size * 1.25), size) for row, line in enumerate(lines)]
    below = textwrap.wrap(author, _AUTHOR_LINE)[:3]
    parts += [_words(line, 2150 + row * 110, 84) for row, line in enumerate(below)]
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}"'
        f' viewBox="0 0 {_WIDTH} {_HEIGHT}"><rect width="100%" height="100%" fill="#f6f2e8"/>'
        '<rect x="80" y="80" width="1440" height="2400" fill="none" stroke="#23303a"'
        f' stroke-width="6"/>{"".join(parts)}</svg>\n'
    )
    return Cover(drawn.encode(), "svg")


def _words(text: str, y: int, size: int) -> str:
    return (
        f'<text x="{_WIDTH // 2}" y="{y}" font-family="Georgia, serif" font-size="{size}"'
        f' text-anchor="middle" fill="#23303a">{escape(text)}</text>'
    )


KIND: Final = "title_page"
RECORD: Final = "title_page"
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_MOST_CHARS: Final = 200
_MOST_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class TitlePage(Coded):
    """What stands on the first page, as far as the writer has said it.

    `surname` heads the pages where it is not the author's last word; `cover` is an image of the
    project, without one the cover is set in type; `cover_text` says what it shows.
    """

    title: str = ""
    author: str = ""
    surname: str = ""
    contact: tuple[str, ...] = ()
    language: str = ""
    date: str = ""
    cover: str = ""
    cover_text: str = ""

    @property
    def running_name(self) -> str:
        """The name that heads every page of a manuscript; empty while the author is unknown."""
        words = self.author.split()
        return self.surname or (words[-1] if words else "")

    @property
    def cover_description(self) -> str:
        """What the cover shows, for whoever does not see it."""
        by = f" by {self.author}" if self.author else ""
        return self.cover_text or f"Cover of {self.title}{by}"

    def missing(self) -> tuple[str, ...]:
        """Return what nobody has said yet, and how to say it."""
        wanted = {"author": self.author, "contact": self.contact, "language": self.language}
        way = "callboard factory title-page"
        return tuple(
            f"{name} is not known and left out; say it with `{way} --{name} TEXT`"
            for name, told in wanted.items()
            if not told
        )


def read_title_page(workspace: Workspace) -> TitlePage:
    """Return what is known of the title page; the title is the book's own."""
    stored = workspace.records.get(KIND, RECORD) or {}
    told = TitlePage.from_json({**stored, "title": ProjectRecord(workspace).read().title})
    return told


async def change_title_page(workspace: Workspace, given: Mapping[str, Any]) -> TitlePage:
    """Change some of it; what is not named stays, and an empty text takes something back."""
    changes = {name: _checked(workspace, name, value) for name, value in given.items()}

    def work(body: dict[str, Any] | None) -> dict[str, Any]:
        known = TitlePage.from_json(body or {})
        return replace(known, **changes, title="").to_json()

    await workspace.records.change(KIND, RECORD, work)
    return read_title_page(workspace)


def _checked(workspace: Workspace, name: str, value: Any) -> Any:
    if name == "contact":
        lines = [_one_line(each) for each in value]
        if len(lines) > _MOST_LINES:
            raise InvalidInput(
                f"{len(lines)} lines of contact are too many", fix=f"Use at most {_MOST_LINES}."
            )
        return tuple(line for line in lines if line)
    told = _one_line(str(value))
    if name == "language" and told and not _LANGUAGE.fullmatch(told):
        raise InvalidInput(f"{told!r} is no code of a language", fix="Use one like en or pt-BR.")
    if name == "date" and told and not _DATE.fullmatch(told):
        raise InvalidInput(f"{told!r} is no date", fix="Write 2026, 2026-11 or 2026-11-18.")
    if name == "cover" and told:
        told = workspace.files.resolve(told)
        read_cover(workspace.files, told)
    return told


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())[:_MOST_CHARS]
