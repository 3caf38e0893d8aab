"""SmartScaffold: the brief of one scene. Values, their stored shape and how they read."""

from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.codec import Coded

BACKGROUND: Final = "Background:"
NEW: Final = "New:"
FREE_FIELDS: Final = (
    "location",
    "time_of_day",
    "weather",
    "protagonist_constraint",
    "scene_goal",
    "conflict",
    "outcome",
    "emotional_note",
)
"""What a model may word."""

ESSENTIAL_FIELDS: Final = (
    "scaffold_id",
    "beat_alignment",
    "pov_character",
    "characters_present",
    "location",
    "callbacks",
    "foreshadowing",
    "protagonist_constraint",
    "scene_goal",
    "word_target",
)
"""What a model of the middle tier is shown."""


@dataclass(frozen=True, slots=True)
class SceneThread(Coded):
    """Something that ties scenes together: planted and owed, or still to come.

    `id` names it in the graph; `scene_id` is where it was planted, `beat_number` where it comes.
    """

    id: str
    name: str
    scene_id: str = ""
    beat_number: int | None = None

    def __str__(self) -> str:
        """Render as the writer reads it."""
        if self.scene_id:
            return f"{self.name} ({self.scene_id})"
        return self.name


@dataclass(frozen=True, slots=True)
class SmartScaffold(Coded):
    """The brief of one scene, complete."""

    scaffold_id: str
    title: str
    beat_alignment: str
    beat_number: int
    word_target: int
    pov_character: str
    characters_present: tuple[str, ...]
    location: str = ""
    time_of_day: str = ""
    weather: str = ""
    callbacks: tuple[SceneThread, ...] = ()
    foreshadowing: tuple[SceneThread, ...] = ()
    protagonist_constraint: str = ""
    scene_goal: str = ""
    conflict: str = ""
    outcome: str = ""
    emotional_note: str = ""
    summary: str = ""
    world_rules: tuple[str, ...] = ()
    flaw_challenge: bool = False
    health_notes: tuple[str, ...] = ()
    version: int = 1
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_approved: bool = False

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who act in it; those in the background do not."""
        return tuple(each for each in self.characters_present if not is_marked(each))

    def lines(self, *, essential: bool = False) -> tuple[str, ...]:
        """Return the scaffold as `name: value` lines; what is empty is left out."""
        names = ESSENTIAL_FIELDS if essential else _SHOWN
        found = ((name, _told(getattr(self, name))) for name in names)
        return tuple(f"{name.replace('_', ' ')}: {text}" for name, text in found if text)


_SHOWN: Final = (
    "scaffold_id",
    "title",
    "summary",
    "beat_alignment",
    "word_target",
    "pov_character",
    "characters_present",
    *FREE_FIELDS[:3],
    "callbacks",
    "foreshadowing",
    *FREE_FIELDS[3:],
    "world_rules",
    "flaw_challenge",
    "health_notes",
)


def is_marked(name: str) -> bool:
    """Say whether a name stands for somebody in the background or somebody new."""
    return name.startswith((BACKGROUND, NEW))


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, tuple):
        return "; ".join(map(str, cast("tuple[object, ...]", value)))
    return str(value)


@dataclass(frozen=True, slots=True)
class Person:
    """A character of the graph, as far as the scene is concerned."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    is_alive: bool = True

    def answers_to(self, name: str) -> bool:
        """Say whether a name means this person."""
        wanted = " ".join(name.split()).casefold()
        return wanted in (each.casefold() for each in (self.name, *self.aliases))


@dataclass(frozen=True, slots=True)
class TiedThread:
    """A thread, and the people it concerns (ids)."""

    thread: SceneThread
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeatNote:
    """A beat of the sheet."""

    number: int
    name: str
    content: str = ""
    midpoint_type: str = ""
    low_pct: float = 0
    high_pct: float = 100

    @property
    def place(self) -> str:
        """Where in the book it belongs."""
        low, high = f"{self.low_pct:g}", f"{self.high_pct:g}"
        return f"{low} %" if low == high else f"{low}-{high} %"

    @property
    def alignment(self) -> str:
        """How a scaffold names it."""
        if not self.midpoint_type:
            return self.name
        return f"{self.name} – {self.midpoint_type.replace('_', ' ')}"


@dataclass(frozen=True, slots=True)
class StoryView(Coded):
    """Everything a scaffold is derived from."""

    chapter: int
    scene: int
    title: str
    summary: str = ""
    planned_beat: int | None = None
    # Where the scene begins in the planned book, in percent.
    position_pct: float = 0
    word_target: int = 1500
    protagonist: str = ""
    flaw: str = ""
    lie: str = ""
    people: tuple[Person, ...] = ()
    locations: tuple[str, ...] = ()
    beats: tuple[BeatNote, ...] = ()
    # Planted earlier and not paid off, oldest first.
    owed: tuple[TiedThread, ...] = ()
    # To come in later beats, and not planted.
    coming: tuple[TiedThread, ...] = ()
    rules: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    previous_location: str = ""
    flaw_gap: int | None = None
    health_notes: tuple[str, ...] = ()
    research: tuple[str, ...] = ()

    def person(self, name: str) -> Person | None:
        """Return who is meant by a name."""
        return next((each for each in self.people if each.answers_to(name)), None)

    def beat(self, number: int) -> BeatNote | None:
        """Return a beat by its number."""
        return next((each for each in self.beats if each.number == number), None)
