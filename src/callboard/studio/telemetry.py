"""OpenTelemetry behind the tracing seam. Nothing of it is imported unless spans are wanted."""

import asyncio
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from callboard import __version__
from callboard.core.settings.sections import TelemetrySettings
from callboard.core.tracing import (
    ERROR_TYPE,
    Attribute,
    NoTracer,
    Span,
    SpanKind,
    Tracer,
    error_type,
)

if TYPE_CHECKING:
    from opentelemetry import trace as otel

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_EXPORTER: Final = "opentelemetry.exporter.otlp.proto.{}.trace_exporter"
_log = logging.getLogger(__name__)


def open_tracer(settings: TelemetrySettings, environment: Mapping[str, str]) -> Tracer:
    """Return who makes spans: OpenTelemetry where it is wanted and installed, else nobody."""
    if not is_wanted(settings, environment):
        return NoTracer()
    try:
        provider, is_ours = _provider(environment)
    except ImportError as error:
        _log.warning(
            "Telemetry is on, but %s is not installed: `pip install 'callboard[otel]'`", error.name
        )
        return NoTracer()
    return OtelTracer(provider, shows_content=settings.content, owns_provider=is_ours)


def is_wanted(settings: TelemetrySettings, environment: Mapping[str, str]) -> bool:
    """Say whether spans are exported."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if settings.enabled is not None:
        return settings.enabled
    return any(environment.get(name) for name in _ENDPOINTS)


class OtelTracer:
    """Makes OpenTelemetry spans."""

    is_on = True

    def __init__(
        self,
        provider: "otel.TracerProvider",
        *,
        shows_content: bool = False,
        owns_provider: bool = False,
    ) -> None:
        """Take a tracer provider; one that is owned is shut down at the end."""
        from opentelemetry import trace

        self.shows_content = shows_content
        self._provider = provider
        self._owns_provider = owns_provider
        self._tracer = provider.get_tracer("callboard", __version__)
        self._kinds = {"internal": trace.SpanKind.INTERNAL, "client": trace.SpanKind.CLIENT}

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Attribute]) -> Generator[Span]:
        """Measure a block; what is measured inside belongs to it. An exception fails it."""
        with self._tracer.start_as_current_span(
            name,
            attributes=attributes,
            # Its message may hold content; the type is told below.
            record_exception=False,
            set_status_on_exception=False,
        ) as raw:
            span = OtelSpan(raw)
            try:
                yield span
            except BaseException as error:
                span.fail(error_type(error))
                raise

    def begin(self, name: str, attributes: Mapping[str, Attribute], kind: SpanKind) -> "OtelSpan":
        """Measure until `end` is called."""
        return OtelSpan(
            self._tracer.start_span(name, attributes=attributes, kind=self._kinds[kind])
        )

    async def close(self) -> None:
        """Send what has not been sent."""
        provider: Any = self._provider
        if self._owns_provider:
            # Off the loop: the collector may be slow or gone.
            await asyncio.to_thread(provider.shutdown)
        elif hasattr(provider, "force_flush"):
            await asyncio.to_thread(provider.force_flush)


class OtelSpan:
    """One OpenTelemetry span."""

    __slots__ = ("_raw",)

    def __init__(self, raw: "otel.Span") -> None:
        """Take a started span."""
        self._raw = raw

    def set(self, name: str, value: Attribute) -> None:
        """Say something about the work."""
        self._raw.set_attribute(name, value)

    def fail(self, error_type: str) -> None:
        """Say that the work failed."""
        from opentelemetry.trace import Status, StatusCode

        self._raw.set_attribute(ERROR_TYPE, error_type)
        self._raw.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        """Stop the clock."""
        self._raw.end()


def _provider(environment: Mapping[str, str]) -> "tuple[otel.TracerProvider, bool]":
    """Return the program's own provider if it has set one up, else one of ours."""
    from opentelemetry import trace

    existing = trace.get_tracer_provider()
    if not isinstance(existing, trace.ProxyTracerProvider):
        return existing, False
    protocol = next((environment[name] for name in _PROTOCOLS if environment.get(name)), "http")
    # Not among what Callboard needs: which exporter is installed is the user's choice.
    sdk: Any = import_module("opentelemetry.sdk.trace")
    export: Any = import_module("opentelemetry.sdk.trace.export")
    resources: Any = import_module("opentelemetry.sdk.resources")
    exporter: Any = import_module(_EXPORTER.format("grpc" if protocol == "grpc" else "http"))
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": "callboard"}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(export.BatchSpanProcessor(exporter.OTLPSpanExporter()))
    return provider, True
