"""The roster: fifteen roles, in the order in which their work is merged, and who may sleep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.choreography.loop import LoopRole

SHOWRUNNER: Final = "showrunner"

ROSTER: Final = (
    LoopRole("showrunner"),
    LoopRole("gatekeeper"),
    LoopRole("plotwright"),
    LoopRole("scene_smith"),
    LoopRole("lore_weaver"),
    LoopRole("codex_curator"),
    LoopRole("style_lead"),
    LoopRole("researcher", may_sleep=True, deferral="deferred:research"),
    LoopRole("art_director", may_sleep=True, deferral="deferred:art"),
    LoopRole("illustrator", may_sleep=True, deferral="deferred:art"),
    LoopRole("audio_director", may_sleep=True, deferral="deferred:audio"),
    LoopRole("audio_producer", may_sleep=True, deferral="deferred:audio"),
    LoopRole("translator", may_sleep=True, deferral="deferred:translation"),
    LoopRole("book_binder"),
    LoopRole("player_narrator"),
)
# How a role is written in the number of a unit it leads.
LETTERS: Final[Mapping[str, str]] = {
    "showrunner": "SR",
    "gatekeeper": "GK",
    "plotwright": "PW",
    "scene_smith": "SS",
    "lore_weaver": "LW",
    "codex_curator": "CC",
    "style_lead": "ST",
    "researcher": "RS",
    "art_director": "AD",
    "illustrator": "IL",
    "audio_director": "AU",
    "audio_producer": "AP",
    "translator": "TR",
    "book_binder": "BB",
    "player_narrator": "PN",
}


@dataclass(frozen=True, slots=True)
class QuestCast:
    """Who works on a book, with the project's own preferences."""

    overrides: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def showrunner(self) -> str:
        """The role that decides."""
        return SHOWRUNNER

    def roster(self) -> Sequence[LoopRole]:
        """Return every role, in the order in which their work is merged."""
        return ROSTER

    def override(self, step: str, role: str) -> str:
        """Return the role that the project prefers for a step or in place of a role."""
        return self.overrides.get(step) or self.overrides.get(role) or role
