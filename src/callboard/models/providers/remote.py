"""Every model beyond this machine, through pydantic-ai's model layer. No HTTP of our own.

It makes exactly one attempt per call: retries belong to the gate. Keys come from the `KeySource` it
is given, are never logged and are cut out of every error.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError
from callboard.models.credentials import EnvironmentKeys, KeySource, Secret, Ties
from callboard.models.errors import UnknownModel
from callboard.models.providers.address import ProviderConfig, locate
from callboard.models.providers.wire import WireLog, provider_error, quotes_key
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
    from pydantic_ai.settings import ModelSettings

_REFUSALS: Final = (401, 403)


@dataclass(slots=True, eq=False)
class _Connection:
    """One opened model, its id without alias, and the key that must never show."""

    id: str
    model: "Model"
    secret: Secret | None
    client: AsyncExitStack = field(default_factory=AsyncExitStack)
    calls: int = 0


class RemoteProvider:
    """Answers for `openai:…`, `anthropic:…`, `google-gla:…`, `ollama:…` and configured names."""

    constrains_json = False

    def __init__(
        self,
        environ: Mapping[str, str],
        configs: Mapping[str, ProviderConfig] | None = None,
        classifier: Classifier | None = None,
        keys: KeySource | None = None,
        ties: Ties | None = None,
    ) -> None:
        """Take the environment and how providers are configured.

        Without `keys`, keys are looked for in the environment and nowhere else. `ties` say which
        key may go to an address that is not its provider's.
        """
        self._ties = ties or Ties()
        self._environ = environ
        self._keys = keys or EnvironmentKeys(environ)
        self._configs = dict(configs or {})
        self._classifier = classifier or Classifier()
        self._connections: dict[str, _Connection] = {}
        self._connecting = asyncio.Lock()
        # By provider as it is named; so that all calls of one agree on whose allowance they use.
        self._found: dict[str, Secret | None] = {}
        self._finding = asyncio.Lock()
        # Refused with their key, and open as long as another call still uses them.
        self._given_up: list[_Connection] = []
        self._wire_log = WireLog()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Yield the reply as the provider sends it."""
        connection = await self._connect(request.model)
        connection.calls += 1
        try:
            messages, settings, parameters = _translate(request, connection.model)
            opened = connection.model.request_stream(messages, settings, parameters)
            async with opened as response:
                async for event in response:
                    yield _chunk(event)
                yield _ended(connection.id, response)
            return
        except Exception as error:  # noqa: BLE001 - the border to the SDKs: always raised anew
            failure = provider_error(error, request.model, connection.secret, self._classifier)
            # The original may quote the key back; then it must not travel along as the cause.
            is_ours = failure is error or quotes_key(error, connection.secret)
            cause = None if is_ours else error
            if status_of(failure) in _REFUSALS:
                self._give_up(request.model, connection)
        finally:
            connection.calls -= 1
            await self._close_unused(connection)
        # Outside of the handler, which would attach the original whether wanted or not.
        raise failure from cause

    async def key_of(self, model_id: str) -> Secret | None:
        """Return the key a model will be asked with; what cannot be asked has none."""
        given = model_id.partition(":")[0]
        if given not in self._found:
            async with self._finding:
                if given not in self._found:
                    # Off the loop: a keyring may take its time.
                    self._found[given] = await asyncio.to_thread(self._find_key, given)
        return self._found[given]

    async def close(self) -> None:
        """Close every HTTP client."""
        for connection in [*self._connections.values(), *self._given_up]:
            await connection.client.aclose()
        self._connections.clear()
        self._given_up.clear()
        self._wire_log.release()

    def _give_up(self, model_id: str, connection: _Connection) -> None:
        # The user may store another key while this process goes on.
        if self._connections.get(model_id) is connection:
            del self._connections[model_id]
            self._found.pop(model_id.partition(":")[0], None)
            self._given_up.append(connection)

    async def _close_unused(self, connection: _Connection) -> None:
        if connection in self._given_up and not connection.calls:
            self._given_up.remove(connection)
            await connection.client.aclose()

    def _find_key(self, given: str) -> Secret | None:
        try:
            config = self._configs.get(given, ProviderConfig())
            return locate(given, config, self._environ).find_key(self._keys, self._ties)
        except CallboardError:
            # The call itself says what is missing; until then it waits in the line without a key.
            return None

    async def _connect(self, model_id: str) -> _Connection:
        known = self._connections.get(model_id)
        if known is not None:
            return known
        # One at a time: a client is dear to build, and all callers of a model share one.
        async with self._connecting:
            if model_id not in self._connections:
                # Off the loop: the first use imports a provider's whole SDK.
                connection = await asyncio.to_thread(self._build, model_id)
                await connection.client.enter_async_context(connection.model)
                self._connections[model_id] = connection
            return self._connections[model_id]

    def _build(self, model_id: str) -> _Connection:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model

        given, _, name = model_id.partition(":")
        config = self._configs.get(given, ProviderConfig())
        address = locate(given, config, self._environ)
        secret = address.find_key(self._keys, self._ties)
        name = config.aliases.get(name, name)
        try:
            model = infer_model(f"{address.kind}:{name}", lambda _: address.open(secret))
        except (UserError, ValueError, ImportError) as error:
            raise UnknownModel(
                f"The model {model_id!r} cannot be used: {error}",
                fix="Correct the model id, install what is missing, or configure `base_url`.",
                model=model_id,
            ) from error
        self._wire_log.watch(secret)
        return _Connection(f"{given}:{name}", model, secret)


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


def _ended(model_id: str, response: "StreamedResponse") -> Ended:
    whole = response.get()
    # A finished answer closes with its reason or its bill; a stream that merely ends was cut off.
    is_closed = "finish_reason" in (whole.provider_details or {}) or whole.usage.output_tokens
    if whole.state != "complete" or not is_closed:
        raise ConnectionResetError("The provider stopped in the middle of its answer.")
    spent = whole.usage
    usage = Usage(spent.input_tokens, spent.output_tokens, spent.cache_read_tokens)
    return Ended(model_id, usage, whole.finish_reason or "stop")
