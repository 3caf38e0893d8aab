"""Short forms of values, measured in tokens as they will stand in markup."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from callboard.prompts import TokenCounter

_MARK: Final = "…"
# No token is longer than this in practice, so a longer text is surely over its limit.
_CHARS_PER_TOKEN: Final = 12
_MOST_NAMES: Final = 6


@dataclass(frozen=True, slots=True)
class Clipper:
    """Cuts values to a number of tokens; what fits is left as it is."""

    counter: TokenCounter

    def cost(self, text: str) -> int:
        """Return what a value costs once it is escaped."""
        return self.counter.count(escape(text))

    def clip(self, text: str, max_tokens: int) -> str:
        """Return a value on one line, cut at its end if it is too long."""
        return self._fit(" ".join(text.split()), max_tokens)

    def excerpt(self, text: str, max_chars: int, max_tokens: int) -> str:
        """Return the beginning of a text with its line breaks."""
        return self._fit(text[:max_chars], max_tokens)

    def _fit(self, text: str, max_tokens: int) -> str:
        short = text[: max_tokens * _CHARS_PER_TOKEN]
        if len(short) == len(text) and self.cost(text) <= max_tokens:
            return text
        low, high = 0, len(short)
        while low < high:
            middle = (low + high + 1) // 2
            if self.cost(f"{short[:middle]}{_MARK}") <= max_tokens:
                low = middle
            else:
                high = middle - 1
        return f"{short[:low].rstrip()}{_MARK}"


def some_of(names: Iterable[str]) -> str | None:
    """Return a list of names on one line, the first of them if they are many."""
    listed = list(names)
    if not listed:
        return None
    if len(listed) <= _MOST_NAMES:
        return ", ".join(listed)
    rest = len(listed) - _MOST_NAMES + 1
    return f"{', '.join(listed[: _MOST_NAMES - 1])} and {rest} more"
