"""Scene facts: what one scene says about when, where, in what state and with what. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.core.canonical import Json

DEAD: Final = "dead"
LOST: Final = frozenset({"lost", "destroyed"})
HELD: Final = frozenset({"has", "used"})
FOUND: Final = "found"


@dataclass(frozen=True, slots=True)
class Placed:
    """Somebody is somewhere."""

    character: str
    place: str
    quote: str


@dataclass(frozen=True, slots=True)
class State:
    """Somebody is alive, dead, injured, or knows something."""

    character: str
    state: str
    quote: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Possession:
    """A thing is had, used, lost, destroyed or found again."""

    thing: str
    status: str
    quote: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """Somebody does or says something here and now."""

    character: str
    quote: str


@dataclass(frozen=True, slots=True)
class SceneFacts:
    """What a scene says that another scene can contradict."""

    scene_id: str
    story_time: str = ""
    places: tuple[Placed, ...] = ()
    states: tuple[State, ...] = ()
    things: tuple[Possession, ...] = ()
    acts: tuple[Act, ...] = ()

    def joined(self, other: "SceneFacts") -> "SceneFacts":
        """Return both readings of one scene; what this one says comes first."""
        return replace(
            self,
            story_time=self.story_time or other.story_time,
            places=(*self.places, *other.places),
            states=(*self.states, *other.states),
            things=(*self.things, *other.things),
            acts=(*self.acts, *other.acts),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "story_time": self.story_time,
            "places": [[p.character, p.place, p.quote] for p in self.places],
            "states": [[s.character, s.state, s.quote, s.detail] for s in self.states],
            "things": [[t.thing, t.status, t.quote, t.owner] for t in self.things],
            "acts": [[a.character, a.quote] for a in self.acts],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "SceneFacts":
        """Read the stored shape."""
        return cls(
            scene_id=data["scene_id"],
            story_time=data["story_time"],
            places=tuple(Placed(*row) for row in data["places"]),
            states=tuple(State(*row) for row in data["states"]),
            things=tuple(Possession(*row) for row in data["things"]),
            acts=tuple(Act(*row) for row in data["acts"]),
        )


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What a judge says of two scenes side by side."""

    verdict: str
    title: str = ""
    fix: str = ""
    first_quote: str = ""
    second_quote: str = ""

    @property
    def is_contradiction(self) -> bool:
        """Whether the two scenes cannot both stand, or hardly."""
        return self.verdict in ("doubtful", "impossible")

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "verdict": self.verdict,
            "title": self.title,
            "fix": self.fix,
            "quotes": [self.first_quote, self.second_quote],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "PairVerdict":
        """Read the stored shape."""
        quotes: Sequence[str] = data["quotes"]
        return cls(data["verdict"], data["title"], data["fix"], quotes[0], quotes[1])
