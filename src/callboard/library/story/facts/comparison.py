"""Comparison: the claims of a project's cards and scenes, and which cannot both be true.

Only what has one value at a time is compared, and only values brought to a comparable form.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from callboard.library.story.facts.cards import card_claims, gathers_canon
from callboard.library.story.facts.cast import (
    Cast,
    cast_of,
    narrator_in,
    narrator_of,
)
from callboard.library.story.facts.claims import SINGLE_VALUED, Attribute, FactClaim
from callboard.library.story.facts.lives import ladders_of, opposite
from callboard.library.story.facts.prose import ProseReading, read
from callboard.library.story.index import StoryIndex
from callboard.library.story.model import Severity
from callboard.library.story.text import Document
from callboard.tools import Kept

_SHORT_CARD_WORDS: Final = 60
_FIRST_PERSON: Final = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]yself)\b")
# A line of a card that opens so: "Narrator. Actress.", "Role: first-person narrator".
_TELLS_IT: Final = re.compile(
    r"^(?:[-*] )?(?:[*_]*role[*_]*: ?[*_]*)?(?:the |first[- ]person |our )*narrator\b(?!['’])",
    re.IGNORECASE | re.MULTILINE,
)
# What was so in a remembered time need not be so now.
_PASSING: Final = frozenset({Attribute.AGE, Attribute.RANK, Attribute.HAIR, Attribute.HEIGHT})


class KeptReadings:
    """What was read of texts that did not change since, by a cast that did not change either."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self._read: WeakKeyDictionary[Document, tuple[object, ProseReading]] = WeakKeyDictionary()

    def get(self, document: Document, key: object) -> ProseReading | None:
        """Return what was read of a text under the same key."""
        with self._lock:
            kept = self._read.get(document)
        return kept[1] if kept is not None and kept[0] == key else None

    def put(self, document: Document, key: object, reading: ProseReading) -> None:
        """Keep what was read of a text as a whole."""
        if not reading.is_cut:
            with self._lock:
                self._read[document] = (key, reading)


class Gathering:
    """The claims of one project, as far as somebody asks for them."""

    def __init__(
        self,
        index: StoryIndex,
        most_chars: int,
        documents: Sequence[Document] = (),
        kept: Kept | None = None,
    ) -> None:
        """Take the project and the texts at hand, which may tell who is "he" and who "she".

        Of all that is asked for, `most_chars` of prose are read: finding claims is slow. What was
        read of a text before is kept as long as neither it nor the cast changes.
        """
        self.index = index
        self._most_chars = self._left = most_chars
        self._cut: dict[str, int] = {}
        self.cast: Cast = cast_of(index, documents)
        self._owners = {entity.card: entity.name for entity in index.entities if entity.card}
        self._readings: dict[str, ProseReading] = {}
        self._claims: dict[str, tuple[FactClaim, ...]] = {}
        self._kept = (kept or Kept()).get("story claims", KeptReadings)
        self._known_as = self.cast.fingerprint
        self._narrator = _narrator_on_card(index) or narrator_in(documents, self.cast)
        self._cards: dict[str, tuple[FactClaim, ...]] = {}

    @property
    def cut_short(self) -> tuple[str, ...]:
        """What was not read to its end, in words."""
        most = f"the {self._most_chars:,} characters one check looks for claims in"
        return tuple(
            f"{path}: longer than {most}; only the first {chars:,} were checked"
            if chars
            else f"{path}: not checked, other files were longer than {most}"
            for path, chars in sorted(self._cut.items())
        )

    def reading(self, document: Document) -> ProseReading:
        """Return a text with its names masked; text in another language makes no claims."""
        if document.path not in self._readings:
            narrator = narrator_of(self.index, document.path) or self._narrator
            if narrator is not None and not _says_i(document):
                narrator = None
            key = (self._known_as, narrator)
            kept = self._kept.get(document, key)
            if kept is None or kept.checked_chars > self._left:
                kept = self._read(document, narrator)
                self._kept.put(document, key, kept)
            else:
                self._left -= kept.checked_chars
            self._readings[document.path] = kept
        return self._readings[document.path]

    def prose_claims(self, document: Document) -> tuple[FactClaim, ...]:
        """Return what a text claims."""
        if not document.is_english:
            return ()
        if document.path not in self._claims:
            self._claims[document.path] = self.reading(document).claims()
        return self._claims[document.path]

    def likely_claims(self, document: Document) -> tuple[FactClaim, ...]:
        """Return what a text claims, with what it says of whoever is most likely meant."""
        return self.reading(document).likely_claims() if document.is_english else ()

    def canon_claims(self, paths: Iterable[str]) -> list[FactClaim]:
        """Return what cards claim, in their fields and in their own prose."""
        claims: list[FactClaim] = []
        for path in paths:
            if path not in self._cards:
                self._cards[path] = tuple(self._card_claims(path))
            claims.extend(self._cards[path])
        return claims

    def _card_claims(self, path: str) -> Iterator[FactClaim]:
        document = self.index.document(path)
        yield from card_claims(document, self.owner(path), self._resolve)
        owner = self.owner(path) if not gathers_canon(path) else None
        # A card may be too short to tell its language by.
        is_read = document.is_english or document.word_count < _SHORT_CARD_WORDS
        told = self._read(document, about=owner).claims() if is_read else ()
        yield from (replace(claim, is_canon=True) for claim in told if not claim.is_spoken)

    def _read(
        self, document: Document, narrator: str | None = None, about: str | None = None
    ) -> ProseReading:
        reading = read(document, self.cast, narrator=narrator, about=about, most_chars=self._left)
        checked = reading.checked_chars
        self._left = max(0, self._left - checked)
        if reading.is_cut:
            self._cut[document.path] = checked
        return reading

    def owner(self, path: str) -> str:
        """Return the entity a card is about."""
        return self._owners.get(path) or self.index.file(path).title

    def entities_in(self, document: Document) -> dict[str, int]:
        """Return the entities a text names, and how often."""
        found: dict[str, int] = {}
        for sentence in document.sentences:
            for hit in self.cast.find(sentence.text):
                if not self.cast.is_certain(hit.name):
                    continue
                found[hit.name] = found.get(hit.name, 0) + 1
        return found

    def _resolve(self, text: str) -> str | None:
        hits = self.index.entities.find(text)
        if hits:
            return hits[0].entity.name
        entity = self.index.entities.get(text)
        return entity.name if entity else None


def _narrator_on_card(index: StoryIndex) -> str | None:
    """Return whose card says that they tell the story, if one alone does."""
    told = [
        entity.name
        for entity in index.card_entities
        if entity.card and _TELLS_IT.search(index.document(entity.card).text)
    ]
    return told[0] if len(told) == 1 else None


def _says_i(document: Document) -> bool:
    """Say whether the narrator of a text says "I"."""
    if not document.is_english:
        return False
    narrated = [sentence.narration for sentence in document.sentences]
    with_i = sum(_FIRST_PERSON.search(text) is not None for text in narrated)
    return with_i >= 3 and with_i * 8 >= len([text for text in narrated if text.strip()])


@dataclass(frozen=True, slots=True)
class Leeway:
    """How far two numbers may lie apart before anybody minds."""

    # A birthday may lie between two scenes, or between the card and the scene.
    age_years: int = 1
    # Feet and inches round what centimetres say.
    height_cm: int = 5


@dataclass(frozen=True, slots=True)
class FactClash:
    """Two claims that cannot both be true; the earlier or the canon's comes first."""

    first: FactClaim
    second: FactClaim
    severity: Severity
    confidence: float


def oriented(claim: FactClaim) -> FactClaim:
    """Return a tie of kin seen from one fixed side, so that both sides of it can meet."""
    if claim.attribute is not Attribute.KIN or claim.other is None or claim.entity < claim.other:
        return claim
    return replace(claim, entity=claim.other, other=claim.entity, value=opposite(claim.value))


def is_comparable(claim: FactClaim) -> bool:
    """Say whether a claim has a form in which it can contradict another."""
    if claim.attribute not in SINGLE_VALUED:
        return False
    if claim.looks_back and claim.attribute in _PASSING:
        return False
    return bool(claim.value.families) or claim.value.is_range


def clash(first: FactClaim, second: FactClaim, leeway: Leeway) -> FactClash | None:
    """Return the contradiction between two claims of the same subject, if there is one."""
    if not (is_comparable(first) and is_comparable(second)):
        return None
    first, second = oriented(first), oriented(second)
    if first.subject != second.subject or do_agree(first, second, leeway):
        return None
    if first.attribute is Attribute.RANK and not _on_one_ladder(first, second):
        return None
    severity, confidence = _weight(first, second, leeway)
    weakest = min(confidence, first.confidence, second.confidence)
    return FactClash(first, second, severity, round(weakest, 2))


def do_agree(first: FactClaim, second: FactClaim, leeway: Leeway) -> bool:
    """Say whether two claims of one subject can both be true."""
    height = leeway.height_cm if first.attribute is Attribute.HEIGHT else 0
    return first.value.agrees_with(second.value, height)


def _on_one_ladder(first: FactClaim, second: FactClaim) -> bool:
    return bool(ladders_of(first.value.text) & ladders_of(second.value.text))


def _weight(first: FactClaim, second: FactClaim, leeway: Leeway) -> tuple[Severity, float]:
    if first.is_spoken or second.is_spoken or first.is_guess or second.is_guess:
        return Severity.MINOR, 0.5
    attribute = first.attribute
    if attribute is Attribute.ORIGIN:
        return Severity.MINOR, 0.5
    if attribute is Attribute.AGE and first.value.agrees_with(second.value, leeway.age_years):
        return Severity.MINOR, 0.5
    if attribute is Attribute.RANK and not first.is_canon:
        return Severity.MINOR, 0.6
    return Severity.MAJOR, 0.9
