"""The provider `local`: SmolLM2-135M-Instruct in this process. No key, no account.

A schema is tightened first, so that a small model always comes to an end.

Schemas are enforced by llama.cpp while it decodes. Weights that are not here are fetched by
whatever it was given for that, once, when they are first needed; then no network is needed.

Every value the tightened schema allows, the original allows too. A tiny model caught in a loop
would otherwise fill an unlimited string or list until its token limit cuts the JSON in two.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, Protocol, cast

from callboard.core.errors import InvalidInput, ProviderError
from callboard.models.errors import PromptTooLong, SchemaRefused
from callboard.models.providers.llama import Llama, LlamaSettings, Waiting
from callboard.models.providers.weights import SMOLLM2, Progress, find_weights, require_weights
from callboard.models.types import Ended, ModelRequest, ProviderChunk, TextChunk, Usage, Working

_MAX_TEXT_CHARS: Final = 400
_MAX_ITEMS: Final = 6
_MAPS_OF_SCHEMAS: Final = ("properties", "$defs", "definitions")
_LISTS_OF_SCHEMAS: Final = ("anyOf", "oneOf", "prefixItems")
_SCHEMAS: Final = ("items",)
_OTHER_PROPERTY_RULES: Final = (
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "dependentRequired",
    "dependentSchemas",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
)
_TEXT_RULES: Final = ("maxLength", "pattern", "format", "enum", "const")


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with an upper limit on every string and list that has none."""
    result: dict[str, Any] = {key: _descend(key, value) for key, value in schema.items()}
    kinds = result.get("type")
    names = cast("list[str]", kinds) if isinstance(kinds, list) else [kinds]
    if "string" in names and not any(rule in result for rule in _TEXT_RULES):
        result["maxLength"] = max(_MAX_TEXT_CHARS, int(result.get("minLength", 0)))
    if "array" in names and "maxItems" not in result:
        known = len(result.get("prefixItems", ()))
        result["maxItems"] = max(_MAX_ITEMS, known, int(result.get("minItems", 0)))
    if "object" in names and _is_closable(result):
        result["additionalProperties"] = False
    return result


def _is_closable(schema: Mapping[str, Any]) -> bool:
    """Say whether the listed properties are all an object can ever need."""
    named = schema.get("properties", {})
    is_listed = bool(named) and all(name in named for name in schema.get("required", ()))
    return is_listed and not any(rule in schema for rule in _OTHER_PROPERTY_RULES)


def _descend(key: str, value: Any) -> Any:
    if key in _MAPS_OF_SCHEMAS and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return {name: _bounded_if_schema(each) for name, each in named.items()}
    if key in _LISTS_OF_SCHEMAS and isinstance(value, list):
        return [_bounded_if_schema(each) for each in cast("list[Any]", value)]
    return _bounded_if_schema(value) if key in _SCHEMAS else value


def _bounded_if_schema(value: Any) -> Any:
    return bounded(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


_DEFAULT_MAX_TOKENS: Final = 1000
_SAMPLING: Final[dict[str, Any]] = {
    "temperature": 0.2,
    "top_p": 0.9,
    # A model this small repeats itself; both samplers push it out of a loop.
    "repeat_penalty": 1.05,
    "dry_multiplier": 0.8,
}


_SIGN_SECONDS: Final = 5.0
_TOLD_PARTS: Final = 4
_MEGABYTE: Final = 1_000_000

_log = logging.getLogger(__name__)


class Fetch(Protocol):
    """Brings the weights into a folder and returns their path; blocks until they are there."""

    def __call__(self, directory: Path, *, on_progress: Progress) -> Path:
        """Fetch them."""
        ...


class LocalProvider:
    """Answers for `local` with the embedded model; loads it at the first request."""

    constrains_json = True

    def __init__(
        self, weights_dir: Path, settings: LlamaSettings | None = None, fetch: Fetch | None = None
    ) -> None:
        """Take the folder of the weights, and what fetches them if they are not in it."""
        self._folder = weights_dir
        self._fetch = fetch
        self._path: Path | None = None
        self._llama = Llama(lambda: self._path or require_weights(weights_dir), settings)

    async def _fetched(self, fetch: Fetch) -> AsyncGenerator[Working]:
        """See to it that the weights are here, with a sign of life now and then."""
        self._path = await asyncio.to_thread(find_weights, self._folder)
        if self._path is not None:
            return
        size = SMOLLM2.size_bytes
        _log.warning("Fetching the embedded model, %d MB, once.", size // _MEGABYTE)
        told = 0

        def show(arrived: int, total: int) -> None:
            nonlocal told
            part = arrived * _TOLD_PARTS // max(total, 1)
            if part > told:
                told = part
                _log.warning("  %d of %d MB", arrived // _MEGABYTE, total // _MEGABYTE)

        fetching = asyncio.ensure_future(asyncio.to_thread(fetch, self._folder, on_progress=show))
        while not fetching.done():
            yield Working("fetching the embedded model")
            await asyncio.wait({fetching}, timeout=_SIGN_SECONDS)
        self._path = fetching.result()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield the reply token by token."""
        if self._path is None and self._fetch is not None:
            async with aclosing(self._fetched(self._fetch)) as signs:
                async for sign in signs:
                    yield sign
        finish_reason, closing = "stop", dict[str, Any]()
        try:
            async with aclosing(self._llama.chat(_body(request))) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Waiting):
                        yield Working("waiting for a free slot")
                        continue
                    if "error" in chunk:
                        raise _failure(chunk["error"])
                    if "usage" in chunk:
                        closing = chunk
                    for choice in chunk.get("choices", ()):
                        finish_reason = choice.get("finish_reason") or finish_reason
                        text = choice["delta"].get("content")
                        yield TextChunk(text) if text else Working(_progress(chunk))
        except ValueError as error:
            # llama.cpp refuses a schema or message it cannot use before it starts.
            refusal = InvalidInput if request.json_schema is None else SchemaRefused
            raise refusal(
                f"The embedded model cannot serve this request: {error}",
                fix="Simplify the JSON schema, or choose another model for this agent.",
            ) from error
        yield _ended(request.model, closing, finish_reason)

    async def close(self) -> None:
        """Stop all work and free the model."""
        await self._llama.close()


def _body(request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = {
        **_SAMPLING,
        "messages": [{"role": each.role, "content": each.content} for each in request.messages],
        "max_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS,
        "stream": True,
        "stream_options": {"include_usage": True},
        # Progress chunks are what lets an abandoned request stop while it reads its prompt.
        "return_progress": True,
        "cache_prompt": True,
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.seed is not None:
        body["seed"] = request.seed
    if request.stop:
        body["stop"] = list(request.stop)
    if request.json_schema is not None:
        # What fits a schema is a choice: the likeliest one, not a throw of dice.
        if request.temperature is None:
            body["temperature"] = 0.0
        schema = {"name": "reply", "schema": bounded(request.json_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _progress(chunk: dict[str, Any]) -> str:
    progress = chunk.get("prompt_progress")
    return f"reading {progress['processed']} of {progress['total']} tokens" if progress else ""


def _failure(error: dict[str, Any]) -> ProviderError:
    message = str(error.get("message", error))
    if error.get("type") == "exceed_context_size_error":
        used, window = error.get("n_prompt_tokens"), error.get("n_ctx")
        return PromptTooLong(
            f"The prompt has {used} tokens, the embedded model takes {window}.",
            status=400,
            fix="Shorten the prompt, or choose a model with a larger window.",
        )
    return ProviderError(f"The embedded model failed: {message}", status=error.get("code"))


def _ended(model: str, closing: dict[str, Any], finish_reason: str) -> Ended:
    counts = closing.get("usage", {})
    cached = counts.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    usage = Usage(counts.get("prompt_tokens", 0), counts.get("completion_tokens", 0), cached)
    speed = closing.get("timings", {}).get("predicted_per_second") or None
    return Ended(model, usage, finish_reason, speed)
