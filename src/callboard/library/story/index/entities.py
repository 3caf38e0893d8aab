"""Entities: who and what a story is about, by every name. Finds them in text.

Canon cards come first, then the names the scenes themselves establish. A character, place or
faction is met by its capitals; a thing that has a card is met in small letters too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from callboard.library.story.index.metadata import card_kind, name_from_path
from callboard.library.story.index.names import LINKS, Census, CountedName, NameCounts
from callboard.library.story.index.people import groups_of
from callboard.library.story.lexicon import word_list
from callboard.library.story.model import StoryFile
from callboard.library.story.text import Document
from callboard.library.story.thresholds import NameThresholds

_WORD: Final = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_APOSTROPHE: Final = re.compile(r"['’]")
_SMALL_KINDS: Final = frozenset({"item", "lore", "location", "faction"})
_SPEAKING_SHARE: Final = 0.05
_PLACED_SHARE: Final = 0.4


@dataclass(frozen=True, slots=True)
class StoryEntity:
    """One person, place or thing; `aliases` are all its names, the canonical one first."""

    name: str
    kind: str
    aliases: tuple[str, ...]
    card: str | None = None
    occurrences: int = 0


@dataclass(frozen=True, slots=True)
class EntityHit:
    """Where an entity is named in a text."""

    entity: StoryEntity
    start: int
    end: int
    surface: str


@dataclass(frozen=True, slots=True)
class Mention(EntityHit):
    """An entity named in a sentence of a document; the place is within the sentence's text."""

    sentence: int


class Entities:
    """All entities of a project; every name belongs to one of them."""

    def __init__(self, entities: Iterable[StoryEntity]) -> None:
        """Take the entities; of two that share a name, the first has it."""
        self._entities = tuple(entities)
        self._by_alias: dict[str, StoryEntity] = {}
        for entity in self._entities:
            for alias in entity.aliases:
                self._by_alias.setdefault(_key(alias), entity)

    def __iter__(self) -> Iterator[StoryEntity]:
        """Go through the entities, those with a card first."""
        return iter(self._entities)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._entities)

    def get(self, name: str) -> StoryEntity | None:
        """Return the entity of a name, whatever its case."""
        return self._by_alias.get(_key(name))

    def canonical(self, name: str) -> str:
        """Return the one name of whoever is meant, or the given one."""
        entity = self.get(name)
        return entity.name if entity else name

    def find(self, text: str) -> tuple[EntityHit, ...]:
        """Return every place an entity is named, the longest name first, none overlapping."""
        starts = self._starts
        if starts is None:
            return ()
        hits: list[EntityHit] = []
        end = 0
        for start in starts.finditer(text):
            if start.start() < end:
                continue
            for phrase in self._phrases.get(_straight(start[0]).lower(), ()):
                found = phrase.pattern.match(text, start.start())
                if found is not None:
                    end = found.end()
                    hits.append(EntityHit(phrase.entity, found.start(), end, found[0]))
                    break
        return tuple(hits)

    @cached_property
    def _starts(self) -> re.Pattern[str] | None:
        """One pattern for the first words of all names: it passes over most of a text."""
        exact: set[str] = set()
        small: set[str] = set()
        for phrases in self._phrases.values():
            for phrase in phrases:
                (small if phrase.is_small else exact).add(phrase.words[0])
        kinds = [shape for words, shape in ((exact, "{}"), (small, "(?i:{})")) if words]
        if not kinds:
            return None
        listed = [sorted(words) for words in (exact, small) if words]
        firsts = ("".join(sorted({re.escape(word[0]) for word in words})) for words in listed)
        letters = "|".join(
            kind.format(f"[{each}]") for kind, each in zip(kinds, firsts, strict=True)
        )
        whole = "|".join(
            kind.format("|".join(map(_loose, words)))
            for kind, words in zip(kinds, listed, strict=True)
        )
        # The first letter is looked at before anything else: most places of a text have none.
        return re.compile(rf"(?={letters})(?<![^\W_])(?:{whole})(?![^\W_])")

    @cached_property
    def _phrases(self) -> Mapping[str, tuple["_Phrase", ...]]:
        table: dict[str, list[_Phrase]] = {}
        for alias, entity in self._by_alias.items():
            written = next(each for each in entity.aliases if _key(each) == alias)
            words = tuple(_WORD.findall(written))
            if words:
                is_small = entity.card is not None and entity.kind in _SMALL_KINDS
                is_small = is_small and alias not in word_list("stop_words")
                table.setdefault(_straight(words[0]).lower(), []).append(
                    _Phrase(words, entity, is_small)
                )
        return {
            first: tuple(sorted(phrases, key=lambda phrase: (-len(phrase.words), phrase.words)))
            for first, phrases in table.items()
        }


class _Phrase:
    __slots__ = ("entity", "is_small", "pattern", "words")

    def __init__(self, words: tuple[str, ...], entity: StoryEntity, is_small: bool) -> None:
        self.words = words
        self.entity = entity
        self.is_small = is_small
        joined = r"[.,]?[ \u00a0\-]".join(map(_loose, words))
        self.pattern = re.compile(rf"{joined}(?![^\W_])", re.IGNORECASE if is_small else 0)


def _key(name: str) -> str:
    return " ".join(_WORD.findall(_straight(name))).lower()


def _straight(text: str) -> str:
    return text.replace("’", "'")


def _loose(word: str) -> str:
    """Return a pattern for a word whichever apostrophe it is written with."""
    return _APOSTROPHE.sub("['’]", re.escape(word))


def build_entities(
    carded: Entities, counts: Iterable[NameCounts], limits: NameThresholds
) -> Entities:
    """Make the lexicon of a project from its cards' entities and the names in its scenes."""
    names = Census(counts, limits).names()
    found = _scene_entities(names, carded)
    named = (entity for entity in found if entity.occurrences >= limits.min_occurrences)
    return Entities([*carded, *named])


def entities_of_cards(cards: Sequence[tuple[StoryFile, Document]]) -> Entities:
    """Make the entities that canon cards describe."""
    bearers: Counter[str] = Counter()
    for file, _ in cards:
        bearers.update({word for word in _title(file).split() if _is_own(word)})
    found: list[StoryEntity] = []
    for file, document in sorted(cards, key=lambda card: card[0].path):
        kind = card_kind(document)
        title = _title(file)
        aliases = [title, *file.aliases, _capitalised(name_from_path(file.path), title)]
        words = title.split()
        if kind == "character" and len(words) > 1:
            aliases += [
                word for word in (words[0], words[-1]) if bearers[word] == 1 and _is_own(word)
            ]
        found.append(StoryEntity(title, kind, _distinct(aliases), file.path))
    return Entities(found)


def _title(file: StoryFile) -> str:
    """Return whom a card is about: `Character: Kael (the Elder)` is about Kael."""
    bare = file.title.partition("(")[0].partition(" — ")[0]
    label, _, name = bare.partition(": ")
    return (name or label).strip() or file.title


def _capitalised(name: str, title: str) -> str:
    if name.lower() == title.lower():
        return title
    words = name.split()
    return " ".join(word if word in LINKS else word[:1].upper() + word[1:] for word in words)


def _is_own(word: str) -> bool:
    return word[:1].isupper() and len(word) > 2 and word.lower() not in word_list("not_names")


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for name in names:
        if name.strip():
            seen.setdefault(name.strip().lower(), name.strip())
    return tuple(seen.values())


def _scene_entities(names: Sequence[CountedName], known: Entities) -> list[StoryEntity]:
    found: list[StoryEntity] = []
    for group in _without_plurals(groups_of(names)):
        if any(known.get(name.text) or any(map(known.get, name.forms)) for name in group):
            # Who has another first name than the card is somebody else of that family.
            group = [name for name in group if not name.is_single and not known.get(name.text)]
            if not group or known.get(group[0].words[0]):
                continue
        forms: Counter[str] = Counter()
        for name in group:
            forms.update(name.forms)
        title = _best_form(group[0])
        aliases = _distinct([title, *(form for form, _ in sorted(forms.items(), key=_by_count))])
        total = sum(name.total for name in group)
        found.append(StoryEntity(title, _kind(group, total), aliases, None, total))
    return sorted(found, key=lambda entity: (-entity.occurrences, entity.name))


def _by_count(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _best_form(name: CountedName) -> str:
    if name.title == "mrs" and not name.is_single:
        return min(name.forms.items(), key=_by_count)[0]
    if not name.is_single or name.text in name.forms:
        return name.text
    return min(name.forms.items(), key=_by_count)[0]


def _kind(group: Sequence[CountedName], total: int) -> str:
    if any(name.has_title for name in group):
        return "character"
    if not group[0].is_single and group[0].words[-1].lower() in word_list("place_words"):
        return "location"
    if sum(name.speaking for name in group) >= max(2, total * _SPEAKING_SHARE):
        return "character"
    placed = sum(name.placed for name in group)
    return "location" if placed >= max(2, total * _PLACED_SHARE) else "name"


def _without_plurals(groups: list[list[CountedName]]) -> list[list[CountedName]]:
    """Put a plural with its singular; a family is not one more person."""
    singular = {name.text: group for group in groups for name in group if name.is_single}
    kept: list[list[CountedName]] = []
    for group in groups:
        head = group[0]
        owner = singular.get(head.text.removesuffix("s")) if head.is_single else None
        if owner is None or owner is group or head.has_title or not head.text.endswith("s"):
            kept.append(group)
        elif not any(name.has_title for name in owner):
            owner.extend(group)
    return kept
