"""Settings of conferences and of 1:1 chat: how long, how much, how many at once."""

from pydantic import Field

from callboard.core.settings.quantities import Bytes, Seconds
from callboard.core.settings.section import Section, restricted


class ConferenceSettings(Section):
    """How the rounds of a conference are held."""

    max_tool_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="Replies the Chief may give while it gathers evidence; then it must stop.",
        json_schema_extra=restricted("every reply is a call you pay for"),
    )
    max_tool_bytes_per_step: Bytes = Field(
        default=12_000, ge=200, description="Most that is shown of one tool's findings."
    )
    max_tool_bytes_per_round: Bytes = Field(
        default=48_000, ge=200, description="Most that is shown of all findings of a round."
    )
    max_parallel: int = Field(
        default=4, ge=1, le=1_000, description="Agents of a round that are asked at once."
    )
    agent_timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one agent's answer may take in a round."
    )


class ChatSettings(Section):
    """How one agent answers in a 1:1 chat."""

    max_tool_steps: int = Field(
        default=6,
        ge=1,
        le=100,
        description="Replies an agent may give while it uses tools; then it must answer.",
        json_schema_extra=restricted("every reply is a call you pay for"),
    )
    max_tool_bytes_per_step: Bytes = Field(
        default=8_000, ge=200, description="Most that is shown of one tool's findings."
    )
    max_tool_bytes_per_message: Bytes = Field(
        default=16_000, ge=200, description="Most that is shown of all findings for one message."
    )
    agent_timeout_seconds: Seconds = Field(
        default=120.0, gt=0, description="Longest time one answer may take."
    )
    max_exchanges: int = Field(
        default=40, ge=0, description="Latest exchanges an agent is reminded of."
    )
