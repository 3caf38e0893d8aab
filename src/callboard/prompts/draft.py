"""Layers and conversation while they are being fitted: the mutable side of assembly."""

from collections.abc import Sequence
from typing import Final

from callboard.core.vocabulary import Content, Trust
from callboard.prompts.layers import (
    HISTORY,
    FittingOutcome,
    History,
    Layer,
    LayerLine,
    MessagePlace,
    PromptMessage,
    Reduction,
    Turn,
    turn_line,
)
from callboard.prompts.markup import fence
from callboard.prompts.tokens import TokenCounter

_ASSISTANT: Final = "assistant"
_USER: Final = "user"


def exchanges(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Return the conversation as whole exchanges: what the user says and all that follows.

    As long as a pair is not complete, nothing opens a new exchange, whoever speaks.
    """
    ends = {turn.pair: index for index, turn in enumerate(turns) if turn.pair is not None}
    groups: list[list[Turn]] = []
    open_until = -1
    for index, turn in enumerate(turns):
        if not groups or (turn.role.lower() == _USER and index > open_until):
            groups.append([])
        groups[-1].append(turn)
        if turn.pair is not None:
            open_until = max(open_until, ends[turn.pair])
    return [tuple(group) for group in groups]


def turn_text(turn: Turn) -> str:
    """Return a turn as it stands in a prompt."""
    # An assistant's own words stay bare: its role already says who speaks, and a fence here would
    # teach it to answer in fences.
    return turn.content.text if turn.role.lower() == _ASSISTANT else fence(turn.content)


def turn_tokens(turn: Turn, counter: TokenCounter) -> int:
    """Return what a turn costs in a prompt."""
    return counter.count(turn_line(turn.role, turn_text(turn)))


class LayerDraft:
    """One layer with what has been done to it so far."""

    def __init__(self, layer: Layer, counter: TokenCounter) -> None:
        """Count the layer as given; a budget of 0 leaves it out."""
        self.layer = layer
        self._counter = counter
        self._remaining = list(layer.reductions)
        self._content = layer.content
        self.text = fence(layer.content) if layer.content.text.strip() else ""
        self.tokens = self._original_tokens = counter.count(self.text)
        self._outcome = FittingOutcome.KEPT if self.text else FittingOutcome.EMPTY
        self._reason = ""

    @property
    def next_reduction(self) -> str | None:
        """The name of the next shorter form, if one is left."""
        return self._remaining[0].name if self._remaining and self.text else None

    def reduce(self, reason: str) -> None:
        """Replace the layer by its next authored shorter form."""
        reduction = self._remaining.pop(0)
        self._replace(_content_of(reduction), FittingOutcome.REDUCED, f"{reduction.name}: {reason}")

    def cut(self, max_tokens: int, mark: str, reason: str) -> None:
        """Shorten the layer at its end, inside its fence, and leave a visible mark."""
        low, high = 0, len(self._content.text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counter.count(self._cut_text(middle, mark)) <= max_tokens:
                low = middle
            else:
                high = middle - 1
        if low == 0:
            self.drop(reason)
            return
        self._content = Content(
            f"{self._content.text[:low].rstrip()}\n{mark}",
            self._content.origin,
            self._content.trust,
        )
        self._replace(self._content, FittingOutcome.CUT, reason)

    def drop(self, reason: str) -> None:
        """Leave the layer out."""
        self.text, self.tokens = "", 0
        self._outcome, self._reason = FittingOutcome.DROPPED, reason

    def fit_budget(self, mark: str) -> None:
        """Bring the layer within its own budget as far as its author allows."""
        budget = self.layer.budget_tokens
        if budget is None or not self.text:
            return
        reason = f"over its budget of {budget} tokens"
        if budget == 0 and not self.layer.pinned:
            self.drop("this tier leaves it out")
            return
        while self.tokens > budget and self.next_reduction is not None:
            self.reduce(reason)
        if self.tokens <= budget:
            return
        if self.layer.may_cut and not self.layer.pinned:
            self.cut(budget, mark, reason)
        elif not self._reason:
            self._reason = f"{reason}, kept whole"

    def line(self) -> LayerLine:
        """Return the line of the bill of materials."""
        return LayerLine(
            name=self.layer.name,
            origin=self._content.origin,
            trust=self._content.trust,
            tokens=self.tokens,
            original_tokens=self._original_tokens,
            budget_tokens=self.layer.budget_tokens,
            outcome=self._outcome,
            reason=self._reason,
            pinned=self.layer.pinned,
            stable=self.layer.stable,
            text=self.text,
        )

    def _replace(self, content: Content, outcome: FittingOutcome, reason: str) -> None:
        self._content = content
        self.text = fence(content) if content.text.strip() else ""
        self.tokens = self._counter.count(self.text)
        self._outcome, self._reason = outcome, reason

    def _cut_text(self, chars: int, mark: str) -> str:
        text = f"{self._content.text[:chars].rstrip()}\n{mark}"
        return fence(Content(text, self._content.origin, self._content.trust))


class HistoryDraft:
    """The conversation as whole exchanges, of which the oldest go first."""

    def __init__(self, history: History, counter: TokenCounter) -> None:
        """Group the turns into exchanges and apply the conversation's own limits."""
        self._history = history
        self._exchanges = [
            (exchange, sum(turn_tokens(turn, counter) for turn in exchange))
            for exchange in exchanges(history.turns)
        ]
        self._given = len(self._exchanges)
        self.tokens = sum(tokens for _, tokens in self._exchanges)
        fitted = history.fitted
        self._original_tokens = self.tokens if fitted is None else fitted.original_tokens
        self._reason = ""
        self._apply_own_limits()

    @property
    def is_empty(self) -> bool:
        """Whether no exchange is left."""
        return not self._exchanges

    def drop_oldest(self, reason: str) -> None:
        """Forget the oldest exchange that is left."""
        _, tokens = self._exchanges.pop(0)
        self.tokens -= tokens
        self._reason = reason

    def messages(self) -> tuple[PromptMessage, ...]:
        """Return what is left as messages."""
        return tuple(
            PromptMessage(turn.role.lower(), (turn_text(turn),), MessagePlace.HISTORY)
            for exchange, _ in self._exchanges
            for turn in exchange
        )

    def lines(self) -> tuple[LayerLine, ...]:
        """Return the lines of the bill of materials: what is there, and what fitting left out."""
        fitted = self._history.fitted
        dropped = self._given - len(self._exchanges)
        outcome = FittingOutcome.KEPT if self._given else FittingOutcome.EMPTY
        reasons: list[str] = []
        if fitted is not None:
            outcome = fitted.outcome
            reasons.append(fitted.reason)
        if dropped:
            outcome = FittingOutcome.REDUCED if self._exchanges else FittingOutcome.DROPPED
            reasons.append(f"{dropped} of {self._given} exchanges dropped: {self._reason}")
        line = LayerLine(
            name=HISTORY,
            origin="conversation",
            trust=Trust.UNTRUSTED,
            tokens=self.tokens,
            original_tokens=self._original_tokens,
            budget_tokens=self._history.budget_tokens,
            outcome=outcome,
            reason="; ".join(reasons),
        )
        return (line,) if fitted is None else (line, *fitted.lines)

    def _apply_own_limits(self) -> None:
        most, budget = self._history.max_exchanges, self._history.budget_tokens
        while self._exchanges and most is not None and len(self._exchanges) > most:
            self.drop_oldest(f"the newest {most} are kept")
        while self._exchanges and budget is not None and self.tokens > budget:
            self.drop_oldest(f"over its budget of {budget} tokens")


def _content_of(reduction: Reduction) -> Content:
    return reduction.content if isinstance(reduction.content, Content) else reduction.content()
