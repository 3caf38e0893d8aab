"""A summary as a turn of the conversation: made by whoever the caller names, capped by code.

A summary that fails, comes back empty or has no room is no error; the reason is returned.
"""

import logging
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Final

from callboard.core.vocabulary import Content, Trust
from callboard.prompts.layers import Turn
from callboard.prompts.tokens import TokenCounter
from callboard.prompts.turns import turn_tokens

Summarise = Callable[[tuple[Turn, ...], int], Awaitable[str]]
"""Takes turns and the most tokens a summary may have; returns the summary."""

_log: Final = logging.getLogger(__name__)


class Summariser:
    """Turns earlier turns into one."""

    def __init__(self, counter: TokenCounter, cut_mark: str, summarise: Summarise | None) -> None:
        """Take the way to count, the mark of a cut, and who writes the summary, if anybody."""
        self._counter = counter
        self._cut_mark = cut_mark
        self._summarise = summarise

    async def make(self, turns: tuple[Turn, ...], room_tokens: int) -> tuple[Turn | None, str]:
        """Return a summary of at most so many tokens, or nothing and why."""
        if self._summarise is None:
            return None, "nobody summarises here"
        least = self._tokens(_as_turn(len(turns), ""))
        if room_tokens <= least:
            return None, f"{room_tokens} tokens are too few for a summary"
        try:
            text = (await self._summarise(turns, room_tokens - least)).strip()
        except Exception as error:  # noqa: BLE001 - the border to a model: it costs turns, no call
            _log.warning("The summary of %d messages failed", len(turns), exc_info=True)
            return None, f"the summary failed: {error}"
        if not text:
            return None, "the summary came back empty"
        turn = self._capped(len(turns), text, room_tokens)
        return turn, "" if turn is not None else "the summary does not fit"

    def _capped(self, covered: int, text: str, room_tokens: int) -> Turn | None:
        """Return the summary, cut with a visible mark if it is longer than agreed."""
        whole = _as_turn(covered, text)
        if self._tokens(whole) <= room_tokens:
            return whole
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._tokens(self._cut(covered, text, middle)) <= room_tokens:
                low = middle
            else:
                high = middle - 1
        cut = self._cut(covered, text, low)
        # Counts are not strictly monotonic in length: the one that is sent is checked itself.
        return cut if low and self._tokens(cut) <= room_tokens else None

    def _cut(self, covered: int, text: str, chars: int) -> Turn:
        return _as_turn(covered, f"{text[:chars].rstrip()}\n{self._cut_mark}")

    def _tokens(self, turn: Turn) -> int:
        return turn_tokens(turn, self._counter)


def _as_turn(covered: int, summary: str) -> Turn:
    before, _, after = _template().partition("{{summary}}")
    text = f"{before.replace('{{count}}', str(covered))}{summary}{after}".strip()
    # A model wrote it from whatever was said: it may inform, not instruct.
    return Turn(Content(text, "summary", Trust.UNTRUSTED), "system")


@cache
def _template() -> str:
    return files("callboard.prompts.fitting").joinpath("summary.md").read_text("utf-8")
