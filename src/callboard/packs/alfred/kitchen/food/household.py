"""Household: what others in the house must not eat, as a profile keeps it.

One line says one limit: `son: allergy gluten`. Whose profile it is has columns of their own.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from callboard.core.errors import InvalidInput
from callboard.packs.alfred.kitchen.food.diets import canonical_allergies, canonical_diets
from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.food.groups import food_groups, group_called, groups_in
from callboard.packs.alfred.kitchen.food.lexicon import common_words, food_words
from callboard.packs.alfred.kitchen.food.spelling import OWNED, near

LimitKind = Literal["allergy", "diet", "avoid"]
KINDS: Final = ("allergy", "diet", "avoid")
MOST_NAME: Final = 60
_LINE: Final = re.compile(
    r"(?P<who>[^:]{1,60}):\s{0,9}(?P<kind>\w{1,20})\s{1,9}(?P<what>\S.{0,99})"
)


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that is not eaten, why, and by whom; nobody named is whose profile it is."""

    kind: LimitKind
    subject: str
    who: str = ""

    def line(self) -> str:
        """Return the limit as a profile keeps it."""
        return f"{self.who}: {self.kind} {self.subject}"


def read_limits(lines: Iterable[Any]) -> tuple[Limit, ...]:
    """Return the limits that lines of a profile say; what is none is left out."""
    found = (read_limit(str(each)) for each in lines)
    return tuple(each for each in found if each is not None)


def read_limit(line: str) -> Limit | None:
    """Return what a line says, by the names the lexicon has for it; None if it is no limit."""
    found = _LINE.fullmatch(line.strip())
    if found is None or not found["who"].strip():
        return None
    kind = {"intolerance": "allergy", "avoids": "avoid"}.get(found["kind"], found["kind"])
    if kind not in KINDS:
        return None
    canonical = canonical_diets if kind == "diet" else canonical_allergies
    names = canonical([found["what"]])
    return Limit(kind, names[0], found["who"].strip()) if names else None


def checked_limits(lines: Iterable[Any]) -> list[str]:
    """Return lines in one spelling, each once; one that says no limit is refused."""
    kept: list[str] = []
    for each in lines:
        limit = read_limit(str(each))
        if limit is None:
            raise InvalidInput(
                f"{str(each)[:80]!r} says no limit of anybody",
                fix=f"Write it as `son: allergy gluten`; kinds are {', '.join(KINDS)}.",
            )
        kept.append(limit.line())
    return list(dict.fromkeys(kept))


def is_known_food(name: str) -> bool:
    """Say whether a name is one of a group, or of a food the lexicon has."""
    return bool(group_called(food_words(name)) or groups_in(name)) or food_facts(name).is_food


def is_common(name: str) -> bool:
    """Say whether a food goes by a name everybody uses: it names nobody, and each word is known."""
    words = [word for word in food_words(name) if not word.isdigit()]
    is_owned = OWNED.search(name.casefold()) is not None
    return bool(words) and not is_owned and all(word in common_words() for word in words)


def nearest_allergen(name: str) -> str | None:
    """Return the group somebody most likely meant by a name that nobody knows."""
    words = food_words(name)
    for group in food_groups().values():
        found = group.find_near(words, is_name=True)
        called = near(" ".join(words), [" ".join(each) for each in group.called])
        if found is not None or called is not None:
            return group.name
    return None
