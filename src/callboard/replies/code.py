"""Code and tags in Markdown: where fences and inline spans stand, and one tag at a given place.

Code is prepared once, then asked cheaply. Generous about what opens a fence, strict about what
closes one: text wrongly taken for code is shown, code wrongly taken for text could act. A tag is
read with its quotes and all; nesting is nobody's business here.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final, NamedTuple

FENCE_START: Final = r"(?:^|(?<=>))[ \t]*(?:`{3,}|~{3,})"
"""A fence line, also right behind a tag; for patterns with re.MULTILINE."""
_FENCE: Final = re.compile(r"(?:^|(?<=>))([ \t]*)(`{3,}|~{3,})([^\n]*)", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_MAX_INDENT: Final = 3
_TAB_WIDTH: Final = 4


class _Fence(NamedTuple):
    start: int
    end: int
    mark: str
    indent: int
    info: str


class _Closers:
    """Fence lines of one kind that can close, with the longest mark still to come at each."""

    def __init__(self) -> None:
        self.indexes: list[int] = []
        self._lengths: list[int] = []
        self._longest_from: list[int] = []

    def add(self, index: int, length: int) -> None:
        self.indexes.append(index)
        self._lengths.append(length)

    def finish(self) -> None:
        longest, table = 0, [0]
        for length in reversed(self._lengths):
            longest = max(longest, length)
            table.append(longest)
        self._longest_from = table[::-1]

    def first(self, after: int, length: int, before: int) -> int:
        """Return the first fence line between two that is long enough, else `before`."""
        place = bisect_right(self.indexes, after)
        # The table answers "never" at once, so a search only walks over what it lets us skip.
        if self._longest_from[place] < length:
            return before
        while place < len(self.indexes) and self.indexes[place] < before:
            if self._lengths[place] >= length:
                return self.indexes[place]
            place += 1
        return before


class CodeMap:
    """The code of one text; every question costs at most what it lets the asker skip."""

    def __init__(self, text: str) -> None:
        """Find all fence lines, backtick runs and blank lines in one pass each."""
        self._text = text
        self._fences = [_fence(match) for match in _FENCE.finditer(text)]
        self._fence_at = {fence.start: index for index, fence in enumerate(self._fences)}
        # By mark and, for closers that are indented like code, by exact indent; else indent -1.
        self._closers: defaultdict[tuple[str, int], _Closers] = defaultdict(_Closers)
        for index, fence in enumerate(self._fences):
            at_line_start = fence.start == 0 or text[fence.start - 1] == "\n"
            if at_line_start and not fence.info:
                kind = fence.indent if fence.indent > _MAX_INDENT else -1
                self._closers[fence.mark[0], kind].add(index, len(fence.mark))
        for closers in self._closers.values():
            closers.finish()
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(text):
            self._runs[run.end() - run.start()].append(run.start())
        self._blank_lines = [match.start() for match in _BLANK_LINE.finditer(text)]

    def opens_fence(self, start: int) -> bool:
        """Whether the fence line starting here can open a fence."""
        index = self._fence_at.get(start)
        if index is None:
            return False
        fence = self._fences[index]
        return fence.mark[0] == "~" or "`" not in fence.info

    def fence_body(self, start: int) -> int:
        """Return where the text inside the fence starting here begins."""
        return self._fences[self._fence_at[start]].end

    def fence_end(self, start: int) -> int | None:
        """Return where the fence opened by this line ends, or None if it is never closed."""
        index = self._fence_at[start]
        opener = self._fences[index]
        found = never = len(self._fences)
        for kind in (opener.indent, -1):
            closers = self._closers.get((opener.mark[0], kind))
            if closers is not None:
                found = closers.first(index, len(opener.mark), found)
        return None if found == never else self._fences[found].end

    def span_end(self, start: int, length: int, *, one_line: bool) -> int | None:
        """Return where the inline code opened by this backtick run ends, or None."""
        runs = self._runs.get(length, [])
        index = bisect_right(runs, start)
        if index == len(runs):
            return None
        close = runs[index]
        if one_line:
            line_end = self._text.find("\n", start, close)
            return close + length if line_end < 0 else None
        blank = bisect_right(self._blank_lines, start)
        ends_first = blank < len(self._blank_lines) and self._blank_lines[blank] < close
        return None if ends_first else close + length


def _fence(match: re.Match[str]) -> _Fence:
    indent = len(match[1].expandtabs(_TAB_WIDTH)) if match[1] else 0
    return _Fence(match.start(), match.end(), match[2], indent, match[3].strip())


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_ATTRIBUTE: Final = re.compile(r"[^\s=<>\"'/]+")
_BARE_VALUE: Final = re.compile(r"[^\s<>\"'=`/]+")
_MAX_TAG_CHARS: Final = 4096


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag as written; `end` is the offset just behind it."""

    name: str
    attributes: Mapping[str, str]
    self_closing: bool
    end: int


def read_tag(text: str, start: int) -> Tag | None:
    """Return the opening tag at `start`, or None if what stands there is not one."""
    name = _NAME.match(text, start + 1)
    if name is None:
        return None
    attributes: dict[str, str] = {}
    position, limit = name.end(), min(len(text), start + _MAX_TAG_CHARS)
    while position < limit:
        after_space = _skip_space(text, position)
        if text.startswith(">", after_space):
            return Tag(name[0], attributes, False, after_space + 1)
        if text.startswith("/>", after_space):
            return Tag(name[0], attributes, True, after_space + 2)
        if after_space == position:
            return None
        attribute = _ATTRIBUTE.match(text, after_space)
        if attribute is None:
            return None
        value, position = _read_value(text, attribute.end(), limit)
        if value is None:
            return None
        attributes.setdefault(attribute[0].lower(), value)
    return None


def read_closing_tag(text: str, start: int) -> tuple[str, int] | None:
    """Return name and end of the closing tag at `start`, or None."""
    name = _NAME.match(text, start + 2)
    if name is None:
        return None
    end = _skip_space(text, name.end())
    return (name[0], end + 1) if text.startswith(">", end) else None


def decode_entities(text: str) -> str:
    """Return text with its HTML entities replaced; an absurd one leaves the text as it is."""
    if "&" not in text:
        return text
    try:
        return unescape(text)
    except (ValueError, OverflowError):
        return text


def _read_value(text: str, position: int, limit: int) -> tuple[str | None, int]:
    equals = _skip_space(text, position)
    if not text.startswith("=", equals):
        return "", position
    start = _skip_space(text, equals + 1)
    quote = text[start : start + 1]
    if quote and quote in "\"'":
        end = text.find(quote, start + 1, limit)
        if end < 0:
            return None, limit
        return decode_entities(text[start + 1 : end]), end + 1
    bare = _BARE_VALUE.match(text, start)
    return (bare[0], bare.end()) if bare else (None, limit)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
