"""The name in a line: without what is done to it, with what may stand in for it.

Words leave a name only if the lexicon lists them; all others stay.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.packs.alfred.kitchen.food.foods import food_facts
from callboard.packs.alfred.kitchen.recipes.lines.doubts import is_done, is_preparation
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    Unit,
    find_unit,
    phrases,
    words,
)

_OR: Final = re.compile(r"\s+(?:or|oder|ou)\s+|\s*/\s*", re.IGNORECASE)
_AND: Final = re.compile(r"\s+(?:and/or|and|und|et|y)\s+|\s*&\s+|\s\+\s", re.IGNORECASE)
_EDGES: Final = " ,;:.-/"
_NO_ALTERNATIVE: Final = frozenset(
    ["as", "if", "to", "more", "less", "any", "so", "similar", "something", "other", "however"]
)
_WORDS_OF_A_STAND_IN: Final = 2
_MOST_TEMPERED: Final = 3
_TAKEN: Final = re.compile(r"(?P<what>[\w &-]{3,40}?)\s+(?:of|from)\s+(?P<rest>.+)", re.IGNORECASE)
# `cornstarch dissolved in water`, `stock made with two cubes`.
_DONE_WITH: Final = re.compile(
    r"(?<=\w)\s+(?:\w{2,30}[^\We]ed|made)\s+(?:in|with|into|from|to|on|by|for|at|of)\s",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LineName:
    """A name and what was taken off it."""

    text: str
    preparation: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    unit: Unit | None = None
    is_several: bool = False
    # Nobody can tell whether the name is whole.
    is_unclear: bool = False


def is_aside(text: str) -> bool:
    """Say whether a part of a line is a remark."""
    found = re.match(r"[^\W\d_]+(?:\.[^\W\d_])?", text)
    return found is not None and found[0].casefold() in words("asides")


def read_name(text: str, *, has_unit: bool) -> LineName:
    """Return the name in what is left of a line behind its amount."""
    text, notes = _turned(text.strip(_EDGES))
    text, after = _trailing(text)
    named, others = _alternatives(text)
    kept = tuple(other for other in others if _first(other) not in _NO_ALTERNATIVE)
    notes = (*notes, *(f"or {other}" for other in others if other not in kept))
    is_mixed = bool(kept) and _first(named) == "mixed"
    named, before = _leading(named)
    cleaned = tuple(_leading(other)[0] for other in kept)
    named, unit = _unit_behind(named) if not has_unit else (named, None)
    return LineName(
        named.strip(_EDGES),
        preparation=tuple(part for part in (before, after) if part),
        notes=notes,
        alternatives=tuple(other for other in cleaned if other),
        unit=unit,
        is_several=is_mixed or is_several(named),
        is_unclear=is_unclear(named, cleaned),
    )


def is_several(text: str) -> bool:
    """Say whether a name is of more than one ingredient."""
    folded = text.casefold()
    if any(phrase in folded for phrase in phrases("together")):
        return False
    return _AND.search(text) is not None or "/" in text


def read_taken(text: str) -> tuple[str, str] | None:
    """Return what is taken and from what: `juice of 1 lemon` is the juice, and the lemon."""
    found = _TAKEN.match(text)
    if found is None:
        return None
    parts = found["what"].casefold().split()
    source = found["rest"].casefold()
    known = words("taken") | words("prepared") | words("adverbs")
    if parts[-1] not in words("taken") or any(
        part not in known and part not in source for part in parts
    ):
        return None
    rest = re.sub(r"^(?:a |the )?(?:whole|fresh)\s+", "1 ", found["rest"], flags=re.IGNORECASE)
    return found["what"].strip().casefold(), rest


def names_alternative(text: str) -> str | None:
    """Return what `or …` offers instead, if it offers an ingredient."""
    found = re.match(r"or\s+(?:use\s+)?(?P<rest>(?P<first>[^\W_]+).*)", text, re.IGNORECASE)
    if found is None or found["first"].casefold() in _NO_ALTERNATIVE:
        return None
    return found["rest"].strip(_EDGES)


def _turned(text: str) -> tuple[str, tuple[str, ...]]:
    """Cut a name where the line turns to something else: what it is for, with what, how."""
    folded = f" {text.casefold()} "
    places = [folded.find(turn) for turn in phrases("turns")]
    done = _DONE_WITH.search(text)
    places.append(done.start() if done is not None else -1)
    cut = min((place for place in places if place > 0), default=-1)
    if cut < 0:
        return text, ()
    return text[:cut].strip(_EDGES), (text[cut:].strip(_EDGES),)


def _leading(text: str) -> tuple[str, str]:
    """Take what is done to an ingredient, and how big it is, off the front of its name."""
    taken: list[str] = []
    rest = text.strip(_EDGES)
    while True:
        first, _, behind = rest.partition(" ")
        if not taken and _is_quality(first):
            named, done = _leading(behind)
            return (f"{first} {named}", done) if done else (rest, "")
        if taken and behind and first.casefold() in words("sizes"):
            taken.append(first)
            rest = behind.strip()
            continue
        if taken and _is_but(first, behind):
            second, _, behind = behind.partition(" ")
            taken.extend([first, second])
            rest = behind.strip()
            continue
        if not behind or not _leaves_name(first, rest, behind):
            break
        taken.append(first)
        rest = behind.strip()
    return rest, " ".join(taken).casefold().strip(_EDGES)


def _is_but(first: str, behind: str) -> bool:
    """Say whether a second quality follows: `ripe but firm avocado`."""
    found = behind.casefold().split()
    return (
        first.casefold() in ("but", "yet")
        and len(found) > 1
        and found[0] in words("adjectives") | words("prepared")
    )


def _is_quality(word: str) -> bool:
    """Say whether a word belongs to a name though something done may stand behind it."""
    folded = word.casefold()
    return folded in words("adjectives") and folded not in words("prepared")


def _leaves_name(first: str, rest: str, behind: str) -> bool:
    word = first.casefold().strip(",")
    folded = rest.casefold()
    if any(folded.startswith(phrase) for phrase in phrases("products")):
        return False
    second = behind.split()[0].casefold().strip(",")
    if word in words("prepared") or (word == "ground" and folded.startswith("ground fresh")):
        return True
    if word in words("temperatures"):
        if second in words("prepared"):
            return True
        parts = behind.casefold().split()
        return parts[-1] in words("tempered") and len(parts) <= _MOST_TEMPERED
    if word in ("and", "or", "&"):
        return second in words("prepared")
    if word == "freshly" and second in ("ground", "squeezed", "cracked", "grated", "chopped"):
        return True
    if word in ("ground", "squeezed", "cracked"):
        return False
    then = next((part for part in behind.casefold().split() if part not in words("adverbs")), "")
    return word in words("adverbs") and (
        then.strip(",") in words("prepared") or second in words("temperatures")
    )


def _trailing(text: str) -> tuple[str, str]:
    """Take what is done to an ingredient off the end of its name."""
    parts = text.split()
    for at in range(1, len(parts)):
        word = parts[at].casefold().strip(",")
        adverb = word in words("adverbs") and word not in ("and", "or", "&", "in", "if", "half")
        if is_done(word) or adverb:
            tail = parts[at:]
            if _is_all_preparation(tail):
                return " ".join(parts[:at]), " ".join(tail).casefold()
    return text, ""


def _is_all_preparation(tail: list[str]) -> bool:
    folded = [word.casefold().strip(",") for word in tail]
    return any(is_done(word) for word in folded) and all(
        is_done(part) or part in words("adverbs") for word in folded for part in word.split("/")
    )


def _alternatives(text: str) -> tuple[str, tuple[str, ...]]:
    """Part a name from what may stand in for it."""
    parts = [part.strip(_EDGES) for part in _OR.split(text) if part.strip(_EDGES)]
    if {part.casefold() for part in parts} == {"salt", "pepper"}:
        return " and ".join(parts), ()
    if _shares_unknown_noun(text, parts):
        return text, ()
    if len(parts) < 2:
        return text, ()
    if _is_one_done(parts[0]) and _first(parts[-1]) in words("prepared"):
        return _joined(parts), ()
    first, others = parts[0], parts[1:]
    if len(others[-1].split()) > 1 and _lacks_noun(first, others[-1]):
        first = f"{first} {_shared_noun(others[-1])}"
    if "/" in text:
        first = _with_noun(first, others)
    return first, tuple(others)


def _is_one_done(text: str) -> bool:
    return len(text.split()) == 1 and is_preparation(text)


def _lacks_noun(first: str, other: str) -> bool:
    """Say whether `chicken` of `chicken or beef stock`, or `fresh`, is no name of its own."""
    found = first.casefold().split()
    qualities = words("prepared") | words("adjectives") | words("adverbs")
    if all(word in qualities for word in found):
        return True
    is_known = found[-1] in words("modifiers") or found[-1].isdigit()
    head = other.split()[-1].casefold()
    if found[-1] == _first(other) or (other[0].isdigit() and not found[-1].isdigit()):
        return False
    # Wine is a drink, but `white wine or cider vinegar` is not.
    return is_known and head in words("shared") and (found[-1] != "wine" or head == "vinegar")


def is_unclear(name: str, others: tuple[str, ...]) -> bool:
    """Say whether a name may lack the noun of its stand-in: `Black Forest or smoked ham`."""
    behind = others[-1].casefold().split() if others else []
    if len(behind) < _WORDS_OF_A_STAND_IN or behind[0][0].isdigit():
        return False
    first = name.casefold().split()
    if len(first) == 1 and first[0] != behind[0]:
        return first[0] not in words("shared") or behind[-1] in words("makers")
    return food_facts(behind[-1]).is_food and not food_facts(name).is_food


def _shared_noun(other: str) -> str:
    """Return what `red bell pepper` shares with `green or`: all behind a word of its own kind."""
    parts = other.split()
    return " ".join(parts[1:] if parts[0].casefold() in words("modifiers") else parts[-1:])


def _first(text: str) -> str:
    return text.split()[0].casefold() if text.split() else ""


def _shares_unknown_noun(text: str, parts: list[str]) -> bool:
    """Say whether nobody can tell what the first half of `biscuit/baking mix` is of."""
    if len(parts) != 2 or re.search(r"\w/\w", text) is None:
        return False
    first, behind = parts[0].split(), parts[1].split()
    if len(first) > 1 or len(behind) < 2 or first[0].casefold() == behind[0].casefold():
        return False
    known = first[0].casefold() in words("modifiers") and behind[-1].casefold() in words("shared")
    return not known and first[0][:3].casefold() != behind[0][:3].casefold()


def _with_noun(first: str, others: list[str]) -> str:
    """Give the first of `Kalamon/Kalamata Olives` its noun: close spellings share it."""
    behind = others[-1].split()
    if len(first.split()) != 1 or len(behind) != 2:
        return first
    one, other = first.casefold(), behind[0].casefold()
    return f"{first} {behind[1]}" if one != other and one[:3] == other[:3] else first


def _joined(parts: list[str]) -> str:
    return " or ".join(parts)


def _unit_behind(text: str) -> tuple[str, Unit | None]:
    """Take a unit off the end of a name: `garlic cloves`."""
    name, _, last = text.rpartition(" ")
    if not name:
        return text, None
    unit = find_unit(last)
    if unit is None or not unit.is_trailing:
        return text, None
    return name.strip(_EDGES), unit
