"""Holdups: a step that cannot go on by itself does not fail; the run asks and tries again.

A budget says no, or, where the settings want that, no model can be reached. The attempt that was
stopped is not journaled, the question is: a step of its own, with its own key. Steps of one run
that are stopped together share one question.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import count
from typing import Final, TypeVar

from callboard.choreography.raising import RAISE_PATTERN, raise_for
from callboard.choreography.stuck import ASK_PATTERN, model_named, remedies, told
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput, ProviderError
from callboard.core.settings import Settings
from callboard.core.vocabulary import Question
from callboard.engine.errors import NotNow
from callboard.engine.run import Run
from callboard.models.accounts import Accounts

T = TypeVar("T")

Aside = Callable[[], AbstractAsyncContextManager[object]]

GO_ON: Final = "raise the budget and go on"
STOP: Final = "stop"


class Holdups:
    """What one run, with all its branches, has asked about what holds it up."""

    def __init__(
        self,
        accounts: Accounts | None = None,
        settings: Settings | None = None,
        *,
        aside: Aside = nullcontext,
    ) -> None:
        """Take the accounts whose budgets an answer may raise, and the settings in force.

        `aside` surrounds the wait for the human, so that what others need can be let go meanwhile.
        """
        self._accounts = accounts
        self._settings = settings or Settings()
        self._aside = aside
        self._asking = asyncio.Lock()
        # How many answers have been given, and the latest: who was stopped before it need not ask.
        self._answers = 0
        self._latest: Json = None
        # Why the latest answer could not be followed, for the next question.
        self._refusal = ""
        # The model an answer named in place of one that cannot be reached.
        self._stand_ins: dict[str, str] = {}

    def model_for(self, model: str) -> str:
        """Return the model that is asked in this run when a model is wanted."""
        return self._stand_ins.get(model, model)

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
            is_stuck = isinstance(reason, ProviderError)
            make = self._about_model if is_stuck else self._about_budget
            question = make(f"Step {run.key(key)!r} is held up.", reason)
            place = f"{key}/{'stuck' if is_stuck else 'budget'}/{number}"
            # The figures differ from attempt to attempt; the answer holds all the same.
            inputs = {"step": key, "number": number}
            async with self._aside():
                self._latest = await run.ask_human(place, question, inputs=inputs)
            await self._follow(self._latest, reason)
            self._answers += 1
            return self._latest

    def _about_budget(self, opening: str, reason: CallboardError) -> Question:
        can_raise = None if self._accounts is None else raise_for(reason)
        parts = (opening, f"{reason.message}.", reason.fix or "", self._refusal)
        return Question(
            " ".join(part for part in parts if part),
            choices=(GO_ON, STOP) if can_raise is None else (GO_ON, can_raise.choice, STOP),
            detail=reason.record().to_json(),
            pattern=None if can_raise is None else RAISE_PATTERN,
        )

    def _about_model(self, opening: str, reason: CallboardError) -> Question:
        ranked = remedies(reason, self._settings)
        shapes: list[Json] = [remedy.to_json() for remedy in ranked]
        return Question(
            f"{opening} {told(reason)}",
            choices=(*(remedy.answer for remedy in ranked), STOP),
            detail={**reason.record().to_json(), "remedies": shapes},
            pattern=ASK_PATTERN,
        )

    async def _follow(self, answer: Json, reason: CallboardError) -> None:
        """Do what an answer says; what cannot be done is told with the next question."""
        self._refusal = ""
        if isinstance(reason, ProviderError):
            asked, named = reason.context.get("asked_model"), model_named(answer)
            if named is not None and isinstance(asked, str):
                self._stand_ins[asked] = named
            return
        can_raise = raise_for(reason)
        limits = None if can_raise is None else can_raise.limits(answer)
        if self._accounts is None or can_raise is None or limits is None:
            return
        try:
            await self._accounts.set_limits(can_raise.scope, limits)
        except InvalidInput as error:
            self._refusal = f"It was not raised: {error.message}. {error.fix or ''}".strip()
