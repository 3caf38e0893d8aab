"""Cleaning: a paragraph as it reads, without marks, and the way back to where each letter stood."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

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
class _Builder:
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
    built = _Builder(start)
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
