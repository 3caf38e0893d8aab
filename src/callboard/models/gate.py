"""The one way to a model. Owns routing, time limits and error shape.

It does not queue, retry, count money, pick another model or judge structured replies: those are
wrappers around a `Gate` (subclass `WrapperGate`, override `stream`).
"""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from callboard.core.classify import Classifier
from callboard.core.clock import Clock, SystemClock
from callboard.core.errors import ProviderError
from callboard.models.catalog import FileModels, provider_of
from callboard.models.errors import ProviderTimeout, UnknownModel, as_provider_error
from callboard.models.types import (
    Chunk,
    Ended,
    Finished,
    ModelReply,
    ModelRequest,
    ProviderChunk,
    TextChunk,
    Working,
)
from callboard.store.backlog import before_leaving


class Gate(Protocol):
    """Asks models. Streaming is the loop; `complete` drains it.

    A stream that is not read to its end must be closed (`contextlib.aclosing`): closing it frees
    whatever the provider holds.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written, ending with `Finished`."""
        ...

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the whole reply."""
        ...

    async def close(self) -> None:
        """Release what the providers hold."""
        ...


class Provider(Protocol):
    """Answers for one family of models; knows nothing of schemas' validity, limits or retries."""

    @property
    def constrains_json(self) -> bool:
        """Whether a schema is enforced while decoding."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield text and signs of life, ending with `Ended`; raise on failure."""
        ...

    async def close(self) -> None:
        """Release clients, threads and memory."""
        ...


async def drain(chunks: AsyncGenerator[Chunk]) -> ModelReply:
    """Read a stream to its end and return the reply."""
    async with aclosing(chunks) as stream:
        async for chunk in stream:
            if isinstance(chunk, Finished):
                return chunk.reply
    raise ProviderError("The stream ended without a reply.")


class WrapperGate:
    """Passes everything on to the gate inside; a wrapper overrides `stream` and nothing else."""

    def __init__(self, inner: Gate) -> None:
        """Take the gate to wrap."""
        self.inner = inner

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written."""
        return self.inner.stream(request)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the whole reply."""
        return await drain(self.stream(request))

    async def close(self) -> None:
        """Release what the gate inside holds."""
        await self.inner.close()


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """What a request gets when it does not say itself."""

    total_seconds: float = 600.0
    inactivity_seconds: float = 90.0
    # Providers that work on this machine: slow is not broken there, `max_tokens` ends a reply, and
    # asking again would be no faster. Only their silence is limited, whatever a request says.
    unhurried: frozenset[str] = frozenset()

    def total_of(self, request: ModelRequest) -> float | None:
        """Return the most a whole call may take; nothing if only silence ends it."""
        if provider_of(request.model) in self.unhurried:
            return None
        return request.timeout_seconds or self.total_seconds


@dataclass(slots=True)
class _Answer:
    """What one provider call has produced so far."""

    started: float
    parts: list[str] = field(default_factory=list[str])
    first_token: float | None = None
    ended: Ended | None = None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def take(self, chunk: ProviderChunk, now: float) -> None:
        if isinstance(chunk, TextChunk):
            if self.first_token is None:
                self.first_token = now
            self.parts.append(chunk.text)
        elif isinstance(chunk, Ended):
            self.ended = chunk


class Routes:
    """Which provider answers for which model id."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        fallback: Provider | None = None,
        files: FileModels | None = None,
    ) -> None:
        """Take providers by the part of the model id before the colon.

        `fallback` gets every id of the form `name:model` whose name is not listed. `files` says
        which models that are files may be asked; without it, whoever asks has looked.
        """
        self._providers = dict(providers)
        self._fallback = fallback
        self._files = files

    def provider_of(self, model: str) -> Provider:
        """Return who answers for a model; nobody is an error that names those who could."""
        name, colon, _ = model.partition(":")
        if self._files is not None:
            self._files.require(model)
        if name in self._providers:
            return self._providers[name]
        if self._fallback is not None and colon:
            return self._fallback
        known = ", ".join(sorted(self._providers)) or "none"
        raise UnknownModel(
            f"No provider answers for the model {model!r}. Known providers: {known}.",
            fix="Name provider and model, for example `openai:gpt-4o`, or use `local`.",
            model=model,
        )

    async def close(self) -> None:
        """Close every provider, each once."""
        providers = {id(each): each for each in self._providers.values()}
        if self._fallback is not None:
            providers[id(self._fallback)] = self._fallback
        for provider in providers.values():
            await provider.close()


class DirectGate:
    """Sends a request straight to the provider its model id names."""

    def __init__(
        self,
        providers: Mapping[str, Provider],
        *,
        fallback: Provider | None = None,
        files: FileModels | None = None,
        limits: TimeLimits | None = None,
        classifier: Classifier | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take providers by the part of the model id before the colon.

        `fallback` gets every id of the form `name:model` whose name is not listed. `files` says
        which models that are files may be asked.
        """
        self._routes = Routes(providers, fallback, files)
        self._limits = limits or TimeLimits()
        self._classifier = classifier or Classifier()
        self._clock = clock or SystemClock()

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Return the whole reply."""
        return await drain(self.stream(request))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written, ending with `Finished`."""
        provider = self._routes.provider_of(request.model)
        await before_leaving()
        total = self._limits.total_of(request)
        deadline = math.inf if total is None else asyncio.get_running_loop().time() + total
        answer = _Answer(self._clock.monotonic())
        async with aclosing(self._ask(provider, request, answer, deadline)) as chunks:
            async for chunk in chunks:
                yield chunk
        is_constrained = provider.constrains_json and request.json_schema is not None
        yield Finished(self._reply(answer, is_constrained=is_constrained))

    async def close(self) -> None:
        """Close every provider, each once."""
        await self._routes.close()

    async def _ask(
        self, provider: Provider, request: ModelRequest, answer: _Answer, deadline: float
    ) -> AsyncGenerator[TextChunk | Working]:
        """Run one provider call and turn whatever goes wrong into a provider error."""
        request.ending.is_answered = False
        inactivity = request.inactivity_seconds or self._limits.inactivity_seconds
        try:
            async with (
                aclosing(provider.stream(request)) as source,
                aclosing(_within(source, request.model, deadline, inactivity)) as chunks,
            ):
                async for chunk in chunks:
                    answer.take(chunk, self._clock.monotonic())
                    if isinstance(chunk, Ended):
                        request.ending.is_answered = True
                    else:
                        yield chunk
            _ending(answer)
        except Exception as error:
            failure = as_provider_error(
                error, model=request.model, partial=answer.text, classifier=self._classifier
            )
            if failure is error:
                raise
            raise failure from error

    def _reply(self, answer: _Answer, *, is_constrained: bool) -> ModelReply:
        ended, now = _ending(answer), self._clock.monotonic()
        first = answer.first_token
        speed = ended.tokens_per_second
        if speed is None and first is not None and now > first:
            speed = ended.usage.output_tokens / (now - first) or None
        return ModelReply(
            text=answer.text,
            model=ended.model,
            usage=ended.usage,
            finish_reason=ended.finish_reason,
            duration_ms=round((now - answer.started) * 1000),
            first_token_ms=None if first is None else round((first - answer.started) * 1000),
            tokens_per_second=speed,
            is_constrained=is_constrained,
        )


async def _within(
    chunks: AsyncIterator[ProviderChunk], model: str, deadline: float, inactivity_seconds: float
) -> AsyncGenerator[ProviderChunk]:
    """Pull chunk by chunk, so that a reader who pauses between two pulls is not timed out."""
    loop = asyncio.get_running_loop()
    while True:
        until = min(deadline, loop.time() + inactivity_seconds)
        scope = asyncio.timeout_at(until)
        try:
            async with scope:
                chunk = await anext(chunks, None)
        except TimeoutError:
            if not scope.expired():
                raise
            reason = "took too long" if until == deadline else "fell silent"
            raise ProviderTimeout(
                f"Model {model!r} {reason} and was given up.",
                fix="Retry the run, raise the time limits, or choose another model.",
            ) from None
        if chunk is None:
            return
        yield chunk


def _ending(answer: _Answer) -> Ended:
    if answer.ended is None:
        raise ConnectionResetError("The provider stopped in the middle of its answer.")
    return answer.ended
