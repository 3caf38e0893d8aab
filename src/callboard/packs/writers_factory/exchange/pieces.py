"""Pieces: a manuscript from outside as headings, paragraphs and breaks, in Markdown.

One-file texts are read here as they are. What a word processor wrote is read by `word_file`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.library.binding.prose_tree import split_notes, without_controls

_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s(.*)")
_BREAK: Final = re.compile(r"\s*(?:#|⁂|~{1,5}|#{3,}|[*•·](?:\s*[*•·]){2,}|-(?:\s*-){2,}|_{3,})\s*")
_PAGE: Final = re.compile(r"\f+|\\(?:page\s?break|newpage|clearpage)", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)\s*")
_ENCODINGS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
MOST_BYTES: Final = 20_000_000


class ImportRefused(InvalidInput):
    """A file cannot be taken in."""

    code = "import_refused"


class PieceKind(StrEnum):
    """What a piece of a manuscript is."""

    TEXT = "text"
    HEADING = "heading"
    BREAK = "break"
    PAGE = "page"
    # What stands on a title page, or closes a manuscript.
    TITLE_PAGE = "title_page"
    END = "end"


@dataclass(frozen=True, slots=True)
class TextPiece:
    """One paragraph, heading or break; `level` is a heading's, `is_item` a line of a list."""

    kind: PieceKind
    text: str = ""
    level: int = 0
    is_item: bool = False


@dataclass(frozen=True, slots=True)
class Outside:
    """A manuscript as it was read: its pieces, its footnotes by name, what was not understood."""

    pieces: tuple[TextPiece, ...]
    notes: dict[str, str] = field(default_factory=dict[str, str])
    problems: tuple[str, ...] = ()


def is_break(text: str) -> bool:
    """Say whether a line is nothing but a mark between scenes."""
    return _BREAK.fullmatch(text) is not None


def read_text(data: bytes, name: str) -> Outside:
    """Read a manuscript that is one Markdown or plain text."""
    encoding = next((told for mark, told in _ENCODINGS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ImportRefused(
            f"{name} is not UTF-8 text: byte {error.start} cannot be read",
            fix="Save it as UTF-8 in your editor, and import it again.",
        ) from None
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n\\newpage\n\n")
    prose, notes = split_notes(without_controls(_below_front_matter(plain)))
    return Outside(tuple(_pieces(prose)), notes)


def _below_front_matter(text: str) -> str:
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return text
    ends = (at for at, line in enumerate(lines[1:200], 1) if line.strip() in ("---", "..."))
    end = next(ends, None)
    is_front = end is not None and any(":" in line for line in lines[1:end])
    return "\n".join(lines[end + 1 :]) if is_front and end is not None else text


def _pieces(text: str) -> Iterator[TextPiece]:
    for block in _blocks(text.split("\n")):
        first = block[0]
        hit = _heading(first)
        if len(block) == 2 and _UNDERLINE.fullmatch(block[1]) and not is_break(first):
            yield TextPiece(PieceKind.HEADING, first.strip(), 1 if "=" in block[1] else 2)
        elif hit is not None and hit[1]:
            yield TextPiece(PieceKind.HEADING, hit[1], hit[0])
        elif len(block) == 1 and _is_page(first):
            yield TextPiece(PieceKind.PAGE)
        elif len(block) == 1 and is_break(first):
            yield TextPiece(PieceKind.BREAK)
        else:
            yield TextPiece(PieceKind.TEXT, "\n".join(block))


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lines that stand together; a heading or a mark stands alone."""
    held: list[str] = []
    for line in lines:
        stands_alone = bool(_heading(line)) or is_break(line) or _is_page(line)
        is_rule = bool(held) and _UNDERLINE.fullmatch(line) is not None
        if line.strip() and (is_rule or not stands_alone):
            held.append(line.rstrip() if not line.endswith("  ") else line)
            continue
        if held:
            yield held
            held = []
        if line.strip():
            yield [line]
    if held:
        yield held


def _heading(line: str) -> tuple[int, str] | None:
    """Return how deep a heading is and what it says, without the signs that may close it."""
    found = _HEADING.fullmatch(line.rstrip())
    if found is None:
        return None
    said = found[2].strip()
    bare = said.rstrip("#")
    return len(found[1]), bare.rstrip() if bare != said and bare[-1:].isspace() else said


def _is_page(line: str) -> bool:
    return _PAGE.fullmatch(line.strip(" \t\r\n")) is not None
