"""The amount a text starts with: how many, of what unit, how big each.

Knows nothing of names. What it cannot read it leaves where it is.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    PIECE,
    Unit,
    find_unit,
    phrases,
    unit_pattern,
    words,
)
from callboard.packs.alfred.kitchen.recipes.lines.numbers import Number, read_number
from callboard.packs.alfred.kitchen.recipes.lines.values import Flag

_TIMES: Final = re.compile(r"\s*(?:x|\*)\s*(?=\d)", re.IGNORECASE)
_EQUAL: Final = re.compile(r"\s*(?:/|\||=|\bor\b|-)\s*(?=[~\d])", re.IGNORECASE)
_ADDED: Final = re.compile(r"\s*(?:\+|\bplus\b|\band\b|&)\s*(?=[~\d])", re.IGNORECASE)
_OF: Final = re.compile(r"\s*(?:of|de|di|d['’])\s+(?:the\s+)?|\s*of$", re.IGNORECASE)
_SOME: Final = re.compile(
    r"((?:an?\s+)?[^\W\d_]+\s+(?:amount|quantity))\s+of\s+(?=\S)", re.IGNORECASE
)
_DONE: Final = re.compile(r"\s*((?:[^\W\d_]+ ){1,2})(?=[^\W\d_]+ of )")
_LESS: Final = re.compile(r"\s*(or (?:less|more|so))\b", re.IGNORECASE)
_PART: Final = re.compile(r"^of\s+(?:an?\s+|the\s+)?", re.IGNORECASE)
_SIZED: Final = re.compile(r"\s*[- ]sized?\b", re.IGNORECASE)
_LUMP: Final = re.compile(
    r"^[\s-]*(?:long\s+)?(?:pieces?|knobs?|chunks?|sticks?)(?=\s)", re.IGNORECASE
)
_UNKNOWN: Final = re.compile(
    r"\s*([^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)\s+of\s+(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Amount:
    """How much, and what is left of the text behind it."""

    rest: str
    quantity: float | None = None
    quantity_high: float | None = None
    unit: Unit | None = None
    unknown_unit: str | None = None
    size: str | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    is_slashed: bool = False
    is_odd: bool = False

    @property
    def unit_name(self) -> str | None:
        """Return the unit's one spelling; pieces are no unit."""
        if self.unit is None:
            return self.unknown_unit
        return None if self.unit.name == PIECE else self.unit.name


def read_amount(text: str) -> Amount | None:
    """Return the amount a text starts with, or None if it starts with none."""
    few = _few(text)
    if few is not None:
        return few
    if any(text.casefold().startswith(phrase) for phrase in phrases("together")):
        return None
    rest, is_about = _without_about(text)
    number = read_number(rest)
    if number is None:
        return _spoken(rest)
    after = rest[number.length :]
    if re.match(r"\s*(?:%|°)", after) or re.match(r"-(?:[^\W\d_]+-)?[^\W\d_]+", after) is not None:
        # `70% chocolate`, `2-year-old cheese`; but `3-inch piece` has a unit behind the dash.
        if unit_pattern().match(after[1:]) is None or not after.startswith("-"):
            return None
        after = after[1:]
    is_tight = rest[number.length - 1 : number.length] != " "
    if is_tight and after[:1].isalpha() and _unit(after)[0] is None and _TIMES.match(after) is None:
        # `7up` is a name.
        return None
    amount = _measured(after, _counted(number))
    flags = amount.flags + ((Flag.APPROXIMATE,) if is_about else ())
    return replace(amount, flags=flags)


def read_whole_amount(text: str) -> Amount | None:
    """Return the amount a text is, or None if there is more to it than an amount."""
    amount = read_amount(text.strip())
    if amount is None or (amount.quantity is None and not amount.flags):
        return None
    return amount if not amount.rest.strip(" .") else None


def _counted(number: Number) -> Amount:
    return Amount(
        "",
        quantity=number.low,
        quantity_high=number.high,
        flags=(Flag.AMBIGUOUS_NUMBER,) if number.is_ambiguous or number.low is None else (),
        is_slashed=number.is_slashed,
        is_odd=number.is_odd,
    )


def _without_about(text: str) -> tuple[str, bool]:
    for phrase in phrases("about"):
        found = re.match(rf"{re.escape(phrase)}(?:\.|\b|(?<=\W))\s*", text, re.IGNORECASE)
        if found is not None and (read_number(text[found.end() :]) is not None):
            return text[found.end() :], True
    return text, False


def _measured(after: str, amount: Amount) -> Amount:
    """Read what follows the number: sizes, a unit, the same amount again."""
    times = _TIMES.match(after)
    packed = _packed(after[times.end() :] if times else after.lstrip(), amount)
    if packed is not None:
        return packed
    sized, rest = _sizes(after)
    unit, rest = _unit(rest)
    done, beyond = _done(rest) if unit is None else ("", rest)
    if done:
        unit, rest = _unit(beyond)[0], _unit(beyond)[1] + f", {done}"
    if unit is None:
        unknown = _UNKNOWN.match(rest)
        if unknown is not None and amount.quantity is not None:
            return replace(
                amount,
                rest=rest[unknown.end() :],
                unknown_unit=unknown[1],
                size=sized,
                flags=(*amount.flags, Flag.UNKNOWN_UNIT),
            )
        return replace(amount, rest=_PART.sub("", rest.strip()), size=sized)
    if unit.name in ("inch", "cm"):
        rest = _LUMP.sub("", rest)
    held = replace(amount, unit=unit, size=sized)
    inside = _container_after(rest, held)
    return inside or _again(rest, held)


def _done(text: str) -> tuple[str, str]:
    """Take `thinly cut` off the front of `thinly cut slices of ham`, if a unit is behind it."""
    found = _DONE.match(text)
    if found is None:
        return "", text
    parts = found[1].casefold().split()
    known = words("prepared") | words("adverbs")
    is_done = all(part in known for part in parts) and any(
        part in words("prepared") for part in parts
    )
    unit, left = _unit(text[found.end() :])
    if not is_done or unit is None or _OF.match(left) is None:
        return "", text
    return found[1].strip().casefold(), text[found.end() :]


def _packed(after: str, amount: Amount) -> Amount | None:
    """Read `15oz can` behind a number: so many containers of that size."""
    number = read_number(after) if after[:1].isdigit() or after[:1] == "." else None
    if number is None or number.low is None or amount.quantity is None:
        return None
    rest = after[number.length :].removeprefix("-")
    unit, rest = _unit(rest)
    if unit is None or unit.is_container:
        return None
    size = after[: len(after) - len(rest)].strip().rstrip(".")
    sized, beyond = _sizes(rest.removeprefix("-"))
    container, left = _unit(beyond)
    if container is None or not container.is_container:
        return replace(amount, size=size, rest=_without_of(rest))
    shown = f"{size}, {sized}" if sized else size
    return replace(amount, unit=container, size=shown, rest=_without_of(left))


def _container_after(rest: str, amount: Amount) -> Amount | None:
    """Read `12 oz. can`: one can of that size."""
    if amount.unit is None or amount.unit.is_container or amount.quantity_high is not None:
        return None
    if amount.unit.name not in ("oz", "g", "ml", "cl", "lb", "kg", "l", "fl oz"):
        return None
    container, left = _unit(rest.removeprefix("-"))
    if container is None or not container.is_container or amount.quantity is None:
        return None
    size = f"{amount.quantity:g} {amount.unit.name}"
    return replace(amount, quantity=1.0, unit=container, size=size, rest=_without_of(left))


def _again(rest: str, amount: Amount) -> Amount:
    """Read the same amount in another unit, or one that is added."""
    less = _LESS.match(rest)
    if less is not None:
        amount = replace(amount, notes=(*amount.notes, less[1]))
        rest = rest[less.end() :]
    for pattern, is_sum in ((_EQUAL, False), (_ADDED, True)):
        gap = pattern.match(rest)
        if gap is None:
            continue
        second, _ = _without_about(rest[gap.end() :])
        number = read_number(second)
        unit, left = _unit(second[number.length :]) if number is not None else (None, "")
        if unit is None:
            continue
        said = rest[: len(rest) - len(left)].strip()
        note = said if is_sum else rest[gap.end() : len(rest) - len(left)].strip()
        flags = (*amount.flags, Flag.SUM) if is_sum else amount.flags
        return replace(amount, notes=(*amount.notes, note), flags=flags, rest=_without_of(left))
    return replace(amount, rest=_without_of(rest))


def _spoken(text: str) -> Amount | None:
    """Read `pinch of salt` and `heaping teaspoon sugar`: one of it."""
    sized, rest = _sizes(text)
    unit, left = _unit(rest)
    if unit is None or not left.strip():
        return None
    has_of = _OF.match(left) is not None
    is_filled = sized is not None and bool(words("measured") & set(sized.casefold().split()))
    is_measure = unit.name in ("tsp", "tbsp", "cup")
    is_bare = unit.name in ("pinch", "dash", "handful") and left.startswith(" ")
    if not ((has_of and (unit.is_spoken or is_measure)) or is_filled or is_bare):
        return None
    spelled = rest[: len(rest) - len(left)].strip().rstrip(".").casefold()
    is_one = spelled in (unit.name, "tablespoon", "teaspoon", "tin", "twig")
    is_one = is_one or not spelled.endswith("s")
    return Amount(_without_of(left), 1.0 if is_one else None, unit=unit, size=sized)


def _few(text: str) -> Amount | None:
    some = _SOME.match(text)
    if some is not None:
        return Amount(text[some.end() :], notes=(some[1],))
    for phrase in phrases("few"):
        found = re.match(rf"({re.escape(phrase)})\s+(?=\S)", text, re.IGNORECASE)
        if found is not None:
            rest = text[found.end() :]
            unit, left = _unit(rest)
            if unit is not None and left.strip() and _OF.match(left) is not None:
                return Amount(_without_of(left), unit=unit, notes=(found[1],))
            return Amount(_without_of(rest), notes=(found[1],))
    return None


def _sizes(text: str) -> tuple[str | None, str]:
    """Take the words for how big or how full off the front of a text."""
    found: list[str] = []
    rest = text
    known = words("sizes") | words("measured") | {"extra", "very", "fairly"}
    while True:
        word = re.match(r"\s*(?:[-/]\s*)?([^\W\d_]+(?:-[^\W\d_]+)*)(?=[\s/,]|$)", rest)
        if word is None or word[1].casefold() not in known:
            break
        after = rest[word.end() :]
        is_last_word = word[1].casefold() in ("extra", "very", "fairly", "good", "full")
        if (
            is_last_word
            and _sizes(after)[0] is None
            and unit_pattern().match(after.strip()) is None
        ):
            break
        found.append(word[1])
        rest = after
        sized = _SIZED.match(rest)
        if sized is not None:
            rest = rest[sized.end() :]
    return (" ".join(found).casefold() or None), rest if found else text


def _unit(text: str) -> tuple[Unit | None, str]:
    """Take a unit off the front of a text."""
    start = len(text) - len(text.lstrip())
    dashed = re.match(r"\s*-\s*", text)
    if dashed is not None:
        start = dashed.end()
    found = unit_pattern().match(text, start)
    if found is None:
        return None, text
    unit = find_unit(found[0])
    if unit is None:
        return None, text
    return unit, text[found.end() :]


def _without_of(text: str) -> str:
    found = _OF.match(text)
    return (text[found.end() :] if found is not None else text).strip()
