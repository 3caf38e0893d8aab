"""FallbackGate: lets another model answer when the one that was asked cannot. Retries nothing.

It belongs outside the queue: a stand-in then waits in the line of its own provider, and a rate
limit has been waited out before it counts as a reason to switch.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.classify import Classifier
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import ModelSwitched
from callboard.models.catalog import provider_of
from callboard.models.errors import CircuitOpen, MissingKey, UnknownModel
from callboard.models.gate import Gate, WrapperGate
from callboard.models.traffic.retry import Deadline, Delivered
from callboard.models.types import (
    Chunk,
    Finished,
    ModelRequest,
    Notify,
    Restarted,
    Working,
    say_nothing,
)

DEFAULT_REASONS: Final = frozenset(
    {"circuit_open", "degrading", "transient", "rate_limit", "missing_key"}
)
_BY_TIER: Final = {
    ErrorTier.TRANSIENT: "transient",
    ErrorTier.EXTERNAL_DEGRADING: "degrading",
    ErrorTier.EXTERNAL_RATE_LIMIT: "rate_limit",
    ErrorTier.USER_FIXABLE: "user_fixable",
}

_Failure = ProviderError | UnknownModel


@dataclass(frozen=True, slots=True)
class FallbackRules:
    """Who stands in for whom, and after which failures.

    `chains` is keyed by model id, provider or tier (`full`, `medium`, `minimal`), the nearest
    wins; `default` is for all others.
    """

    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    default: tuple[str, ...] = ()
    reasons: frozenset[str] = DEFAULT_REASONS

    def stand_ins(self, model: str, tier: str | None = None) -> tuple[str, ...]:
        """Return the models to ask after this one, in order, each once."""
        names = (model, provider_of(model), tier or "")
        chain = next((self.chains[name] for name in names if name in self.chains), self.default)
        return tuple(dict.fromkeys(each for each in chain if each != model))


class FallbackGate(WrapperGate):
    """Asks the models of a chain one after the other until one answers."""

    def __init__(
        self,
        inner: Gate,
        rules: FallbackRules,
        *,
        tier_of: Callable[[str], str] | None = None,
        classifier: Classifier | None = None,
        clock: Clock | None = None,
        notify: Notify = say_nothing,
    ) -> None:
        """Take the chains; `tier_of` names the tier of a model, for chains by tier."""
        super().__init__(inner)
        self._rules = rules
        self._tier_of = tier_of
        self._classifier = classifier or Classifier()
        self._clock = clock or SystemClock()
        self._notify = notify

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply of the first model that answers; a switch voids what came before."""
        line = _Line(request, self._stand_ins(request.model), Deadline(request, self._clock))
        while True:
            try:
                async with aclosing(self.inner.stream(line.next_request())) as chunks:
                    async for chunk in chunks:
                        line.delivered.take(chunk)
                        yield _marked(chunk, line)
                return
            except (ProviderError, UnknownModel) as error:
                failure = error
            # Not within `except`: the first model's error must not take on a stand-in's as context.
            switched = self._switch(failure, line)
            if line.delivered.void():
                yield Restarted(f"{switched.message} {switched.model!r} is asked instead.")
            yield Working(f"asking {switched.model} instead")

    def _stand_ins(self, model: str) -> tuple[str, ...]:
        return self._rules.stand_ins(model, self._tier_of(model) if self._tier_of else None)

    def _switch(self, error: _Failure, line: "_Line") -> ModelSwitched:
        """Go on to the next model and tell it, or raise what the first one failed with."""
        reason = self._reason(error)
        # Only the first model's failure is judged: a stand-in that cannot answer is passed over.
        if not line.failures and (isinstance(error, UnknownModel) or reason is None):
            raise error
        failed = line.model
        line.failures.append((failed, error))
        if not line.waiting or not line.deadline.leaves(0):
            raise line.verdict()
        line.model = line.waiting.pop(0)
        told = ModelSwitched(
            model=line.model,
            switched_from=failed,
            reason=reason or "unusable",
            message=error.message,
            partial=line.delivered.text or getattr(error, "partial", None) or "",
        )
        self._notify(told, line.request)
        return told

    def _reason(self, error: _Failure) -> str | None:
        """Return why another model may answer, or None if this failure stands."""
        if isinstance(error, CircuitOpen):
            reason = "circuit_open"
        elif isinstance(error, MissingKey):
            reason = "missing_key"
        else:
            reason = _BY_TIER.get(self._classifier.tier_of(error))
        return reason if reason in self._rules.reasons else None


class _Line:
    """The models of one request: which one is asked, which failed, which wait."""

    def __init__(
        self, request: ModelRequest, stand_ins: tuple[str, ...], deadline: Deadline
    ) -> None:
        self.request = request
        self.deadline = deadline
        self.delivered = Delivered()
        self.model = request.model
        self.waiting = list(stand_ins)
        self.failures: list[tuple[str, _Failure]] = []

    def next_request(self) -> ModelRequest:
        if not self.failures:
            return self.request
        return replace(self.deadline.bound(self.request), model=self.model)

    def verdict(self) -> _Failure:
        """Return the error of the model that was asked, with those of its stand-ins noted."""
        (_, first), *others = self.failures
        if others:
            tried: list[Json] = [
                {"model": model, "code": error.code, "message": error.message}
                for model, error in others
            ]
            first.context["also_tried"] = tried
            told = ", ".join(f"{model} ({error.code})" for model, error in others)
            first.fix = f"{first.fix or ''} Stand-ins failed too: {told}.".strip()
        if isinstance(first, ProviderError):
            self.delivered.save_in(first)
        return first


def _marked(chunk: Chunk, line: _Line) -> Chunk:
    if line.failures and isinstance(chunk, Finished):
        return Finished(replace(chunk.reply, switched_from=line.request.model))
    return chunk
