"""What Control Room's roles rest their words on: the rules of evidence, and what a file is."""

from pathlib import Path
from typing import Final

from callboard.choreography.grounding import Grounding, KindOf
from callboard.library.story.index import story_index
from callboard.replies.evidence import EvidenceRules
from callboard.studio.studio import Studio

PACK: Final = "control_room"
FOLDER: Final = Path(__file__).parent


def grounding(_studio: Studio | None = None) -> Grounding:
    """Return the rules with the eyes that tell a scene from a card."""
    return Grounding(EvidenceRules.load(FOLDER / "evidence.yaml"), _kinds)


def _kinds(studio: Studio) -> KindOf:
    def kind_of(path: str) -> str:
        return story_index(studio.tools.context("")).kind_of(path).value

    return kind_of
