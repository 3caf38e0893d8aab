"""Cast: whom a text can speak of, by which names, and whether "he" or "she" may mean them.

Taken from cards and from the texts at hand. Titles tell people of one family apart: "Mrs.
Barrymore" is not Barrymore the butler.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import digest
from callboard.library.story.facts.cards import card_lines, gathers_canon
from callboard.library.story.facts.claims import Gender
from callboard.library.story.facts.grammar import titles
from callboard.library.story.facts.strays import FULL_NAME, stray_names
from callboard.library.story.index import StoryEntity, StoryIndex
from callboard.library.story.index.names import given_gender, is_given_name
from callboard.library.story.lexicon import words_in
from callboard.library.story.text import Document, stop_words

# Opens the name of somebody who bears a known name and is, or may be, somebody else.
DOUBT: Final = "?"
_TITLE_BEFORE: Final = re.compile(r"\b([A-Z][a-z]+)\.? +$")
_NAME_BEFORE: Final = re.compile(r"(?<![\w.’'-])([A-Z][a-z’'-]+) $")
# A longer word is no name.
_LONGEST_NAME: Final = 60
_NAME_AFTER: Final = re.compile(r" ([A-Z][a-z]+)")
_PRONOUN: Final = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
_NOT_PERSONS: Final = frozenset({"location", "item", "faction", "lore"})
_WORD: Final = re.compile(r"[^\W\d_]+")
_SAYS_NAME: Final = re.compile(
    r"\b(?:[Cc]all(?:s|ed)? me|[Mm]y name(?: is|['’]s"
    r"| was)) (?P<name>[A-Z][\w’'.-]+(?: [A-Z][\w’'-]+)?)"
)
_ABOUT_SELF: Final = re.compile(
    r"(?:, who| is| was| has| had| hasn['’]t| doesn['’]t)\b[^.;]{0,60}?[,;] (?:and )?(?:he|she"
    r"|his|her)\b"
    r"|(?:['’]s)? [a-z]+(?:s|ed|ew|ook|aid|at|ood|an)? (?:his|her)\b"
)
# So many sentences must use one gender's pronouns of somebody who has no card.
_NEEDED: Final = 3


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a known name stands in a text, and whose it is."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Cast:
    """The names a text may use, and what is known of those who bear them."""

    find_names: Callable[[str], Iterable[Hit]]
    genders: Mapping[str, Gender] = field(default_factory=dict[str, Gender])
    # Entities known to be places, things or peoples: no "he" stands for them.
    not_persons: frozenset[str] = frozenset()
    # Names each entity goes by, for names that carry their title ("Mrs. Barrymore").
    names: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def fingerprint(self) -> str:
        """What a reading of a text depends on, besides the text."""
        known = [[name, *sorted(names)] for name, names in sorted(self.names.items())]
        return digest([known, sorted(self.genders.items()), sorted(self.not_persons)])

    def gender(self, entity: str) -> Gender | None:
        """Return what is known of an entity's gender."""
        return self.genders.get(entity)

    @staticmethod
    def is_certain(entity: str) -> bool:
        """Say whether a name stands for the entity that bears it, and not for a namesake."""
        return not entity.startswith(DOUBT)

    def may_be_person(self, entity: str) -> bool:
        """Say whether a pronoun might stand for an entity."""
        return entity not in self.not_persons

    def find(self, text: str) -> list[Hit]:
        """Return the names in a text; another first name or title makes it another person."""
        found: list[Hit] = []
        for hit in self.find_names(text):
            shown = text[hit.start : hit.end]
            other = self._foreign_title(hit, text) or self._foreign_name(hit, text)
            name = hit.name if other is None else f"{DOUBT}{other} {shown}"
            if _may_be_word(shown, text[: hit.start]):
                name = f"{DOUBT}{shown}"
            found.append(Hit(name, hit.start, hit.end))
        return found

    def _foreign_name(self, hit: Hit, text: str) -> str | None:
        """Return the unknown name a known one is only a part of: "Rodger Baskerville"."""
        shown = text[hit.start : hit.end]
        is_family_name = " " in hit.name and shown == hit.name.split()[-1]
        before = _NAME_BEFORE.search(text, max(0, hit.start - _LONGEST_NAME), hit.start)
        if before and _is_name_before(before[1], text[: before.start()], is_family_name):
            return before[1]
        if is_family_name:
            after = _NAME_AFTER.match(text, hit.end)
            return f"({after[1]})" if after and after[1].lower() not in stop_words() else None
        return self._other_family(hit, text)

    def _other_family(self, hit: Hit, text: str) -> str | None:
        """Return the family name that makes a known first name somebody else's: "Nell Marlow"."""
        after = _NAME_AFTER.match(text, hit.end)
        shown = text[hit.start : hit.end]
        if after is None or " " in shown or after[1].lower() in stop_words():
            return None
        known = {
            word for name in self.names.get(hit.name, frozenset[str]()) for word in name.split()
        }
        has_family = any(" " in name for name in self.names.get(hit.name, frozenset[str]()))
        is_other = has_family and is_given_name(shown) and after[1] not in known
        return f"({after[1]})" if is_other else None

    def _foreign_title(self, hit: Hit, text: str) -> str | None:
        match = _TITLE_BEFORE.search(text[max(0, hit.start - 20) : hit.start])
        if not match:
            return None
        title, shown = match[1].lower(), text[hit.start : hit.end]
        told: Gender | None = None
        if title in words_in("facts", "female_courtesies"):
            told = "female"
        elif title in words_in("facts", "male_courtesies"):
            told = "male"
        if told is None or self._goes_by(hit.name, title, shown):
            return None
        gender = self.gender(hit.name)
        if gender is not None:
            return None if gender == told else match[1]
        # Of someone with a first and a last name, the last name alone is the family's.
        is_family_name = " " in hit.name and shown == hit.name.split()[-1]
        return match[1] if told == "female" and is_family_name else None

    def _goes_by(self, entity: str, title: str, shown: str) -> bool:
        wanted = f"{title} {shown}".lower()
        names = self.names.get(entity, frozenset[str]()) | {entity}
        return any(name.lower().replace(".", "").startswith(wanted) for name in names)


def _is_name_before(word: str, before: str, is_family_name: bool) -> bool:
    lowered = word.lower()
    if lowered in stop_words() or lowered in titles():
        return False
    if before.strip(" “\"‘'—–(>*"):
        return True
    # Any word may open a sentence, but few open one and stand before a family name.
    if is_family_name:
        return not lowered.endswith(("ly", "ing", "ed"))
    return is_given_name(lowered)


def _may_be_word(shown: str, before: str) -> bool:
    return not before.strip(" “\"‘'—–(>*") and shown.lower() in words_in("facts", "word_names")


def gender_told_by(words: Iterable[str]) -> Gender | None:
    """Return the gender titles and words of kin tell: the first that tells any."""
    for word in words:
        if word in words_in("facts", "female_words"):
            return "female"
        if word in words_in("facts", "male_words"):
            return "male"
    return None


def gender_of_text(text: str, *, needed: int = 1) -> Gender | None:
    """Return whose pronouns a text about one person uses, if nearly all are of one gender."""
    pronouns = [hit.lower() for hit in _PRONOUN.findall(text)]
    female = sum(word in {"she", "her", "hers", "herself"} for word in pronouns)
    male = len(pronouns) - female
    if max(female, male) < needed or min(female, male) * 4 > max(female, male):
        return None
    return "female" if female > male else "male"


def cast_of(index: StoryIndex, documents: Sequence[Document]) -> Cast:
    """Return whom the given texts can speak of."""
    shared = _shared_names(index.entities)

    gathered = _gathered_names(index)
    strays = stray_names(index, documents)

    def find_names(text: str) -> Iterable[Hit]:
        taken: list[tuple[int, int]] = []
        for match in FULL_NAME.finditer(text):
            name = strays.get(match[0])
            if name is not None:
                taken.append(match.span())
                yield Hit(name, match.start(), match.end())
        for hit in index.entities.find(text):
            if any(start < hit.end and hit.start < end for start, end in taken):
                continue
            name = f"{DOUBT}{hit.surface}" if hit.surface.lower() in shared else hit.entity.name
            taken.append((hit.start, hit.end))
            yield Hit(name, hit.start, hit.end)
        for match in gathered.finditer(text) if gathered else ():
            if not any(start < match.end() and match.start() < end for start, end in taken):
                yield Hit(match[0], match.start(), match.end())

    genders: dict[str, Gender] = {}
    for entity in index.entities:
        gender = _known_gender(index, entity)
        if gender is not None:
            genders[entity.name] = gender
    names = {entity.name: frozenset(entity.aliases) for entity in index.entities}
    genders.update(_stray_genders(strays))
    no_persons = frozenset(entity.name for entity in index.entities if entity.kind in _NOT_PERSONS)
    cast = Cast(find_names, genders, no_persons, names)
    genders.update(_told_genders(cast, documents))
    return cast


def _stray_genders(strays: Mapping[str, str]) -> Iterator[tuple[str, Gender]]:
    for stray in strays.values():
        first = stray.split()[0]
        gender = gender_told_by([first.rstrip(".").lower()]) or given_gender(first)
        if gender is not None:
            yield stray, gender


def _gathered_names(index: StoryIndex) -> re.Pattern[str] | None:
    """Return what finds the names that are headings of a file that gathers the canon."""
    names = {
        heading.text
        for file in index.canon
        for heading in index.document(file.path).headings
        if gathers_canon(file.path)
        and heading.level > 1
        and index.entities.get(heading.text) is None
    }
    listed = "|".join(
        re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name))
    )
    return re.compile(rf"\b(?:{listed})\b") if listed else None


def narrator_of(index: StoryIndex, path: str) -> str | None:
    """Return the entity whose point of view a scene declares."""
    pov = index.file(path).pov if index.has(path) else None
    entity = index.entities.get(pov) if pov else None
    return entity.name if entity else None


def narrator_in(documents: Sequence[Document], cast: Cast) -> str | None:
    """Return who says "I" and is called by one name only all through some texts."""
    told: Counter[str] = Counter()
    for document in documents:
        if not any(word in document.prose for word in ("name", "call", "Call")):
            continue
        for sentence in document.sentences:
            for match in _SAYS_NAME.finditer(sentence.text):
                found = next(iter(cast.find(match["name"])), None)
                is_spoken = any(start <= match.start() < end for start, end in sentence.spoken)
                if found is not None and cast.is_certain(found.name) and not is_spoken:
                    told[found.name] += 1
    return next(iter(told)) if len(told) == 1 else None


def _shared_names(entities: Iterable[StoryEntity]) -> frozenset[str]:
    owners = Counter(alias.lower() for entity in entities for alias in set(entity.aliases))
    return frozenset(alias for alias, count in owners.items() if count > 1)


def _known_gender(index: StoryIndex, entity: StoryEntity) -> Gender | None:
    if entity.kind in _NOT_PERSONS:
        return None
    words = [word.lower() for alias in entity.aliases for word in _WORD.findall(alias)]
    told = gender_told_by(word for word in words if word in words_in("facts", "gendered_titles"))
    if told is None and entity.card is None:
        return given_gender(entity.name.split()[0])
    if told is not None or entity.card is None:
        return told
    document = index.document(entity.card)
    for line in card_lines(document, entity.name):
        if line.key in words_in("facts", "gender_keys"):
            return _gender_value(line.value)
    return gender_of_text(document.prose) or given_gender(entity.name.split()[0])


def _gender_value(text: str) -> Gender | None:
    words = [word.lower() for word in _WORD.findall(text)]
    if {"female", "f", "feminine"}.intersection(words):
        return "female"
    if {"male", "m", "masculine"}.intersection(words):
        return "male"
    return None if "they" in words else gender_told_by(words)


def _told_genders(cast: Cast, documents: Sequence[Document]) -> dict[str, Gender]:
    """Return the genders sentences about one person agree on, for those nothing else tells of."""
    counts: dict[str, Counter[Gender]] = {}
    for document in documents:
        for sentence in document.sentences:
            text = sentence.narration
            if not _PRONOUN.search(text):
                continue
            hits = [hit for hit in cast.find(text) if cast.may_be_person(hit.name)]
            if len({hit.name for hit in hits}) != 1:
                continue
            gender = gender_of_text(text)
            if gender is not None:
                counts.setdefault(hits[0].name, Counter())[gender] += 1
                # "Sun-hee is their engineer; she is twenty-two": the name is the subject.
                if _ABOUT_SELF.match(text, hits[0].end):
                    counts[hits[0].name][gender] += _NEEDED - 1
    told: dict[str, Gender] = {}
    for name, count in counts.items():
        ((gender, times),) = count.most_common(1)
        if name not in cast.genders and times >= _NEEDED and times >= 0.85 * count.total():
            told[name] = gender
    return told
