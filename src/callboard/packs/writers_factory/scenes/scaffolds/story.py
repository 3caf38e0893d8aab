"""The story as one scene sees it: who lives, what is owed, what is to come. Values only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from callboard.core.canonical import Json, plain
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import Thread


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

    thread: Thread
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
class StoryView:
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

    def to_json(self) -> dict[str, Json]:
        """Return what a journal keeps of it."""
        return plain(asdict(self))

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "StoryView":
        """Read what a journal kept."""
        values = dict(stored)
        values["people"] = tuple(
            Person(each["id"], each["name"], tuple(each["aliases"]), each["is_alive"])
            for each in values["people"]
        )
        values["beats"] = tuple(BeatNote(**each) for each in values["beats"])
        for name in ("owed", "coming"):
            values[name] = tuple(
                TiedThread(Thread.from_json(each["thread"]), tuple(each["people"]))
                for each in values[name]
            )
        for name in ("locations", "rules", "corrections", "health_notes", "research"):
            values[name] = tuple(values[name])
        return cls(**values)
