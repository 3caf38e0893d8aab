"""The session state: everything the Foreman may know at one moment, as plain values.

Nothing here reads a room or writes markup. What a mode or a tier is shown of it is decided in
`sizes` and `markup`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.health.values import Alert
from callboard.packs.writers_factory.memory.scenery import KnowledgeLine

GRAPH: Final = "graph"
ZERO_TOLERANCE: Final = "zero_tolerance"


@dataclass(frozen=True, slots=True)
class ProjectLine:
    """What book it is."""

    title: str = ""
    protagonist: str = ""
    genre: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class TemplateLine:
    """How far one template of the Story Bible has come."""

    name: str
    status: str
    completed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    # Why a filled field does not count as done yet, by field.
    open_checks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A turn of phrase the voice avoids."""

    pattern: str
    severity: str = ZERO_TOLERANCE


@dataclass(frozen=True, slots=True)
class VoiceLine:
    """How far the voice has been found."""

    locked: bool = False
    winning_agent: str = ""
    winning_strategy: str = ""
    voice_state: str = ""
    patterns: tuple[PatternLine, ...] = ()
    # Which of the five steps to a locked voice are done.
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BundleLine:
    """The voice bundle, with the excerpts a prompt may carry."""

    winning_passage_file: str = ""
    antipattern_file: str = ""
    evolution_file: str = ""
    voice_summary: str = ""
    gold_excerpt: str = ""
    antipattern_excerpt: str = ""
    # The summary for models with little room.
    one_line: str = ""


@dataclass(frozen=True, slots=True)
class SceneLine:
    """The scene that is worked on, while no scaffold of it is active."""

    scaffold_id: str = ""
    beat_alignment: str = ""
    pov_character: str = ""
    word_target: int | None = None
    callbacks: tuple[str, ...] = ()
    foreshadowing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """Something the writer wants remembered: `preference`, `correction` or `continuity`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class NotebookLine:
    """A research source that can be asked."""

    id: str
    role: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class OverrideLine:
    """A gate that was passed although something was unmet, at the writer's own risk."""

    left: str
    entered: str
    unmet: tuple[str, ...] = ()
    risk: str = ""


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """How much of the plan is drafted, and which scene is next."""

    planned: int = 0
    drafted: int = 0
    polished: int = 0
    next_scene: str = ""
    next_status: str = ""


@dataclass(frozen=True, slots=True)
class ForemanState:
    """Everything the Foreman may know at one moment."""

    mode: str
    # The sections the mode declares, and the template that holds its rules.
    sections: tuple[str, ...] = ()
    rules: str = ""
    completion_pct: int = 0
    project: ProjectLine = ProjectLine()
    templates: tuple[TemplateLine, ...] = ()
    # What the gate out of this mode still asks for.
    unmet: tuple[str, ...] = ()
    next_mode: str = ""
    active: Mapping[str, str] = field(default_factory=dict[str, str])
    voice: VoiceLine = VoiceLine()
    bundle: BundleLine | None = None
    scene: SceneLine | None = None
    scaffold: Mapping[str, Json] | None = None
    knowledge: tuple[KnowledgeLine, ...] = ()
    notebooks: tuple[NotebookLine, ...] = ()
    memory: tuple[MemoryLine, ...] = ()
    alerts: tuple[Alert, ...] = ()
    overrides: tuple[OverrideLine, ...] = ()
    outline: OutlineLine = OutlineLine()
