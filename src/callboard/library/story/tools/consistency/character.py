"""Character: the dead who act, and those who are in two places at once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.library.story.facts.claims import Attribute, FactClaim
from callboard.library.story.facts.comparison import Gathering
from callboard.library.story.facts.deeds import Deed, deeds_of
from callboard.library.story.facts.grammar import ENTITY, tells_change
from callboard.library.story.facts.values import has_clock
from callboard.library.story.model import Quote, Severity, StoryFinding
from callboard.library.story.text import Document
from callboard.library.story.tools.consistency.timeline import CheckedScene, place_quote, when_quote
from callboard.library.story.tools.report import make_finding

TOOL: Final = "consistency_checker"
# Where the narrator shows to know of the death, what follows is memory or worse.
_KNOWN_DEAD: Final = re.compile(
    rf"(?P<who>{ENTITY})['’]s? (?:death|funeral|grave|burial|body|corpse|ghost|spirit|murder|killer"
    rf"|memory|last words)\b|\b(?:death|murder|funeral|grave|burial|body|ghost|loss|memory) of "
    rf"(?:[a-z]+ ){{0,2}}(?P<whom>{ENTITY})|\b(?:late|dead) (?P<late>{ENTITY})"
)


@dataclass(frozen=True, slots=True)
class _Death:
    claim: FactClaim
    scene: CheckedScene


def find_dead_who_act(
    scenes: Sequence[CheckedScene], gathering: Gathering
) -> Iterator[StoryFinding]:
    """Yield everybody who dies in one scene and acts or speaks in a later one."""
    deaths: dict[str, _Death] = {}
    told: set[str] = set()
    for scene in scenes:
        if not scene.document.is_english:
            continue
        living = frozenset(
            name
            for name, death in deaths.items()
            if name not in told and _is_after(scene, death.scene)
        )
        if living and not scene.is_flashback:
            for name, deed in first_deeds(scene.document, gathering, living).items():
                told.add(name)
                yield _finding(deaths[name], scene, deed, gathering)
        for claim in _deaths_in(scene, gathering):
            known = deaths.get(claim.entity)
            if known is None or (known.claim.is_spoken and not claim.is_spoken):
                deaths[claim.entity] = _Death(claim, scene)


def _deaths_in(scene: CheckedScene, gathering: Gathering) -> list[FactClaim]:
    """Return the deaths a scene tells and does not take back before it ends."""
    dead = [
        claim
        for claim in gathering.prose_claims(scene.document)
        if claim.attribute is Attribute.DEATH and not (claim.looks_back and claim.is_spoken)
    ]
    if not dead:
        return []
    reading = gathering.reading(scene.document)
    last: dict[str, int] = {}
    for deed in deeds_of(reading, frozenset(claim.entity for claim in dead)):
        last[deed.entity] = deed.quote.line_start
    return [claim for claim in dead if last.get(claim.entity, 0) <= claim.quote.line_end]


def _is_after(scene: CheckedScene, death: CheckedScene) -> bool:
    """Say whether a later scene does not play before the death, as far as both say when."""
    if scene.day is None or death.day is None:
        return True
    compared = scene.day.date.compared_with(death.day.date)
    return compared is None or compared >= 0


def first_deeds(
    document: Document, gathering: Gathering, names: frozenset[str]
) -> dict[str, tuple[Deed, int]]:
    """Return the first deed of each and how many there are; speech weighs most and goes first."""
    reading = gathering.reading(document)
    remembered: dict[str, int] = {}
    for index, told in enumerate(reading.told):
        for match in _KNOWN_DEAD.finditer(told.text):
            sign = match["who"] or match["whom"] or match["late"]
            entity = told.narration.mentions[told.narration.number_at(sign)].entity
            remembered.setdefault(entity, index)
    found: dict[str, list[Deed]] = {}
    for deed in deeds_of(reading, names):
        if deed.index <= remembered.get(deed.entity, deed.index):
            found.setdefault(deed.entity, []).append(deed)
    return {
        name: (next((deed for deed in deeds if deed.is_speech), deeds[0]), len(deeds))
        for name, deeds in found.items()
    }


def _finding(
    death: _Death, scene: CheckedScene, deeds: tuple[Deed, int], gathering: Gathering
) -> StoryFinding:
    deed, count = deeds
    name = death.claim.entity
    does = "speaks" if deed.is_speech else "acts"
    reading = gathering.reading(scene.document)
    before = " ".join(each.sentence.text for each in reading.told[: deed.index + 1])
    if _is_back(before, gathering, name):
        return make_finding(
            TOOL,
            "Character",
            Severity.INFO,
            f"{name} dies and later {does}; the text speaks of a return.",
            (death.claim.quote, deed.quote),
            confidence=0.5,
        )
    severity, confidence = _weight(death.claim, deed, count)
    return make_finding(
        TOOL,
        "Character",
        severity,
        f"{name} dies in {death.scene.file.title} and {does} in {scene.file.title}.",
        (death.claim.quote, deed.quote),
        suggestion=f"Let somebody else act here, undo the death, or mark {scene.file.path} with "
        "`flashback: true`.",
        confidence=confidence,
    )


def _is_back(text: str, gathering: Gathering, name: str) -> bool:
    names = gathering.cast.names.get(name, frozenset[str]()) | {name}
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return any(
        tells_change(sentence, "death") and any(each in sentence for each in names)
        for sentence in sentences
    )


def _weight(death: FactClaim, deed: Deed, count: int) -> tuple[Severity, float]:
    if death.is_spoken:
        return Severity.MINOR, 0.4
    if death.confidence < 0.6:
        return Severity.MINOR, 0.5
    if deed.is_speech:
        return Severity.MAJOR, 0.85
    return (Severity.MAJOR, 0.7) if count > 1 else (Severity.MINOR, 0.5)


def find_two_places(scenes: Sequence[CheckedScene], gathering: Gathering) -> Iterator[StoryFinding]:
    """Yield who is in two places at one and the same `when`."""
    for at, first in enumerate(scenes):
        for second in scenes[at + 1 :]:
            if not _same_time(first, second) or not _other_place(first, second, gathering):
                continue
            both = _present(first, gathering) & _present(second, gathering)
            quotes = _quotes(first, second)
            if not both or quotes is None:
                continue
            names = ", ".join(sorted(both))
            exact = has_clock(first.file.when or "")
            yield make_finding(
                TOOL,
                "Character",
                Severity.MAJOR if exact else Severity.INFO,
                f"{names}: at {first.file.location} and at {second.file.location}, both "
                f"{first.file.when}.",
                quotes,
                suggestion="Move one of the scenes in time, or leave them out of it.",
                confidence=0.8 if exact else 0.4,
            )


def _same_time(first: CheckedScene, second: CheckedScene) -> bool:
    one, other = first.file.when, second.file.when
    return one is not None and other is not None and _plain(one) == _plain(other)


def _other_place(first: CheckedScene, second: CheckedScene, gathering: Gathering) -> bool:
    one, other = first.file.location, second.file.location
    if not one or not other:
        return False
    if set(_plain(one).split()) & set(_plain(other).split()) - {"the", "of", "in", "at"}:
        return False
    entities = gathering.index.entities
    card = entities.get(one) or entities.get(other)
    if card is None or card.card is None:
        return True
    # A place whose card names the other is in it or around it.
    text = gathering.index.document(card.card).text.lower()
    return not (one.lower() in text and other.lower() in text)


def _present(scene: CheckedScene, gathering: Gathering) -> set[str]:
    names = [*scene.file.characters, *((scene.file.pov,) if scene.file.pov else ())]
    return {gathering.index.entities.canonical(name) for name in names}


def _quotes(first: CheckedScene, second: CheckedScene) -> tuple[Quote, ...] | None:
    found = [place_quote(first), when_quote(first), place_quote(second), when_quote(second)]
    told = tuple(quote for quote in found if quote is not None)
    return told if len(told) == 4 else None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
