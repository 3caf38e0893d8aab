"""Tracing: where the house says what it is doing, for whoever wants to measure it.

A seam and its silent default; it knows no telemetry library. The names of attributes are those of
OpenTelemetry's conventions for generative AI, and where they have none, Callboard's own.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, Literal, Protocol

from callboard.core.errors import CallboardError

Attribute = str | bool | int | float | Sequence[str]
SpanKind = Literal["internal", "client"]

OPERATION: Final = "gen_ai.operation.name"
CONVERSATION: Final = "gen_ai.conversation.id"
WORKFLOW: Final = "gen_ai.workflow.name"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
ERROR_TYPE: Final = "error.type"
RUN: Final = "callboard.run.id"
STEP: Final = "callboard.step.key"
STEP_KIND: Final = "callboard.step.kind"
STEP_EFFECT: Final = "callboard.step.effect"


class Span(Protocol):
    """One piece of work while it is measured."""

    def set(self, name: str, value: Attribute) -> None:
        """Say something about the work."""
        ...

    def fail(self, error_type: str) -> None:
        """Say that the work failed, by a word and never by a message, which may hold content."""
        ...

    def end(self) -> None:
        """Stop the clock; only for a span that was begun, not for one used as a context."""
        ...


class Tracer(Protocol):
    """Makes spans."""

    @property
    def is_on(self) -> bool:
        """Whether anybody listens; if not, there is no need to say anything."""
        ...

    @property
    def shows_content(self) -> bool:
        """Whether prompts, replies and arguments may be said."""
        ...

    def span(self, name: str, attributes: Mapping[str, Attribute]) -> AbstractContextManager[Span]:
        """Measure a block; what is measured inside belongs to it. An exception fails it."""
        ...

    def begin(self, name: str, attributes: Mapping[str, Attribute], kind: SpanKind) -> Span:
        """Measure until `end` is called, for work that is not one block, like a stream."""
        ...

    async def close(self) -> None:
        """Send what has not been sent."""
        ...


class NoSpan:
    """A span that nobody looks at."""

    __slots__ = ()

    def set(self, name: str, value: Attribute) -> None:
        """Do nothing."""

    def fail(self, error_type: str) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""

    def __enter__(self) -> "NoSpan":
        """Do nothing."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Do nothing."""


class NoTracer:
    """Nobody listens."""

    is_on = False
    shows_content = False

    def __init__(self) -> None:
        """Make the one span that stands for all."""
        self._span = NoSpan()

    def span(self, name: str, attributes: Mapping[str, Attribute]) -> NoSpan:
        """Measure nothing."""
        return self._span

    def begin(self, name: str, attributes: Mapping[str, Attribute], kind: SpanKind) -> NoSpan:
        """Measure nothing."""
        return self._span

    async def close(self) -> None:
        """Have nothing to send."""


def error_type(error: BaseException) -> str:
    """Return the word for a failure: the code of an error of ours, else the name of its type."""
    if isinstance(error, CallboardError):
        return error.record().code
    return type(error).__name__
