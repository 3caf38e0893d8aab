"""Scene facts: what one scene says about when, where, in what state and with what. Values only."""

from typing import Annotated, Final, Literal

from callboard.choreography.answers import Answer, Proven, Quote, at_most

DEAD: Final = "dead"
LOST: Final = frozenset({"lost", "destroyed"})
HELD: Final = frozenset({"has", "used"})
FOUND: Final = "found"
_MOST_ITEMS: Final = 20


class Placed(Answer):
    """Somebody is somewhere."""

    character: str
    place: str
    quote: Quote


class State(Answer):
    """Somebody is alive, dead, injured, or knows something."""

    character: str
    state: Literal["alive", "dead", "injured", "knows"]
    detail: str
    quote: Quote


class Possession(Answer):
    """A thing is had, used, lost, destroyed or found again."""

    thing: str
    owner: str
    status: Literal["has", "used", "lost", "destroyed", "found"]
    quote: Quote


class Act(Answer):
    """Somebody does or says something here and now."""

    character: str
    quote: Quote


class SceneFacts(Answer):
    """What a scene says that another scene can contradict."""

    story_time: str
    places: Annotated[tuple[Placed, ...], at_most(_MOST_ITEMS), Proven]
    states: Annotated[tuple[State, ...], at_most(_MOST_ITEMS), Proven]
    things: Annotated[tuple[Possession, ...], at_most(_MOST_ITEMS), Proven]
    acts: Annotated[tuple[Act, ...], at_most(_MOST_ITEMS), Proven]

    def joined(self, other: "SceneFacts") -> "SceneFacts":
        """Return both readings of one scene; what this one says comes first."""
        return SceneFacts.model_construct(
            story_time=self.story_time or other.story_time,
            places=(*self.places, *other.places),
            states=(*self.states, *other.states),
            things=(*self.things, *other.things),
            acts=(*self.acts, *other.acts),
        )


class PairVerdict(Answer):
    """What a judge says of two scenes side by side."""

    verdict: Literal["none", "doubtful", "impossible"]
    title: str
    fix: str
    first_quote: Quote
    second_quote: Quote

    @property
    def is_contradiction(self) -> bool:
        """Whether the two scenes cannot both stand, or hardly."""
        return self.verdict != "none"
