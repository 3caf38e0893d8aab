"""Cast: whom a text can speak of, by which names, and whether "he" or "she" may mean them.

Titles tell people of one family apart: "Mrs. Barrymore" is not Barrymore the butler.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from callboard.library.story.facts.masks import titles
from callboard.library.story.lexicon.groups import words_in
from callboard.library.story.text import stop_words

# Opens the name of somebody who bears a known name and is, or may be, somebody else.
DOUBT: Final = "?"
Gender = Literal["female", "male"]
_TITLE_BEFORE: Final = re.compile(r"\b([A-Z][a-z]+)\.? +$")
_NAME_BEFORE: Final = re.compile(r"(?<![\w.’'-])([A-Z][a-z’'-]+) $")
# A longer word is no name.
_LONGEST_NAME: Final = 60
_NAME_AFTER: Final = re.compile(r" ([A-Z][a-z]+)")
_PRONOUN: Final = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)


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
        return None

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
    return lowered in words_in("facts", "given_names")


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
