"""Where code stands in Markdown: fences and inline spans. Prepared once, then asked cheaply.

Generous about what opens a fence, strict about what closes one: text wrongly taken for code is
shown, code wrongly taken for text could act.
"""

import re
from bisect import bisect_right
from collections import defaultdict
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
