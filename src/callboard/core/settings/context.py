"""Settings of context fitting: what a conversation keeps when it outgrows a model's window."""

from pydantic import Field

from callboard.core.settings.section import Section


class ContextSettings(Section):
    """How a conversation is fitted into a model's window."""

    reserve_tokens: int = Field(
        default=4096, ge=0, description="Tokens of the window kept free for the reply."
    )
    keep_last_turns: int = Field(
        default=4, ge=0, description="Latest turns that a selection must always hold."
    )
    min_relevance_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of what is relevant that a selection must hold; else it is summarised.",
    )
    summarise: bool = Field(
        default=True,
        description="Whether the model asked sums up what a selection would lose.",
    )
    recent_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of the room that the latest turns get beside a summary.",
    )
    summary_share: float = Field(
        default=0.25, gt=0, le=1, description="Share of the room that a summary may take."
    )
