"""Planning: the outline of scenes, proposed from the beat sheet."""

from callboard.packs.writers_factory.scenes.planning.proposal import (
    PlannedSize,
    ProposedScene,
    complete,
    outline_from_beats,
)
from callboard.packs.writers_factory.scenes.planning.run import propose_outline, read_proposal

__all__ = [
    "PlannedSize",
    "ProposedScene",
    "complete",
    "outline_from_beats",
    "propose_outline",
    "read_proposal",
]
