"""Every model beyond this machine, through pydantic-ai's model layer. No HTTP of our own.

It makes exactly one attempt per call: retries belong to the gate. Keys come from the mapping it is
given, are never logged and are cut out of every error.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from callboard.core.classify import Classifier
from callboard.models.errors import MissingKey, UnknownModel
from callboard.models.providers.remote_errors import provider_error
from callboard.models.types import (
    Ended,
    ModelRequest,
    ProviderChunk,
    TextChunk,
    Usage,
    Working,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """How to reach a provider: a known one with its own address or key, or a new name.

    A name pydantic-ai does not know needs a `base_url` and speaks the OpenAI protocol.
    """

    base_url: str | None = None
    api_key_env: str | None = None


KEY_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY",),
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
}
"""Where each provider's key is looked for, in order; others find theirs by themselves."""

_NAMES: Final = {"google-gla": "google", "google-vertex": "google-cloud"}
_OWN_URL: Final = ("anthropic", "google", "mistral", "groq", "ollama")
"""Providers whose own protocol is spoken at a configured address; all others speak OpenAI's."""
_DEFAULT_URLS: Final = {"ollama": "http://localhost:11434/v1"}
_URL_VARIABLES: Final = {"openai": "OPENAI_BASE_URL", "ollama": "OLLAMA_BASE_URL"}


@dataclass(slots=True)
class _Connection:
    """One opened model and the key that must never show."""

    model: "Model"
    secret: str | None


class RemoteProvider:
    """Answers for `openai:…`, `anthropic:…`, `google-gla:…`, `ollama:…` and configured names."""

    constrains_json = False

    def __init__(
        self,
        environ: Mapping[str, str],
        configs: Mapping[str, ProviderConfig] | None = None,
        classifier: Classifier | None = None,
    ) -> None:
        """Take where keys are found and how providers are configured."""
        self._environ = environ
        self._configs = dict(configs or {})
        self._classifier = classifier or Classifier()
        self._connections: dict[str, _Connection] = {}
        self._open = AsyncExitStack()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield the reply as the provider sends it."""
        connection = await self._connect(request.model)
        try:
            messages, settings, parameters = _translate(request, connection.model)
            opened = connection.model.request_stream(messages, settings, parameters)
            async with opened as response:
                async for event in response:
                    yield _chunk(event)
                yield _ended(request, response)
        except Exception as error:  # noqa: BLE001 - the border to the SDKs: always raised anew
            failure = provider_error(error, request.model, connection.secret, self._classifier)
            # The original may quote the key back; then it must not travel along as the cause.
            is_leaking = connection.secret is not None and connection.secret in repr(error)
            raise failure from (None if is_leaking else error)

    async def close(self) -> None:
        """Close every HTTP client."""
        self._connections.clear()
        await self._open.aclose()

    async def _connect(self, model_id: str) -> _Connection:
        if model_id not in self._connections:
            # Off the loop: the first use imports a provider's whole SDK.
            connection = await asyncio.to_thread(self._build, model_id)
            if model_id not in self._connections:
                self._connections[model_id] = connection
                await self._open.enter_async_context(connection.model)
        return self._connections[model_id]

    def _build(self, model_id: str) -> _Connection:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        given, _, name = model_id.partition(":")
        known = _NAMES.get(given, given)
        config = self._configs.get(given, ProviderConfig())
        url = config.base_url or self._environ.get(_URL_VARIABLES.get(known, ""))
        url = url or _DEFAULT_URLS.get(known)
        secret = self._secret(known, config, is_required=url is None)
        kind = known if known in _OWN_URL or url is None else "openai-chat"
        try:
            model = infer_model(f"{kind}:{name}", lambda _: _provider(known, url, secret))
        except (UserError, ValueError, ImportError) as error:
            raise UnknownModel(
                f"The model {model_id!r} cannot be used: {error}",
                fix="Correct the model id, install what is missing, or configure `base_url`.",
                model=model_id,
            ) from error
        return _Connection(model, secret)

    def _secret(self, known: str, config: ProviderConfig, *, is_required: bool) -> str | None:
        names = (config.api_key_env,) if config.api_key_env else KEY_VARIABLES.get(known, ())
        for name in names:
            if self._environ.get(name):
                return self._environ[name]
        if names and (is_required or config.api_key_env):
            raise MissingKey(
                f"The provider {known!r} needs a key, and {names[0]} is not set.",
                fix=f"Set the environment variable {names[0]}, or use the model `local`.",
                variable=names[0],
            )
        return None


def _provider(known: str, url: str | None, secret: str | None) -> "Provider[Any]":
    from pydantic_ai.providers import infer_provider_class
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # Without a placeholder the SDK would send whatever key it finds in the environment.
    key = secret or "no-key"
    if url is not None and known not in _OWN_URL:
        return OpenAICompatibleProvider(known, base_url=url, api_key=key)
    options: dict[str, str] = {}
    if secret is not None or url is not None:
        options["api_key"] = key
    if url is not None:
        options["base_url"] = url
    return infer_provider_class(known)(**options)


def _translate(
    request: ModelRequest, model: "Model"
) -> "tuple[list[ModelMessage], ModelSettings, ModelRequestParameters]":
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(max_retries=0)
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.seed is not None:
        settings["seed"] = request.seed
    if request.stop:
        settings["stop_sequences"] = list(request.stop)
    parameters = ModelRequestParameters()
    if request.json_schema is not None:
        is_native = model.profile.get("supports_json_schema_output", False)
        parameters = ModelRequestParameters(
            output_mode="native" if is_native else "prompted",
            output_object=OutputObjectDefinition(dict(request.json_schema), name="reply"),
        )
    return _messages(request), settings, parameters


def _messages(request: ModelRequest) -> "list[ModelMessage]":
    from pydantic_ai import messages

    translated: list[messages.ModelMessage] = []
    for each in request.messages:
        if each.role == "assistant":
            translated.append(messages.ModelResponse([messages.TextPart(each.content)]))
            continue
        part = messages.SystemPromptPart if each.role == "system" else messages.UserPromptPart
        last = translated[-1] if translated else None
        if isinstance(last, messages.ModelRequest):
            last.parts = [*last.parts, part(each.content)]
        else:
            translated.append(messages.ModelRequest([part(each.content)]))
    return translated


def _chunk(event: "ModelResponseStreamEvent") -> ProviderChunk:
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    text = ""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        text = event.part.content
    elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        text = event.delta.content_delta
    return TextChunk(text) if text else Working("thinking")


def _ended(request: ModelRequest, response: "StreamedResponse") -> Ended:
    whole = response.get()
    # A finished answer closes with its reason or its bill; a stream that merely ends was cut off.
    is_closed = "finish_reason" in (whole.provider_details or {}) or whole.usage.output_tokens
    if whole.state != "complete" or not is_closed:
        raise ConnectionResetError("The provider stopped in the middle of its answer.")
    spent = whole.usage
    usage = Usage(spent.input_tokens, spent.output_tokens, spent.cache_read_tokens)
    return Ended(request.model, usage, whole.finish_reason or "stop")
