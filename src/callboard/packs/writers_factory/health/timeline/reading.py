"""Reading: the facts of a scene that code finds by itself, without any model.

Time and place come from what is noted with the scene; deaths and deeds from its prose.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from callboard.library.story.text import Document
from callboard.packs.writers_factory.health.quotes import sentence_naming, sentences_of
from callboard.packs.writers_factory.health.timeline.facts import (
    ActSeen,
    Placed,
    Possession,
    SceneFacts,
    StateSeen,
)
from callboard.packs.writers_factory.health.view import (
    CharacterView,
    ManuscriptView,
    SceneView,
    is_in_scene,
    mentions,
)

if TYPE_CHECKING:
    from callboard.library.story.facts.cast import Cast, Hit

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
