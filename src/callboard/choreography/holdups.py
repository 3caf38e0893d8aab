"""Holdups: a step that cannot go on by itself does not fail; the run asks and tries again.

The human may raise a budget, or choose how to go on after a model call nothing could save.

A budget says no, or, where the settings want that, no model can be reached. The attempt that was
stopped is not journaled, the question is: a step of its own, with its own key. Steps of one run
that are stopped together share one question.

An amount in an answer is always the new limit as a whole, never something to add: an answer that is
read again after a crash then means the same.

The gate has retried, waited and asked every stand-in by now. Only asked where the settings say so;
otherwise the step fails, and the run can be retried.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeVar, cast

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput, ProviderError, tier_views
from callboard.core.settings import Settings
from callboard.core.vocabulary import Question
from callboard.engine.errors import NotNow
from callboard.engine.run import Run
from callboard.models.accounts import Accounts, Dimension, Limits, Scope
from callboard.models.accounts.amounts import MICROUSD_PER_USD
from callboard.models.catalog import provider_of

RAISE_PATTERN: Final = r"raise to \$?\d[\d,]*(\.\d+)?( \w+)?"
_AMOUNT: Final = re.compile(r"raise to \$?(\d[\d,]*(?:\.\d+)?)(?: \w+)?")
_UNITS: Final = {Dimension.MONEY: MICROUSD_PER_USD, Dimension.TIME: 60_000}


@dataclass(frozen=True, slots=True)
class Raise:
    """A budget that an answer can raise."""

    scope: Scope
    dimension: Dimension
    suggested: int

    @property
    def choice(self) -> str:
        """The answer that raises it to what is suggested."""
        return f"raise to {self.dimension.told(self.suggested)}"

    def limits(self, answer: Json) -> Limits | None:
        """Return the limit an answer names, or None if it names none."""
        found = _AMOUNT.fullmatch(answer) if isinstance(answer, str) else None
        if found is None:
            return None
        amount = float(found[1].replace(",", "")) * _UNITS.get(self.dimension, 1)
        return Limits(**{self.dimension.value: max(1, round(amount))})


def raise_for(reason: CallboardError) -> Raise | None:
    """Return how an answer can raise the budget that says no; a plan's period cannot be raised."""
    told = reason.context
    if not told.get("can_raise"):
        return None
    limit, spent, reserved, wanted = (
        int(told.get(name) or 0) for name in ("limit", "spent", "reserved", "wanted")
    )
    dimension = next(each for each in Dimension if each.noun == told["dimension"])
    suggested = max(2 * limit, spent + reserved + wanted)
    return Raise(Scope.parse(str(told["scope"])), dimension, _rounded(suggested, dimension))


def _rounded(amount: int, dimension: Dimension) -> int:
    """Return at least the amount, in steps in which it can be written."""
    step = {Dimension.TIME: 600}.get(dimension, 1)
    return -(-amount // step) * step


TRY_AGAIN: Final = "try again"
ASK_PATTERN: Final = r"ask \S+ instead"
# How likely it is, by tier, that the same model answers next time, and that another one does.
_LIKELIHOODS: Final = {
    ErrorTier.TRANSIENT: (0.8, 0.6),
    ErrorTier.EXTERNAL_RATE_LIMIT: (0.9, 0.7),
    ErrorTier.EXTERNAL_DEGRADING: (0.5, 0.8),
    ErrorTier.USER_FIXABLE: (0.9, 0.6),
}


@dataclass(frozen=True, slots=True)
class Remedy(Coded):
    """Something that may help: the answer that chooses it, and how likely it is to succeed."""

    answer: str
    likelihood: float


def can_be_helped(error: ProviderError, settings: Settings) -> bool:
    """Say whether the human is asked about a failed call instead of failing its step."""
    return settings.errors.when_stuck == "ask" and error.tier in _LIKELIHOODS


def remedies(error: CallboardError, settings: Settings) -> tuple[Remedy, ...]:
    """Return what may help against a failed call, most promising first."""
    again, other = _LIKELIHOODS[error.tier]
    failed = {str(error.context.get("model", "")), *_also_tried(error)}
    down = {provider_of(model) for model in failed}
    stand_ins = dict.fromkeys((settings.models.default, *settings.models.fallback_default, "local"))
    found = [Remedy(TRY_AGAIN, again)]
    found += [
        Remedy(f"ask {model} instead", other)
        for model in stand_ins
        if model not in failed and provider_of(model) not in down
    ]
    return tuple(sorted(found, key=lambda remedy: -remedy.likelihood))


def told(error: CallboardError) -> str:
    """Return what failed and what was tried, in words."""
    view = tier_views[error.tier]
    tried: list[str] = []
    attempts = error.context.get("attempts")
    if isinstance(attempts, int) and attempts > 1:
        tried.append(f"asked {attempts} times")
    tried += [f"{model} asked in its place" for model in _also_tried(error)]
    done = f" Tried so far: {', '.join(tried)}." if tried else ""
    return f"{view.headline}: {error.message}{done} {error.fix or view.way_out}"


def model_named(answer: Json) -> str | None:
    """Return the model an answer wants to be asked instead, if it names one."""
    words = answer.split() if isinstance(answer, str) else []
    return words[1] if len(words) == 3 and words[0] == "ask" else None


def _also_tried(error: CallboardError) -> list[str]:
    listed = cast("list[dict[str, Any]]", error.context.get("also_tried") or [])
    return [str(each["model"]) for each in listed]


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
