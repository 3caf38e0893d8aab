"""The words of Writers Factory: modes, templates, scenes. Values only, no rules."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from callboard.core.codec import Closed

PACK: Final = "writers_factory"
FOREMAN: Final = "foreman"
WRITER: Final = "writer"
JUDGE: Final = "judge"

SceneId = Annotated[
    str, Field(max_length=40, description="A scene, such as `ch4-sc2`.", examples=["ch4-sc2"])
]

ARCHITECT: Final = "ARCHITECT"
VOICE_CALIBRATION: Final = "VOICE_CALIBRATION"
DIRECTOR: Final = "DIRECTOR"
EDITOR: Final = "EDITOR"


class TemplateName(StrEnum):
    """The four templates of the Story Bible, in the order in which they are worked on."""

    PROTAGONIST = "protagonist"
    BEAT_SHEET = "beat_sheet"
    THEME = "theme"
    WORLD_RULES = "world_rules"


class TemplateStatus(StrEnum):
    """How far a template has come, computed from what it holds."""

    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"
    DRAFT_READY = "draft_ready"
    COMPLETE = "complete"


class SceneStatus(StrEnum):
    """How far a scene has come."""

    PLANNED = "planned"
    SCAFFOLDED = "scaffolded"
    VARIANTS_READY = "variants_ready"
    SELECTED = "selected"
    ANALYZED = "analyzed"
    ENHANCED = "enhanced"
    DRAFTED = "drafted"
    POLISHED = "polished"


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class PlannedScene(Closed):
    """A scene of the outline the writer approved."""

    chapter: int
    scene: int
    title: str
    beat_number: int | None = None
    summary: str = ""
    word_target: int | None = None

    @property
    def id(self) -> str:
        """How the scene is named everywhere: `ch4-sc2`."""
        return scene_id(self.chapter, self.scene)


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """A symbol in a scene, and what it does there."""

    name: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class SceneMeta:
    """What is known about a scene beside its text; it stands in the scene file's front matter."""

    scene_id: str
    chapter: int
    scene: int
    title: str = ""
    status: SceneStatus = SceneStatus.PLANNED
    word_count: int = 0
    tension: float | None = None
    story_time: str = ""
    location: str = ""
    characters: tuple[str, ...] = ()
    symbols: tuple[SymbolUse, ...] = ()
    beat_number: int | None = None
    pov: str = ""
    callbacks: tuple[str, ...] = ()
    foreshadowing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation that is found word for word in a scene."""

    scene_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check found in the manuscript."""

    check_id: str
    severity: Severity
    title: str
    recommendation: str = ""
    evidence: tuple[Evidence, ...] = ()
    entities: tuple[str, ...] = field(default=())
    # Which rule of the check found it; with the check and the entities it tells findings apart.
    rule: str = ""
    # The scenes it is about; empty where it is about the manuscript as a whole.
    scene_ids: tuple[str, ...] = ()
    # Whether a model found it, so that only a model can say that it is gone.
    is_judged: bool = False


def scene_id(chapter: int, scene: int) -> str:
    """Return how a scene is named."""
    return f"ch{chapter}-sc{scene}"
