"""Holdups: a step that a budget stops does not fail; the run asks the human and tries again.

The attempt that was stopped is not journaled, the question is: a step of its own, with its own
key. Steps of one run that are stopped together share one question.
"""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final, TypeVar

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Question
from callboard.engine.errors import NotNow
from callboard.engine.run import Run

T = TypeVar("T")

GO_ON: Final = "raise the budget and go on"
STOP: Final = "stop"


class Holdups:
    """What one run, with all its branches, has asked about its budgets."""

    def __init__(self) -> None:
        """Start without a question."""
        self._asking = asyncio.Lock()
        # How many answers have been given, and the latest: who was stopped before it need not ask.
        self._answers = 0
        self._latest: Json = None

    async def step(
        self,
        run: Run,
        key: str,
        attempt: Callable[[], Awaitable[T]],
        give_up: Callable[[CallboardError], Awaitable[T]],
    ) -> T:
        """Try a step until it is not put off any more, asking the human in between.

        `give_up` is what happens when the human says stop: the step, failing for good.
        """
        for number in count(1):
            seen = self._answers
            try:
                return await attempt()
            except NotNow as held:
                answer = await self._ask(run, key, number, held, seen)
                if answer == STOP:
                    return await give_up(held.reason)
        raise AssertionError("unreachable")

    async def _ask(self, run: Run, key: str, number: int, held: NotNow, seen: int) -> Json:
        async with self._asking:
            if self._answers != seen:
                return self._latest
            reason = held.reason
            question = Question(
                f"Step {run.key(key)!r} is held up. {reason.message}. {reason.fix or ''}".strip(),
                choices=(GO_ON, STOP),
                detail=reason.record().to_json(),
            )
            # The figures differ from attempt to attempt; the answer holds all the same.
            inputs = {"step": key, "number": number}
            self._latest = await run.ask_human(f"{key}/budget/{number}", question, inputs=inputs)
            self._answers += 1
            return self._latest
