"""Scene facts: what one scene says about when, where, in what state and with what. Values only."""

from collections.abc import Collection, Mapping
from itertools import combinations
from typing import Annotated, Final, Literal

from callboard.choreography.answers import Answer, Proven, Quote, at_most
from callboard.packs.writers_factory.health.timeline.statements import place_key
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView, is_in_scene

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


class StateSeen(Answer):
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


class ActSeen(Answer):
    """Somebody does or says something here and now."""

    character: str
    quote: Quote


class SceneFacts(Answer):
    """What a scene says that another scene can contradict."""

    story_time: str
    places: Annotated[tuple[Placed, ...], at_most(_MOST_ITEMS), Proven]
    states: Annotated[tuple[StateSeen, ...], at_most(_MOST_ITEMS), Proven]
    things: Annotated[tuple[Possession, ...], at_most(_MOST_ITEMS), Proven]
    acts: Annotated[tuple[ActSeen, ...], at_most(_MOST_ITEMS), Proven]

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


Pair = tuple[str, str]


def further_pairs(
    view: ManuscriptView,
    facts: Mapping[str, SceneFacts],
    inside: Collection[str],
    most: int,
    taken: Collection[Pair] = (),
) -> tuple[Pair, ...]:
    """Return pairs of scenes that share most, one of them in scope; near ones before far ones."""
    shared = {scene.scene_id: _entities(view, scene, facts) for scene in view.scenes}
    ranked: list[tuple[int, int, int, Pair]] = []
    for (at, one), (to, other) in combinations(enumerate(view.scenes), 2):
        pair = (one.scene_id, other.scene_id)
        if pair in taken or not (one.scene_id in inside or other.scene_id in inside):
            continue
        common = len(shared[one.scene_id] & shared[other.scene_id])
        if common:
            ranked.append((-common, to - at, at, pair))
    return tuple(pair for *_, pair in sorted(ranked)[:most])


def _entities(
    view: ManuscriptView, scene: SceneView, facts: Mapping[str, SceneFacts]
) -> frozenset[str]:
    people = {each.name for each in view.characters if is_in_scene(each, scene)}
    told = facts.get(scene.scene_id)
    things = {place_key(each.thing) for each in (told.things if told else ())}
    places = {place_key(scene.location)} if scene.location else set[str]()
    return frozenset(people | things | places)
