"""TelemetryGate: a span around every model call. Says nothing of what was said, unless told to.

Put it near the provider: every attempt is then a span of its own.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from callboard.core.classify import status_of
from callboard.core.tracing import (
    CONVERSATION,
    OPERATION,
    RUN,
    STEP,
    Attribute,
    Span,
    Tracer,
    error_type,
)
from callboard.models.catalog import asked_model
from callboard.models.gate import Gate, WrapperGate
from callboard.models.types import Chunk, Finished, ModelReply, ModelRequest

AGENT: Final = "gen_ai.agent.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
OUTPUT_TYPE: Final = "gen_ai.output.type"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_SEED: Final = "gen_ai.request.seed"
REQUEST_STOP: Final = "gen_ai.request.stop_sequences"
REQUEST_STREAM: Final = "gen_ai.request.stream"
REQUEST_TEMPERATURE: Final = "gen_ai.request.temperature"
RESPONSE_MODEL: Final = "gen_ai.response.model"
STATUS: Final = "http.response.status_code"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
USAGE_CACHED: Final = "gen_ai.usage.cache_read.input_tokens"
USAGE_INPUT: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT: Final = "gen_ai.usage.output_tokens"
PROMPT: Final = "callboard.prompt.id"

# The conventions' own spelling of providers that we spell otherwise.
_PROVIDER_NAMES: Final = {
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}


class TelemetryGate(WrapperGate):
    """Measures every call that passes."""

    def __init__(self, inner: Gate, trace: Tracer) -> None:
        """Take the gate to wrap and who makes the spans."""
        super().__init__(inner)
        self._trace = trace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Yield the reply as it is written, measured from the first question to the last word."""
        name = _model_name(request.model)
        span = self._trace.begin(f"chat {name}", _asked(request), "client")
        is_finished = False
        try:
            if self._trace.shows_content:
                _show_prompt(span, request)
            async with aclosing(self.inner.stream(request)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Finished):
                        is_finished = True
                        self._answered(span, chunk.reply)
                    yield chunk
        except (GeneratorExit, asyncio.CancelledError):
            # A reader that leaves after the last word has everything it wanted.
            if not is_finished:
                span.fail("cancelled")
            raise
        except Exception as error:
            span.fail(error_type(error))
            status = status_of(error)
            if status is not None:
                span.set(STATUS, status)
            raise
        finally:
            span.end()

    def _answered(self, span: Span, reply: ModelReply) -> None:
        span.set(RESPONSE_MODEL, _model_name(reply.model))
        span.set(FINISH_REASONS, (reply.finish_reason,))
        span.set(USAGE_INPUT, reply.usage.input_tokens)
        span.set(USAGE_OUTPUT, reply.usage.output_tokens)
        span.set(USAGE_CACHED, reply.usage.cached_tokens)
        if reply.first_token_ms is not None:
            span.set(FIRST_CHUNK, reply.first_token_ms / 1000)
        if self._trace.shows_content:
            message = {**_message("assistant", reply.text), "finish_reason": reply.finish_reason}
            span.set(OUTPUT_MESSAGES, _text([message]))


def _asked(request: ModelRequest) -> dict[str, Attribute]:
    given = asked_model(request.model).partition(":")[0]
    said: dict[str, Attribute | None] = {
        OPERATION: "chat",
        PROVIDER: _PROVIDER_NAMES.get(given, given),
        REQUEST_MODEL: _model_name(request.model),
        REQUEST_STREAM: True,
        REQUEST_MAX_TOKENS: request.max_tokens,
        REQUEST_TEMPERATURE: request.temperature,
        REQUEST_SEED: request.seed,
        REQUEST_STOP: request.stop or None,
        OUTPUT_TYPE: "text" if request.json_schema is None else "json",
        CONVERSATION: request.session_id,
        AGENT: request.agent_id,
        RUN: request.run_id,
        STEP: request.step_key,
        PROMPT: request.prompt_id,
    }
    return {name: value for name, value in said.items() if value is not None}


def _show_prompt(span: Span, request: ModelRequest) -> None:
    system = [_part(each.content) for each in request.messages if each.role == "system"]
    if system:
        span.set(SYSTEM_INSTRUCTIONS, _text(system))
    others = [_message(m.role, m.content) for m in request.messages if m.role != "system"]
    span.set(INPUT_MESSAGES, _text(others))


def _message(role: str, content: str) -> dict[str, object]:
    return {"role": role, "parts": [_part(content)]}


def _part(content: str) -> dict[str, str]:
    return {"type": "text", "content": content}


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _model_name(model: str) -> str:
    """Return a model's name without its provider; some, like `local`, are both in one."""
    provider, _, name = asked_model(model).partition(":")
    return name or provider
