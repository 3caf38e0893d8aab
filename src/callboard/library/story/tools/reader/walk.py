"""The walk: a reader goes through the scenes once and carries along what was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json
from callboard.library.story.tools.reader.people import Appearance, Cast
from callboard.library.story.tools.reader.questions import Asked


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """What the reader has of one name after the last scene."""

    name: str
    kind: str
    first_scene: int
    last_scene: int
    times: int

    def to_json(self) -> dict[str, Json]:
        """Return the shape payloads hold; scenes are counted from 0."""
        return {
            "name": self.name,
            "kind": self.kind,
            "first_scene": self.first_scene,
            "last_scene": self.last_scene,
            "times": self.times,
        }


@dataclass(frozen=True, slots=True)
class State:
    """The reader after one scene."""

    path: str
    title: str
    new_names: tuple[str, ...]
    present: tuple[str, ...]
    known_names: int
    questions_asked: int
    questions_open: int
    # None where the language has no lexicon.
    sentiment: float | None
    tension: float | None

    def to_json(self) -> dict[str, Any]:
        """Return the shape payloads hold."""
        return {
            "path": self.path,
            "title": self.title,
            "new_names": list(self.new_names),
            "present": list(self.present),
            "known_names": self.known_names,
            "questions_asked": self.questions_asked,
            "questions_open": self.questions_open,
            "sentiment": None if self.sentiment is None else round(self.sentiment, 3),
            "tension": None if self.tension is None else round(self.tension, 1),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the scene that takes it up, if one does."""

    asked: Asked
    taken_up: int | None

    def is_open_after(self, scene: int) -> bool:
        """Say whether the reader still carries it after a scene."""
        if self.asked.scene > scene:
            return False
        return self.taken_up is None or self.taken_up > scene


def acquaintances(casts: Sequence[Cast]) -> tuple[Acquaintance, ...]:
    """Return everybody the reader has met, the most named first."""
    met: dict[str, list[tuple[int, Appearance]]] = {}
    for scene, cast in enumerate(casts):
        for name, appearance in cast.appearances.items():
            met.setdefault(name, []).append((scene, appearance))
    found = [
        Acquaintance(
            name,
            seen[0][1].named.kind,
            seen[0][0],
            seen[-1][0],
            sum(appearance.times for _, appearance in seen),
        )
        for name, seen in met.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each.times, each.name)))


def states_of(
    casts: Sequence[Cast],
    questions: Sequence[Question],
    moods: Mapping[int, tuple[float, float]],
) -> tuple[State, ...]:
    """Walk the scenes; `moods` gives sentiment and tension of those that could be measured."""
    known: set[str] = set()
    states: list[State] = []
    for scene, cast in enumerate(casts):
        new = [name for name in cast.appearances if name not in known]
        known.update(cast.appearances)
        sentiment, tension = moods.get(scene, (None, None))
        states.append(
            State(
                cast.document.path,
                cast.title,
                tuple(sorted(new, key=lambda name: (cast.appearances[name].sentences[0], name))),
                tuple(sorted(cast.appearances)),
                len(known),
                sum(each.asked.scene == scene for each in questions),
                sum(each.is_open_after(scene) for each in questions),
                sentiment,
                tension,
            )
        )
    return tuple(states)
