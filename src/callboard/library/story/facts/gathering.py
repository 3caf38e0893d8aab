"""Gathering: the claims of a project's cards and scenes, read with one cast."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from callboard.library.story.facts.cards import card_claims
from callboard.library.story.facts.cast import Cast
from callboard.library.story.facts.casting import cast_of, narrator_of
from callboard.library.story.facts.claims import Claim
from callboard.library.story.facts.prose import Reading, is_first_person, read
from callboard.library.story.index import StoryIndex
from callboard.library.story.text import Document


class Gathering:
    """The claims of one project, as far as somebody asks for them."""

    def __init__(
        self, index: StoryIndex, most_chars: int, documents: Sequence[Document] = ()
    ) -> None:
        """Take the project and the texts at hand, which may tell who is "he" and who "she".

        Of all that is asked for, `most_chars` of prose are read: finding claims is slow.
        """
        self.index = index
        self._most_chars = self._left = most_chars
        self._cut: dict[str, int] = {}
        self.cast: Cast = cast_of(index, documents)
        self._owners = {entity.card: entity.name for entity in index.entities if entity.card}
        self._readings: dict[str, Reading] = {}
        self._claims: dict[str, tuple[Claim, ...]] = {}
        self._cards: dict[str, tuple[Claim, ...]] = {}

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

    def reading(self, document: Document) -> Reading:
        """Return a text with its names masked; text in another language makes no claims."""
        if document.path not in self._readings:
            narrator = narrator_of(self.index, document.path) if _says_i(document) else None
            self._readings[document.path] = self._read(document, narrator)
        return self._readings[document.path]

    def prose_claims(self, document: Document) -> tuple[Claim, ...]:
        """Return what a text claims."""
        if not document.is_english:
            return ()
        if document.path not in self._claims:
            self._claims[document.path] = self.reading(document).claims()
        return self._claims[document.path]

    def canon_claims(self, paths: Iterable[str]) -> list[Claim]:
        """Return what cards claim, in their fields and in their own prose."""
        claims: list[Claim] = []
        for path in paths:
            if path not in self._cards:
                self._cards[path] = tuple(self._card_claims(path))
            claims.extend(self._cards[path])
        return claims

    def _card_claims(self, path: str) -> Iterator[Claim]:
        document = self.index.document(path)
        yield from card_claims(document, self.owner(path), self._resolve)
        told = self._read(document).claims() if document.is_english else ()
        yield from (replace(claim, is_canon=True) for claim in told if not claim.is_spoken)

    def _read(self, document: Document, narrator: str | None = None) -> Reading:
        reading = read(document, self.cast, narrator=narrator, most_chars=self._left)
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


def _says_i(document: Document) -> bool:
    return document.is_english and is_first_person(document)
