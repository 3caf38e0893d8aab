"""Settings of the queue before the models: how many calls at once, and what the user may do."""

from typing import Annotated, Final

from pydantic import Field

from callboard.core.settings.section import Section

Slots = Annotated[int, Field(ge=1, le=10_000)]

# The embedded model answers two at a time; more would wait inside it, where nobody goes first.
_BUILT_IN: Final = {"local": 2}


class QueueSettings(Section):
    """How many model calls one process has under way at once."""

    global_limit: Slots = Field(default=64, description="Calls under way at once, in all.")
    provider_limit: Slots = Field(
        default=20, description="Calls under way at once to one provider."
    )
    provider_limits: dict[str, Slots] = Field(
        default_factory=dict, description="The same for single providers, by name."
    )
    session_limit: Slots = Field(
        default=10,
        description="Calls under way at once for one session; never holds the user's own back.",
    )
    user_preemption: bool = Field(
        default=True,
        description="Whether a call that can wait is interrupted when the user needs its slot.",
    )
    max_preemptions: int = Field(
        default=3, ge=0, description="How often one call may be interrupted for the user."
    )

    def limits_by_provider(self) -> dict[str, int]:
        """Return the limits of single providers, the embedded model's own among them."""
        return {**_BUILT_IN, **self.provider_limits}
