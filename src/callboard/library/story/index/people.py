"""People: who is who among the names of a book.

Titles, given and family names and short forms join names; relatives who share a family name stay
apart. A name that may be two people's is nobody's: it is never guessed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from callboard.library.story.index.names import (
    LINKS,
    CountedName,
    Gender,
    are_short_forms,
    given_gender,
    is_given_name,
)
from callboard.library.story.lexicon import families_in, word_list, words_in

# A name two people bear is the one's who is named so many times as often as the other.
_DOMINANT: Final = 8
_OFTEN: Final = 3
_PLACED_SHARE: Final = 0.4
_NO_NAMES: Final = frozenset({"of", "the"})
# First whoever has a rank: a plain "Mr." of the same family is then somebody else.
_ORDER: Final = {"rank": 0, "mr": 1, "woman": 2, "miss": 3, "mrs": 4, "": 5}
# Ladies and knights go by no pet name.
_FORMAL: Final = frozenset({"lady", "sir", "dame", "lord", "king", "queen", "prince", "princess"})


@dataclass(slots=True)
class _Person:
    """One bearer of names while they are put together."""

    given: str = ""
    family: str = ""
    gender: Gender | None = None
    # "mrs" or "miss" if a title says so.
    state: str = ""
    ranks: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    is_formal: bool = False
    # "Miss Anne" is a younger daughter, "Mrs. John Hale" the wife of one of several.
    younger: int = 0
    is_wife: bool = False
    names: list[CountedName] = field(default_factory=list[CountedName])

    @property
    def total(self) -> int:
        return sum(name.total for name in self.names)

    def take(self, name: CountedName) -> None:
        self.names.append(name)
        titles = {title for form in name.forms for title in titles_of(form)}
        told = title_gender(titles)
        self.gender = self.gender or told
        self.ranks |= titles & _ranks()
        self.titles |= titles
        self.is_formal |= bool(titles & _FORMAL)
        if self.given and self.given in name.words:
            self.younger += sum(
                times for form, times in name.forms.items() if "miss" in titles_of(form)
            )
        if titles & {"mrs", "mme"}:
            self.state = "mrs"
        elif titles & {"miss", "mlle"} and not self.state:
            self.state = "miss"

    @property
    def full_mr(self) -> int:
        """How often he is called by a plain title and all his names."""
        return sum(
            times
            for name in self.names
            if not name.is_single
            for form, times in name.forms.items()
            if "mr" in titles_of(form)
        )

    def may_be(self, gender: Gender) -> bool:
        return self.gender in (None, gender)


def titles_of(form: str) -> frozenset[str]:
    """Return the titles that open a name, lower-cased and without full stop."""
    words = [word.rstrip(".").lower() for word in form.split()]
    at = 0
    while at < len(words) - 1 and words[at] in word_list("personal_titles"):
        at += 1
    return frozenset(words[:at])


def title_gender(titles: Iterable[str]) -> Gender | None:
    """Return the gender a title tells."""
    told = frozenset(titles)
    if told & (words_in("facts", "female_courtesies") | word_list("womens_titles")):
        return "female"
    male = words_in("facts", "male_courtesies") | {"uncle", "father", "brother", "king", "prince"}
    return "male" if told & male else None


@cache
def _ranks() -> frozenset[str]:
    return frozenset(
        word for rank in families_in("facts", "ranks").values() for each in rank for word in [each]
    ) | {"capt", "col", "gen", "lieut", "lt", "sgt", "maj"}


def groups_of(names: Sequence[CountedName]) -> list[list[CountedName]]:
    """Return the names of each bearer together, the fullest first.

    What may be two people's is left out.
    """
    people: list[_Person] = []
    rest: list[list[CountedName]] = []
    full = [name for name in names if not name.is_single]
    for name in sorted(full, key=lambda each: (-each.total, each.words)):
        if _is_personal(name):
            _place_full(people, name)
        else:
            rest.append([name])
    singles = [name for name in names if name.is_single]
    titled = Counter(name.text for name in singles if name.title)
    for name in singles:
        name.has_rivals = titled[name.text] > 1
    singles.sort(key=lambda each: (_ORDER.get(each.title, 5), -each.total, each.words))
    for name in singles:
        _place_single(people, name)
    return [*(person.names for person in people), *rest]


def _is_personal(name: CountedName) -> bool:
    if _NO_NAMES.intersection(name.words):
        return False
    if name.has_title:
        return True
    if name.words[-1].lower() in word_list("place_words") and not is_given_name(name.words[0]):
        return False
    return is_given_name(name.words[0]) or name.placed < max(2, name.total * _PLACED_SHARE)


def _place_full(people: list[_Person], name: CountedName) -> None:
    words = [word for word in name.words if word.lower() not in LINKS]
    given, family = words[0], words[-1]
    gender = title_gender((name.title and [name.title]) or ()) or given_gender(given)
    if name.title == "mrs" and given_gender(given) == "male":
        # Mrs. John Dashwood is his wife.
        wife = _Person("", family, "female", "mrs", is_wife=True)
        wife.take(name)
        people.append(wife)
        return
    for person in people:
        if person.family != family or not person.given or not are_short_forms(person.given, given):
            continue
        if gender is None or person.may_be(gender):
            person.take(name)
            return
    person = _Person(given, family, gender)
    person.take(name)
    people.append(person)


def _place_single(people: list[_Person], name: CountedName) -> None:
    word = name.text
    by_given = [each for each in people if each.given and _goes_by(each, word)]
    by_family = [each for each in people if each.family == word and each.given != word]
    choose = _CHOICES[name.title if name.title in _CHOICES else ""]
    chosen = choose(name, by_given, by_family)
    if isinstance(chosen, _Person):
        chosen.take(name)
    elif chosen:
        fresh = _Person()
        fresh.gender = given_gender(word) if name.title in ("", "woman") else None
        if name.title in ("", "woman") and is_given_name(word):
            fresh.given = word
        else:
            fresh.family = word
        fresh.take(name)
        people.append(fresh)


def _goes_by(person: _Person, word: str) -> bool:
    if person.given == word:
        return True
    gender = given_gender(word)
    if person.is_formal or (gender is not None and not person.may_be(gender)):
        return False
    return bool(person.family) and are_short_forms(person.given, word)


# Whom a name belongs to: somebody known, somebody new (True), or nobody in particular (False).
_Choice = _Person | bool


def _one(people: Sequence[_Person]) -> _Person | None:
    return people[0] if len(people) == 1 else None


def _rank(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    if _is_given_title(name) and (one := _one(given)):
        return one
    titles = {title for form in name.forms for title in titles_of(form)}
    soldier = titles & _ranks()
    able = [each for each in family if not each.state]
    if soldier and any(each.ranks for each in able):
        return _one([each for each in able if each.ranks & soldier]) or True
    if same := _one([each for each in family if each.titles & titles]):
        return same
    one = _one(able)
    # Of a soldier and a woman of the same name nobody knows that they are one, nor where more
    # than one of a family goes by a title.
    if one is not None and (one.gender != "female" or not (soldier or name.has_rivals)):
        return one
    return True


def _mr(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    if _is_given_title(name) and (one := _one([p for p in given if p.may_be("male")])):
        return one
    men = [each for each in family if each.may_be("male") and not each.ranks]
    men = [each for each in men if not each.state]
    # Who is called Mr. John Hale again and again is not the Mr. Hale of the same book.
    if name.total >= _OFTEN:
        men = [each for each in men if each.full_mr < _OFTEN]
    if not family and (one := _one([p for p in given if p.may_be("male")])):
        return one
    return _one(men) or True


def _woman(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    del name, family
    return _one([each for each in given if each.may_be("female")]) or True


def _miss(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    del name
    if one := _one([each for each in given if each.may_be("female")]):
        return one
    women = [each for each in family if each.gender == "female" and not each.is_formal]
    unmarried = [each for each in women if each.state != "mrs"]
    one = _one(unmarried)
    return True if one is None or one.younger >= _OFTEN else one


def _mrs(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    married = [each for each in family if each.state == "mrs" and not each.is_wife]
    if married:
        return _one(married) or True
    women = [each for each in family if each.may_be("female") and not each.state]
    if (
        len(family) == 1
        and not name.has_rivals
        and (one := _one([each for each in women if each.gender == "female"]))
    ):
        return one
    if not family and (one := _one([p for p in given if p.gender == "female"])):
        return one
    return True


def _bare(name: CountedName, given: list[_Person], family: list[_Person]) -> _Choice:
    exact = [each for each in given if each.given == name.text]
    if exact and not family:
        given = exact
    # A family name alone is the man's, or of whoever is only known by it.
    able = [each for each in family if each.given or not each.state]
    both = [*given, *(each for each in able if each not in given)]
    if not both:
        return True
    if (one := _one(both)) is not None:
        # One full name says little of whom a first name means all through a book.
        return True if one in given and name.total > _DOMINANT * 2 * one.total else one
    if not given and (one := _one([each for each in able if each.gender == "male"])) is not None:
        return one
    first, second = sorted(both, key=lambda each: -each.total)[:2]
    return first if first.total >= _DOMINANT * second.total else False


_CHOICES: Final[dict[str, Callable[[CountedName, list[_Person], list[_Person]], _Choice]]] = {
    "rank": _rank,
    "mr": _mr,
    "woman": _woman,
    "miss": _miss,
    "mrs": _mrs,
    "": _bare,
}


def _is_given_title(name: CountedName) -> bool:
    """Say whether a title stands before given names: Sir John, Master Tom, Uncle Bob."""
    titles = {title for form in name.forms for title in titles_of(form)}
    return bool(titles & {"sir", "master", "uncle", "king", "prince", "father", "brother"})
