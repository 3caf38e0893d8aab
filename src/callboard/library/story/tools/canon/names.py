"""Names of a scene against the cards: misspelt ones, and those nobody has a card for."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rapidfuzz.distance import OSA

from callboard.library.story.index import StoryEntity, StoryIndex
from callboard.library.story.index.names import count_names, is_given_name
from callboard.library.story.lexicon import word_list
from callboard.library.story.model import Quote
from callboard.library.story.text import Document, Sentence
from callboard.library.story.thresholds import CanonThresholds

_CAPITALISED: Final = re.compile(r"(?<![\w’'-])[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:-[^\W\d_]+)*")
_LOWER: Final = re.compile(r"(?<![\w’'-])[a-zà-öø-ÿ][^\W\d_]*")
_INFLECTIONS: Final = frozenset(re.findall(r"\w+", "s es n an ian ish ese ite y e i d r"))
_OPENS: Final = re.compile(r"(?:^|[.!?…:“\"‘«—–]\s*)$")


@dataclass(frozen=True, slots=True)
class NameVariant:
    """A word that is a canonical name but for a letter or two."""

    surface: str
    canonical: str
    distance: int
    count: int
    quotes: tuple[Quote, ...]
    card_quote: Quote

    @property
    def card(self) -> str:
        """The card of the name it is close to."""
        return self.card_quote.path


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name of the scene that has no card."""

    name: str
    kind: str
    count: int
    quote: Quote


class UnknownNames:
    """The capitalised words of one scene, told apart from known names."""

    def __init__(
        self,
        index: StoryIndex,
        document: Document,
        limits: CanonThresholds,
        small_words_of: Callable[[Document], frozenset[str]],
    ) -> None:
        """Take the scene; the whole project tells which words are ordinary."""
        self._small_words_of = small_words_of
        self._index = index
        self._document = document
        self._limits = limits

    def variants(self) -> list[NameVariant]:
        """Return the misspelt names, in the order of the scene."""
        found: list[NameVariant] = []
        for word, places in self._strangers.items():
            match = self._nearest(word, len(places))
            if match is not None:
                entity, name, distance = match
                quotes = tuple(self._document.quote(place) for place in places[:3])
                card_quote = self._card_quote(entity, name)
                found.append(NameVariant(word, name, distance, len(places), quotes, card_quote))
        return found

    def unknown(self, *, is_strict: bool, without: frozenset[str]) -> list[UnknownName]:
        """Return the names without a card; lenient asks for people named more than once."""
        found: dict[str, list[Sentence]] = {}
        kinds: dict[str, str] = {}
        for sentence in self._document.sentences:
            for hit in self._index.entities.find(sentence.text):
                if hit.entity.card is None and hit.surface not in without:
                    found.setdefault(hit.entity.name, []).append(sentence)
                    kinds[hit.entity.name] = hit.entity.kind
        if is_strict:
            found.update(self._single_names(without))
        least = 1 if is_strict else self._limits.lenient_occurrences
        return [
            UnknownName(name, kinds.get(name, "name"), len(places), self._document.quote(places[0]))
            for name, places in found.items()
            if len(places) >= least and (is_strict or kinds[name] != "location")
        ]

    def _single_names(self, without: frozenset[str]) -> dict[str, list[Sentence]]:
        """Return the names that are no entity yet: written inside a sentence, no known word."""
        found: dict[str, list[Sentence]] = {}
        for run in sorted(count_names(self._document).inside):
            name = " ".join(run)
            if name in without or not self._is_new(name):
                continue
            spelled = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            places = [each for each in self._document.sentences if spelled.search(each.text)]
            if places:
                found[name] = places
        return found

    def _is_new(self, name: str) -> bool:
        words = re.findall(r"[^\W\d_]+", name)
        known = {form for word in words for form in (word, word.removesuffix("s"))}
        if any(self._index.entities.get(form) for form in known) or self._index.entities.find(name):
            return False
        return not all(self._is_ordinary(word) or len(word) < 3 for word in words)

    @cached_property
    def _strangers(self) -> Mapping[str, list[Sentence]]:
        """Capitalised words that belong to no card's name and are no ordinary words."""
        found: dict[str, list[Sentence]] = {}
        for sentence in self._document.sentences:
            for word in self._free_words(sentence):
                found.setdefault(word, []).append(sentence)
        return {word: places for word, places in found.items() if not self._is_ordinary(word)}

    def _free_words(self, sentence: Sentence) -> Iterator[str]:
        text = sentence.text
        taken = [
            (hit.start, hit.end)
            for hit in self._index.entities.find(text)
            if hit.entity.card is not None or " " in hit.surface
        ]
        for match in _CAPITALISED.finditer(text):
            if any(start <= match.start() < end for start, end in taken):
                continue
            # A capital at the start says nothing of a word that also begins other sentences.
            if _OPENS.search(text[: match.start()]) and not self._is_name(match[0]):
                continue
            yield match[0]

    def _is_name(self, word: str) -> bool:
        return self._index.entities.get(word) is not None or word.lower() not in self._common

    def _is_ordinary(self, word: str) -> bool:
        lowered = word.lower()
        return (
            lowered in self._common
            or lowered in word_list("not_names")
            or lowered in word_list("stop_words")
            or word.isupper()
        )

    @cached_property
    def _common(self) -> frozenset[str]:
        """Words the project writes in small letters."""
        texts = [self._index.document(scene.path) for scene in self._index.scenes]
        return frozenset[str]().union(
            *(self._small_words_of(text) for text in (*texts, self._document))
        )

    def _nearest(self, word: str, count: int) -> tuple[StoryEntity, str, int] | None:
        best: tuple[int, str, StoryEntity] | None = None
        for name, entity in self._canonical.items():
            distance = self._distance(word, name)
            if distance and (best is None or (distance, name) < best[:2]):
                best = (distance, name, entity)
        if best is None or self._is_other_name(word, count, best[1]):
            return None
        return best[2], best[1], best[0]

    def _distance(self, word: str, name: str) -> int:
        """Return the letters two names differ by, 0 when they are too far apart or inflected."""
        is_long = min(len(word), len(name) - 1) >= self._limits.long_name_letters - 1
        cutoff = self._limits.long_name_edits if is_long else self._limits.edits
        if len(word) < self._limits.name_min_letters or _are_inflections(word, name):
            return 0
        distance = OSA.distance(word.lower(), name.lower(), score_cutoff=cutoff)
        if distance > cutoff or (word[0] != name[0] and (distance > 1 or len(name) < 5)):
            return 0
        return distance

    def _is_other_name(self, word: str, count: int, name: str) -> bool:
        if is_given_name(word):
            return True
        entity = self._index.entities.get(word)
        times = max(count, entity.occurrences if entity else 0)
        usual = sum(
            self._index.document(scene.path).word_counts.get(name.lower(), 0)
            for scene in self._index.scenes
        )
        return times > max(2, usual * self._limits.rare_share)

    def _card_quote(self, entity: StoryEntity, name: str) -> Quote:
        """Quote the first line of a card that bears the name, or its first line."""
        document = self._index.document(entity.card or "")
        spelled = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
        written = [n for n, line in enumerate(document.lines, start=1) if line.strip()]
        named = (n for n in written if spelled.search(document.lines[n - 1]))
        return document.quote(next(named, written[0] if written else 1))

    @cached_property
    def _canonical(self) -> Mapping[str, StoryEntity]:
        return {
            word: entity
            for entity in self._index.entities
            if entity.card is not None
            for alias in entity.aliases
            for word in re.findall(r"[^\W\d_]+", alias)
            if len(word) >= self._limits.name_min_letters
            and word[0].isupper()
            and word.lower() not in word_list("not_names")
        }


def small_words(document: Document) -> frozenset[str]:
    """Return the words a text writes in small letters."""
    return frozenset(_LOWER.findall(document.prose))


def _are_inflections(first: str, second: str) -> bool:
    short, long = sorted((first.lower(), second.lower()), key=len)
    if long.startswith(short) and long[len(short) :] in _INFLECTIONS:
        return True
    return (
        len(short) == len(long)
        and short[:-1] == long[:-1]
        and {short[-1], long[-1]} <= set("aeoiy")
    )
