"""Documents cut into passages: by headings, then by paragraphs, with the lines they stand on.

Nothing is lost but empty lines, nothing is told twice, and a passage never crosses a heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final


@dataclass(frozen=True, slots=True)
class SourceText:
    """A document's text, as its owner read it. Without `sha256` the text is hashed here."""

    path: str
    text: str
    sha256: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class PutReport:
    """What putting documents into a collection did."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: whole lines, or a part of one line too long to stay whole."""

    heading: str
    text: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A place in a document that answers a query, the lines counted from 1.

    `score` orders the passages of one search and means nothing between searches. `bm25` is above
    zero if words of the query occur; `similarity` is the cosine of the meanings, if it was looked
    at.
    """

    collection: str
    path: str
    text: str
    line_start: int
    line_end: int
    score: float
    heading: str = ""
    title: str = ""
    bm25: float = 0.0
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document of a collection, without its text."""

    path: str
    title: str
    sha256: str
    characters: int
    passages: int
    updated_at: int


class SearchMode(StrEnum):
    """What a search goes by: words, meaning, or both."""

    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"


METHOD: Final = "blocks-1"
"""Changes when the same text would be cut another way; stored documents are then cut again."""

_TARGET_CHARACTERS: Final = 900
_MAX_CHARACTERS: Final = 1400
_MARKDOWN: Final = frozenset({"", ".md", ".markdown", ".mdx"})
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\s+|\s+[—–]\s+|[;:,]\s+|\s+")
_LINE_END: Final = re.compile("\r\n|\r|\n")
_FRONT_MATTER: Final = "---"


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, list, table or code block: lines from `start` up to, not including, `end`."""

    start: int
    end: int
    headings: tuple[str, ...]


def cut(path: str, text: str) -> list[Chunk]:
    """Return the passages of a document in their order."""
    lines = _LINE_END.split(text)
    is_markdown = PurePosixPath(path).suffix.lower() in _MARKDOWN
    blocks = _markdown_blocks(lines) if is_markdown else _paragraphs(lines, 0, len(lines), ())
    return [chunk for group in _grouped(list(blocks), lines) for chunk in _chunks(group, lines)]


def _markdown_blocks(lines: list[str]) -> Iterator[_Block]:
    from markdown_it import MarkdownIt

    first = _after_front_matter(lines)
    if first:
        yield _Block(0, first, ())
    headings: list[tuple[int, str]] = []
    parser = MarkdownIt("commonmark").enable("table")
    # What stands within a line is of no interest here, and costs most of the time.
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse("\n".join(lines[first:]))
    covered = first
    for number, token in enumerate(tokens):
        if token.level != 0 or token.map is None or token.nesting < 0:
            continue
        start, end = (first + each for each in token.map)
        # Link definitions leave no token behind, yet their lines are text like any other.
        yield from _paragraphs(lines, covered, start, _path_of(headings))
        covered = max(covered, end)
        if token.type == "heading_open":
            depth = int(token.tag[1:])
            headings = [each for each in headings if each[0] < depth]
            headings.append((depth, tokens[number + 1].content.strip()))
        yield _Block(start, end, _path_of(headings))
    yield from _paragraphs(lines, covered, len(lines), _path_of(headings))


def _path_of(headings: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(text for _depth, text in headings if text)


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != _FRONT_MATTER:
        return 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FRONT_MATTER:
            return number + 1
    return 0


def _paragraphs(
    lines: list[str], start: int, end: int, headings: tuple[str, ...]
) -> Iterator[_Block]:
    first: int | None = None
    for number in range(start, end):
        if lines[number].strip():
            first = number if first is None else first
        elif first is not None:
            yield _Block(first, number, headings)
            first = None
    if first is not None:
        yield _Block(first, end, headings)


def _grouped(blocks: list[_Block], lines: list[str]) -> Iterator[_Block]:
    """Join neighbours under one heading until a passage is long enough to mean something."""
    joined: _Block | None = None
    for block in blocks:
        if joined is None:
            joined = block
        elif block.headings == joined.headings and _fits(joined, block, lines):
            joined = _Block(joined.start, block.end, joined.headings)
        else:
            yield joined
            joined = block
    if joined is not None:
        yield joined


def _fits(joined: _Block, block: _Block, lines: list[str]) -> bool:
    return (
        _size(lines, joined.start, joined.end) < _TARGET_CHARACTERS
        and _size(lines, joined.start, block.end) <= _MAX_CHARACTERS
    )


def _size(lines: list[str], start: int, end: int) -> int:
    return sum(len(line) + 1 for line in lines[start:end])


def _chunks(block: _Block, lines: list[str]) -> Iterator[Chunk]:
    """Return a block as one passage, or by lines, or by sentences where a line is too long."""
    heading = " > ".join(block.headings)
    start = block.start
    while start < block.end:
        end = start + 1
        while end < block.end and _size(lines, start, end + 1) <= _MAX_CHARACTERS:
            end += 1
        text = "\n".join(lines[start:end])
        first, last = _without_empty_ends(lines, start, end)
        if first < last and len(text) <= _MAX_CHARACTERS:
            yield Chunk(heading, "\n".join(lines[first:last]), first + 1, last)
        elif first < last:
            for piece in _sentences(lines[start]):
                yield Chunk(heading, piece, start + 1, start + 1)
        start = end


def _without_empty_ends(lines: list[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _sentences(line: str) -> Iterator[str]:
    """Cut a long line at the best place before the limit: a sentence, a clause, a word."""
    start = 0
    while start < len(line):
        # The part ahead alone is looked at: a line may be as long as a book.
        ahead = line[start : start + _MAX_CHARACTERS + 1]
        at = _best_cut(ahead) if len(ahead) > _MAX_CHARACTERS else len(ahead)
        piece = ahead[:at].strip()
        if piece:
            yield piece
        start += at
        while start < len(line) and line[start].isspace():
            start += 1


def _best_cut(text: str) -> int:
    cuts = list(_SENTENCE_END.finditer(text, _TARGET_CHARACTERS // 2, _MAX_CHARACTERS))
    sentences = [each.end() for each in cuts if each.group()[0] in ".!?…"]
    if sentences:
        return sentences[-1]
    return cuts[-1].end() if cuts else _MAX_CHARACTERS
