"""Settings of telemetry: whether spans are made, and whether they may hold content."""

from pydantic import Field

from callboard.core.settings.section import Section, restricted


class TelemetrySettings(Section):
    """What is told to an OpenTelemetry collector."""

    enabled: bool | None = Field(
        default=None,
        description="Whether spans are exported; empty means: if OTEL_EXPORTER_OTLP_ENDPOINT or "
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set.",
        json_schema_extra=restricted("it decides what leaves this machine"),
    )
    content: bool = Field(
        default=False,
        description="Whether spans hold prompts, replies, tool arguments and results.",
        json_schema_extra=restricted("it decides what leaves this machine"),
    )
