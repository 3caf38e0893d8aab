"""Fitting: a conversation that outgrew its window is selected, summarised or cut, visibly.

Only the conversation is touched; system prompt and message are the assembler's. Whoever needs a
model for the summary brings a function that asks one. Every outcome stands on the bill.

A summary that fails, comes back empty or has no room is no error; the reason is returned.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from callboard.core.settings.sections import ContextSettings
from callboard.core.vocabulary import Content, Trust
from callboard.prompts.assembly import Assembler
from callboard.prompts.draft import exchanges, turn_tokens
from callboard.prompts.layers import (
    HISTORY,
    FittingNote,
    FittingOutcome,
    History,
    LayerLine,
    Layout,
    PromptRequest,
    Turn,
)
from callboard.prompts.pieces import Piece, newest, pieces_of, select, tokens_of, turns_of
from callboard.prompts.tokens import TokenCounter

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
    return files("callboard.prompts").joinpath("summary.md").read_text("utf-8")


Archive = Callable[[tuple[Turn, ...]], Awaitable[None]]
"""Takes turns that leave the prompt, to keep them where they can be found again."""

LEFT_OUT: Final = f"{HISTORY}/left out"
"""The name on the bill of what fitting took out of the conversation."""


@dataclass(frozen=True, slots=True)
class _Result:
    """What is left of a conversation, and why."""

    kept: list[Piece]
    outcome: FittingOutcome
    reason: str
    summary: Turn | None = None


class Fitter:
    """Fits conversations; holds no conversation itself."""

    def __init__(
        self,
        counter: TokenCounter,
        layout: Layout,
        policy: ContextSettings | None = None,
        *,
        summarise: Summarise | None = None,
        archive: Archive | None = None,
    ) -> None:
        """Take the way to count, and what to do with turns that do not fit."""
        self._counter = counter
        self._policy = policy or ContextSettings()
        self._summariser = Summariser(counter, layout.cut_mark, summarise)
        self._archive = archive

    async def fit_request(self, assembler: Assembler, request: PromptRequest) -> PromptRequest:
        """Return the request with a conversation that fits beside everything else in it."""
        room = assembler.history_room(request)
        if room is None:
            return request
        fitted = await self.fit(request.history, request.message.text, room)
        return replace(request, history=fitted)

    async def fit(self, history: History, query: str, room_tokens: int) -> History:
        """Return a conversation of at most so many tokens; one that fits is returned unchanged."""
        budget = history.budget_tokens
        room = room_tokens if budget is None else min(room_tokens, budget)
        everything = sum(turn_tokens(turn, self._counter) for turn in history.turns)
        turns = _newest_exchanges(history)
        if everything <= room and len(turns) == len(history.turns):
            return history
        result = await self._reduce(turns, pieces_of(turns, query, self._counter), room)
        kept = turns_of(result.kept, turns)
        line = _left_out(history, len(kept), everything, tokens_of(result.kept), result)
        summary = () if result.summary is None else (result.summary,)
        note = FittingNote(result.outcome, result.reason, everything, (line,))
        # The limit on exchanges has done its work: what is left was chosen, not merely recent.
        return History((*summary, *kept), None, budget, note)

    async def _reduce(self, turns: tuple[Turn, ...], pieces: list[Piece], room: int) -> _Result:
        if tokens_of(pieces) <= room:
            outcome = FittingOutcome.REDUCED if pieces else FittingOutcome.DROPPED
            return _Result(pieces, outcome, "only the newest exchanges are kept")
        selected = select(
            pieces,
            room,
            keep_last_turns=self._policy.keep_last_turns,
            min_relevance_share=self._policy.min_relevance_share,
        )
        if selected is not None:
            count = len(turns_of(selected, turns))
            told = f"{count} of {len(turns)} messages selected, recent or about the message"
            return _Result(selected, FittingOutcome.SELECTED, told)
        return await self._summarise(turns, pieces, room)

    async def _summarise(self, turns: tuple[Turn, ...], pieces: list[Piece], room: int) -> _Result:
        """Keep what is recent beside a summary; without a summary, what is recent alone."""
        recent, summary_room = self._share(pieces, room)
        older = _others(pieces, recent, turns)
        summary, problem = await self._summariser.make(older, summary_room)
        if summary is not None:
            told = f"{len(older)} of {len(turns)} messages summarised"
            reason = f"{told}: a selection would have lost too much{await self._store(older)}"
            return _Result(recent, FittingOutcome.SUMMARISED, reason, summary)
        kept = newest(pieces, room)
        gone = _others(pieces, kept, turns)
        told = f"the oldest {len(gone)} of {len(turns)} messages dropped"
        outcome = FittingOutcome.REDUCED if kept else FittingOutcome.DROPPED
        return _Result(kept, outcome, f"{told}: {problem}{await self._store(gone)}")

    def _share(self, pieces: list[Piece], room: int) -> tuple[list[Piece], int]:
        """Return the recent pieces and what is left for a summary of the others."""
        recent = newest(pieces, int(room * self._policy.recent_share))
        if not recent:
            # The newest goes before a summary, also when it takes more than its share.
            recent = newest(pieces[-1:], room)
        left = room - tokens_of(recent)
        return recent, min(int(room * self._policy.summary_share), left)

    async def _store(self, turns: tuple[Turn, ...]) -> str:
        """Hand turns to the archive; return what the bill says of it."""
        if self._archive is None:
            return ""
        try:
            await self._archive(turns)
        except Exception as error:  # noqa: BLE001 - the border to a storage: it costs no call
            _log.warning("The archive did not take %d messages", len(turns), exc_info=True)
            return f"; the archive failed: {error}"
        return "; the archive has them"


def _others(pieces: list[Piece], kept: list[Piece], turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    held = set(kept)
    return turns_of([piece for piece in pieces if piece not in held], turns)


def _newest_exchanges(history: History) -> tuple[Turn, ...]:
    """Return the turns that the conversation's own limit on exchanges leaves."""
    if history.max_exchanges is None:
        return history.turns
    grouped = exchanges(history.turns)
    older = grouped[: max(0, len(grouped) - history.max_exchanges)]
    return history.turns[sum(len(exchange) for exchange in older) :]


def _left_out(
    history: History, kept: int, everything: int, kept_tokens: int, result: _Result
) -> LayerLine:
    """Return the line of the bill that says what is not in the prompt any more."""
    given, gone = len(history.turns), everything - kept_tokens
    reason = f"{given - kept} of {given} messages, {gone} of {everything} tokens"
    if result.summary is not None:
        reason += "; a summary stands in their place"
    return LayerLine(
        name=LEFT_OUT,
        origin="conversation",
        trust=Trust.UNTRUSTED,
        tokens=0,
        original_tokens=gone,
        budget_tokens=None,
        outcome=FittingOutcome.DROPPED,
        reason=reason,
    )
