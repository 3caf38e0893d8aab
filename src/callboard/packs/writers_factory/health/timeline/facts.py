"""Scene facts: what one scene says about when, where, in what state and with what.

Those that code finds by itself are read here, without any model: time and place from what is noted
with the scene; deaths and deeds from its prose.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Final, Literal

from callboard.choreography.answers import Answer, Proven, Quote, at_most
from callboard.library.story.text import Document
from callboard.packs.writers_factory.health.quotes import sentence_naming, sentences_of
from callboard.packs.writers_factory.health.timeline.statements import place_key
from callboard.packs.writers_factory.health.view import (
    CharacterView,
    ManuscriptView,
    SceneView,
    is_in_scene,
    mentions,
)

if TYPE_CHECKING:
    from callboard.library.story.facts.cast import Cast, Hit

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


_CERTAIN: Final = 0.9
_USING: Final = re.compile(
    r"\b(?:aim|cock|draw|drew|fir|grip|held|hold|lift|load|open|point|pull|rais|read|shot|slid|swung"
    r"|swing|took|take|turn|unlock|us|wield|wore|wear)(?:e|ed|es|ing|s|ned|ped)?\b",
    re.IGNORECASE,
)
_FINDING: Final = re.compile(
    r"\b(?:found|recovered|regained|retrieved|returned|bought|replaced|got back|gave back|new)\b",
    re.IGNORECASE,
)
_ABSENT: Final = re.compile(
    r"\b(?:no|without|lost|missing|gone|remember(?:ed|s)?|had|wished|if|missed|where)\b",
    re.IGNORECASE,
)


def read_scene(view: ManuscriptView, scene: SceneView, things: Sequence[str] = ()) -> SceneFacts:
    """Return what code finds in a scene; `things` are objects somebody has asked about."""
    deaths, acts = _lives(view.characters, scene)
    return SceneFacts(
        story_time=scene.story_time,
        places=tuple(_places(view, scene)),
        states=deaths,
        things=tuple(found for thing in things for found in _uses(scene, thing)),
        acts=acts,
    )


def is_proper_place(place: str, text: str) -> bool:
    """Say whether a place goes by a name of its own, as far as the text shows."""
    name = place.removeprefix("the ").removeprefix("The ").strip()
    return name[:1].isupper() and re.search(rf"(?<!\w){re.escape(name.lower())}", text) is None


def _places(view: ManuscriptView, scene: SceneView) -> Iterator[Placed]:
    if not scene.location.strip():
        return
    for character in view.characters:
        if is_in_scene(character, scene):
            names = (scene.location, scene.location.removeprefix("the ").removeprefix("The "))
            quote = sentence_naming(scene, names, character.names) or sentence_naming(
                scene, character.names
            )
            yield Placed(character=character.name, place=scene.location, quote=quote)


def _lives(
    characters: Sequence[CharacterView], scene: SceneView
) -> tuple[tuple[StateSeen, ...], tuple[ActSeen, ...]]:
    from callboard.library.story.facts.claims import Attribute
    from callboard.library.story.facts.deeds import deeds_of
    from callboard.library.story.facts.prose import read

    if not characters:
        return (), ()
    document = Document(f"{scene.scene_id}.md", scene.text)
    reading = read(document, _cast_of(characters))
    deaths = tuple(
        StateSeen(character=claim.entity, state="dead", detail="", quote=claim.quote.text)
        for claim in reading.claims()
        if claim.attribute is Attribute.DEATH
        and not claim.is_spoken
        and not claim.looks_back
        and claim.confidence >= _CERTAIN
    )
    everybody = frozenset(character.name for character in characters)
    acts: dict[str, ActSeen] = {}
    for deed in deeds_of(reading, everybody):
        acts.setdefault(deed.entity, ActSeen(character=deed.entity, quote=deed.quote.text))
    return deaths, tuple(acts.values())


def _cast_of(characters: Sequence[CharacterView]) -> "Cast":
    from callboard.library.story.facts.cast import Cast, Hit

    owners = {name: each.name for each in characters for name in each.names if name.strip()}
    longest_first = sorted(owners, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")

    def find_names(text: str) -> "Iterable[Hit]":
        for match in pattern.finditer(text):
            yield Hit(owners[match[0]], match.start(), match.end())

    return Cast(find_names)


def _uses(scene: SceneView, thing: str) -> Iterator[Possession]:
    if not mentions(scene.text, (thing,)):
        return
    for sentence in sentences_of(scene.text):
        if not mentions(sentence, (thing,)):
            continue
        if _FINDING.search(sentence):
            yield Possession(thing=thing, owner="", status="found", quote=sentence)
        elif _USING.search(sentence) and not _ABSENT.search(sentence):
            yield Possession(thing=thing, owner="", status="used", quote=sentence)
