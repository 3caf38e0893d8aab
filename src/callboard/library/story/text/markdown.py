"""Markdown: what a file is made of, by line, and a paragraph as it reads, without marks.

Indented text is prose here and a line of dashes is a break, never an underline: authors indent
paragraphs and separate scenes far more often than they write code.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


# A list does not begin at 1914: that is a sentence which opens with a year.
_LARGEST_LIST_NUMBER: Final = 999
_COMMENTS: Final = (("<!--", "-->"), ("%%", "%%"))
_NOT_LINE_END: Final = re.compile(r"[^\n]")
_FENCE: Final = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})\s*$")
_NUMBER: Final = re.compile(r"^[\s>]*(\d{1,9})[.)]")
_EMPHASIS: Final = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|`+")
_MARKS: Final = re.compile(
    r"(?P<wrap>[ \t]*\\?\n[ \t]*(?:>[ \t]?)*|[ \t]{2,})"
    r"|!?\[\[(?:[^\]|\n]{1,80}\|)?(?P<wiki>[^\]|\n]{1,120})\]\]"
    r"|!?\[(?P<link>[^\[\]\n]{1,200})\]\([^()\n]{0,500}\)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<gone>\*+|~~|`+|(?<![\w])_+(?=\S)|(?<=\S)_+(?!\w)|\[\^[^\]\n]{1,40}\]"
    r"|</?[a-zA-Z][^<>\n]{0,80}>)"
)
_WIDE_SPACE: Final = re.compile("[\u00a0\u2002\u2003\u2009\u200a\u202f\u3000]")
_NEEDS_CLEANING: Final = re.compile(r"[\n*_\[\\<`~\t]|  ")
_LEADING: Final = re.compile(r"[ \t]*(?:(?:>|[-*+]|\d{1,3}[.)])[ \t]+|>)*(?:\[[ xX]\][ \t]+)?")
_INDENT: Final = re.compile(r"\s*(?:>\s?)*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, without its marks."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class ListItem:
    """The first line of a list item: how deep it stands, and its number if it has one."""

    text: str
    depth: int
    number: int | None
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row of a table; `header` is the row the table opens with."""

    cells: tuple[str, ...]
    header: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph by its lines; what it says is the document's to know."""

    line_start: int
    line_end: int
    list_depth: int = 0
    is_quoted: bool = False


@dataclass(slots=True)
class Blocks:
    """Everything found in one file, in order."""

    headings: list[Heading] = field(default_factory=list[Heading])
    paragraphs: list[Paragraph] = field(default_factory=list[Paragraph])
    items: list[ListItem] = field(default_factory=list[ListItem])
    rows: list[TableRow] = field(default_factory=list[TableRow])
    breaks: list[int] = field(default_factory=list[int])


def mask_comments(text: str) -> str:
    """Blank out comments and keep every offset and line."""
    for opening, closing in _COMMENTS:
        parts: list[str] = []
        at = 0
        while (start := text.find(opening, at)) >= 0:
            end = text.find(closing, start + len(opening))
            if end < 0:
                break
            end += len(closing)
            parts += [text[at:start], _NOT_LINE_END.sub(" ", text[start:end])]
            at = end
        text = "".join([*parts, text[at:]])
    return text


def find_blocks(text: str, lines: Sequence[str]) -> Blocks:
    """Take a text apart; `lines` are its lines, both with front matter and comments blanked."""
    tokens = _parser().parse(text)
    stray = _open_fence(tokens, lines)
    if stray is not None:
        # A fence nobody closes is a scene break written with tildes, not code to the end.
        rest = [*lines]
        rest[stray] = "***"
        return find_blocks("\n".join(rest), rest)
    return _BlockReader(lines).read(tokens)


def plain_text(text: str) -> str:
    """Return a short text without emphasis marks and with single spaces."""
    return " ".join(_EMPHASIS.sub("", text).split())


class _BlockReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._blocks = Blocks()
        self._lists: list[bool] = []
        self._quotes = 0
        self._header: tuple[str, ...] = ()
        self._item: tuple[int, int] | None = None

    def read(self, tokens: "Sequence[Token]") -> Blocks:
        for at, token in enumerate(tokens):
            match token.type:
                case "heading_open":
                    self._heading(token, tokens[at + 1])
                case "paragraph_open":
                    self._paragraph(token, tokens[at + 1])
                case "hr":
                    self._blocks.breaks.append(_span(token)[0] + 1)
                case "tr_open":
                    self._row(tokens, at)
                case _:
                    self._nest(token)
        return self._blocks

    def _nest(self, token: "Token") -> None:
        match token.type:
            case "bullet_list_open":
                self._lists.append(False)
            case "ordered_list_open":
                self._lists.append(True)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "list_item_open":
                self._item = _span(token)
            case "table_open":
                self._header = ()
            case _:
                pass

    def _heading(self, token: "Token", inline: "Token") -> None:
        text = plain_text(inline.content)
        if text:
            level = int(token.tag[1:])
            self._blocks.headings.append(Heading(level, text, _span(token)[0] + 1))
        else:
            # A lone `#` between paragraphs is how manuscripts mark a break.
            self._blocks.breaks.append(_span(token)[0] + 1)

    def _paragraph(self, token: "Token", inline: "Token") -> None:
        first, end = _span(token)
        depth = len(self._lists)
        number = self._number(first)
        if depth and number is not None and number > _LARGEST_LIST_NUMBER:
            depth = 0
        self._blocks.paragraphs.append(Paragraph(first + 1, end, depth, self._quotes > 0))
        if depth and self._item is not None and self._item[0] == first:
            text = plain_text(inline.content)
            self._blocks.items.append(ListItem(text, depth, number, first + 1, end))
            self._item = None

    def _number(self, line: int) -> int | None:
        if not (self._lists and self._lists[-1]):
            return None
        hit = _NUMBER.match(self._lines[line])
        return int(hit[1]) if hit else None

    def _row(self, tokens: "Sequence[Token]", at: int) -> None:
        cells: list[str] = []
        last = at + 1
        while tokens[last].type != "tr_close":
            if tokens[last].type == "inline":
                cells.append(plain_text(tokens[last].content))
            last += 1
        line = _span(tokens[at])[0] + 1
        if not self._header:
            self._header = tuple(cells)
            return
        self._blocks.rows.append(TableRow(tuple(cells), self._header, line))


def _span(token: "Token") -> tuple[int, int]:
    first, end = token.map or (0, 0)
    return first, end


def _open_fence(tokens: "Sequence[Token]", lines: Sequence[str]) -> int | None:
    for token in tokens:
        if token.type == "fence":
            first, end = _span(token)
            closed = end - first > 1 and _FENCE.match(lines[min(end, len(lines)) - 1])
            if not closed:
                return first
    return None


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.disable(["code", "lheading", "reference"])
    # What stands inside a paragraph is read here, with its offsets, or not at all.
    parser.core.ruler.enableOnly(["block"])
    return parser


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text as it reads; `shifts` say by how much what follows a position was moved."""

    text: str
    start: int
    positions: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def raw(self, position: int) -> int:
        """Return where a character of the clean text stands in the document."""
        if not self.positions:
            return self.start + position
        at = bisect_right(self.positions, position) - 1
        return self.start + position + (self.shifts[at] if at >= 0 else 0)

    def raw_end(self, position: int) -> int:
        """Return where a stretch that ends before this position ends in the document."""
        return self.raw(position - 1) + 1 if position else self.start


@dataclass(slots=True)
class _BlockBuilder:
    start: int
    parts: list[str] = field(default_factory=list[str])
    length: int = 0
    positions: list[int] = field(default_factory=list[int])
    shifts: list[int] = field(default_factory=list[int])

    def add(self, text: str, raw_start: int) -> None:
        if not text:
            return
        shift = raw_start - self.start - self.length
        if shift != (self.shifts[-1] if self.shifts else 0):
            self.positions.append(self.length)
            self.shifts.append(shift)
        self.parts.append(text)
        self.length += len(text)


def clean(text: str, start: int, end: int, *, in_container: bool) -> CleanText:
    """Return a stretch of a document as it reads; marks of lists and quotes are dropped."""
    hit = (_LEADING if in_container else _INDENT).match(text, start, end)
    start = hit.end() if hit else start
    raw = text[start:end].rstrip()
    if not raw.isascii():
        raw = _WIDE_SPACE.sub(" ", raw)
    if not _NEEDS_CLEANING.search(raw):
        return CleanText(raw, start)
    built = _BlockBuilder(start)
    last = 0
    for mark in _MARKS.finditer(raw):
        built.add(raw[last : mark.start()], start + last)
        last = mark.end()
        if mark["wrap"] is not None:
            built.add(" ", start + mark.start())
            continue
        kept = next((name for name in ("wiki", "link", "escaped") if mark[name] is not None), None)
        if kept is not None:
            built.add(mark[kept], start + mark.start(kept))
    built.add(raw[last:], start + last)
    return CleanText("".join(built.parts), start, tuple(built.positions), tuple(built.shifts))
