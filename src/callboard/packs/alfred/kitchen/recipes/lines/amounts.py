"""The amount a text starts with: how many, of what unit, how big each.

Knows nothing of names. What it cannot read it leaves where it is.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.lexicon import (
    PIECE,
    Number,
    Unit,
    phrases,
    read_number,
    unit_pattern,
    words,
)
from callboard.packs.alfred.kitchen.recipes.lines.units import (
    OF,
    take_sizes,
    take_smaller,
    take_unit,
    without_of,
)
from callboard.packs.alfred.kitchen.recipes.recipe import LineFlag

_TIMES: Final = re.compile(r"\s*(?:x|\*)\s*(?=\d)", re.IGNORECASE)
_EQUAL: Final = re.compile(r"\s*(?:/|\||=|\bor\b|-)\s*(?=[~\d])", re.IGNORECASE)
_ADDED: Final = re.compile(r"\s*(?:\+|\bplus\b|\band\b|&)\s*(?=[~\d])", re.IGNORECASE)
_SOME: Final = re.compile(
    r"((?:an?\s+)?[^\W\d_]+\s+(?:amount|quantity))\s+of\s+(?=\S)", re.IGNORECASE
)
_DONE: Final = re.compile(r"\s*((?:[^\W\d_]+ ){1,2})(?=[^\W\d_]+ of )")
_LESS: Final = re.compile(r"\s*(or (?:less|more|so))\b", re.IGNORECASE)
_PART: Final = re.compile(r"^of\s+(?:an?\s+|the\s+)?", re.IGNORECASE)
_LUMP: Final = re.compile(
    r"^[\s-]*(?:long\s+)?(?:pieces?|knobs?|chunks?|sticks?)(?=\s)", re.IGNORECASE
)
_INCHES: Final = re.compile(
    r"\s*in\b\.?(?=\s+(?:pieces?|knobs?|fresh|cubes?|root|long)|\s*$)", re.I
)
_ARTICLE: Final = re.compile(r"^\s*an?\s+(?=\w)", re.IGNORECASE)
# Units that say one of it without `of`: `handful mint leaves`.
_BARE: Final = frozenset(
    ["pinch", "dash", "handful", "bunch", "sprig", "splash", "drizzle", "knob", "dollop", "glug"]
)
_UNKNOWN: Final = re.compile(
    r"\s*([^\W\d_][\w'’-]*(?: [^\W\d_][\w'’-]*)?)\s+of\s+(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class LineAmount:
    """How much, and what is left of the text behind it."""

    rest: str
    quantity: float | None = None
    quantity_high: float | None = None
    unit: Unit | None = None
    unknown_unit: str | None = None
    size: str | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[LineFlag, ...] = ()
    is_slashed: bool = False
    is_odd: bool = False

    @property
    def unit_name(self) -> str | None:
        """Return the unit's one spelling; pieces are no unit."""
        if self.unit is None:
            return self.unknown_unit
        return None if self.unit.name == PIECE else self.unit.name


def read_amount(text: str) -> LineAmount | None:
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
    if (
        is_tight
        and after[:1].isalpha()
        and take_unit(after)[0] is None
        and _TIMES.match(after) is None
    ):
        # `7up` is a name.
        return None
    amount = _measured(after, _counted(number))
    flags = amount.flags + ((LineFlag.APPROXIMATE,) if is_about else ())
    return replace(amount, flags=flags)


def read_whole_amount(text: str) -> LineAmount | None:
    """Return the amount a text is, or None if there is more to it than an amount."""
    amount = read_amount(text.strip())
    if amount is None or (amount.quantity is None and not amount.flags):
        return None
    return amount if not amount.rest.strip(" .") else None


def _counted(number: Number) -> LineAmount:
    return LineAmount(
        "",
        quantity=number.low,
        quantity_high=number.high,
        flags=(LineFlag.AMBIGUOUS_NUMBER,) if number.is_ambiguous or number.low is None else (),
        is_slashed=number.is_slashed,
        is_odd=number.is_odd,
    )


def _without_about(text: str) -> tuple[str, bool]:
    for phrase in phrases("about"):
        found = re.match(rf"{re.escape(phrase)}(?:\.|\b|(?<=\W))\s*", text, re.IGNORECASE)
        if found is not None and (read_number(text[found.end() :]) is not None):
            return text[found.end() :], True
    return text, False


def _measured(after: str, amount: LineAmount) -> LineAmount:
    """Read what follows the number: sizes, a unit, the same amount again."""
    after = _ARTICLE.sub(" ", after)
    times = _TIMES.match(after)
    packed = _packed(after[times.end() :] if times else after.lstrip(), amount)
    if packed is not None:
        return packed
    sized, rest = take_sizes(after)
    unit, rest = take_unit(rest)
    done, beyond = _done(rest) if unit is None else ("", rest)
    if done:
        unit, rest = take_unit(beyond)[0], take_unit(beyond)[1] + f", {done}"
    if unit is None:
        unknown = _UNKNOWN.match(rest)
        is_measure = unknown is not None and unknown[1].split()[-1].casefold() not in words(
            "wholes"
        )
        if unknown is not None and is_measure and amount.quantity is not None:
            return replace(
                amount,
                rest=rest[unknown.end() :],
                unknown_unit=unknown[1],
                size=sized,
                flags=(*amount.flags, LineFlag.UNKNOWN_UNIT),
            )
        return replace(amount, rest=_PART.sub("", rest.strip()), size=sized)
    held = replace(amount, unit=unit, size=sized)
    rest = _lump(held, rest)
    return _container_after(rest, held) or _again(rest, held)


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
    unit, left = take_unit(text[found.end() :])
    if not is_done or unit is None or OF.match(left) is None:
        return "", text
    return found[1].strip().casefold(), text[found.end() :]


def _packed(after: str, amount: LineAmount) -> LineAmount | None:
    """Read `15oz can` behind a number: so many containers of that size."""
    number = read_number(after) if after[:1].isdigit() or after[:1] == "." else None
    if number is None or number.low is None or amount.quantity is None:
        return None
    rest = after[number.length :].removeprefix("-")
    unit, rest = take_unit(rest)
    if unit is None or unit.is_container:
        return None
    size = after[: len(after) - len(rest)].strip().rstrip(".")
    note, beyond = _equal(rest)
    sized, beyond = take_sizes(beyond.removeprefix("-"))
    container, left = take_unit(beyond)
    notes = (*amount.notes, note) if note else amount.notes
    if container is None or not container.is_container:
        left = without_of(_LUMP.sub("", _equal(rest)[1]))
        return replace(amount, size=size, notes=notes, rest=left)
    shown = f"{size}, {sized}" if sized else size
    return replace(amount, unit=container, size=shown, notes=notes, rest=without_of(left))


def _container_after(rest: str, amount: LineAmount) -> LineAmount | None:
    """Read `12 oz. can`: one can of that size."""
    if amount.unit is None or amount.unit.is_container or amount.quantity_high is not None:
        return None
    if amount.unit.name not in ("oz", "g", "ml", "cl", "lb", "kg", "l", "fl oz"):
        return None
    container, left = take_unit(rest.removeprefix("-"))
    if container is None or not container.is_container or amount.quantity is None:
        return None
    size = f"{amount.quantity:g} {amount.unit.name}"
    return replace(amount, quantity=1.0, unit=container, size=size, rest=without_of(left))


def _again(rest: str, amount: LineAmount) -> LineAmount:
    """Read the same amount in another unit, or one that is added."""
    less = _LESS.match(rest)
    if less is not None:
        amount = replace(amount, notes=(*amount.notes, less[1]))
        rest = rest[less.end() :]
    note, left = _equal(rest)
    if note:
        return replace(amount, notes=(*amount.notes, note), rest=without_of(_lump(amount, left)))
    gap = _ADDED.match(rest)
    left = _second(rest[gap.end() :]) if gap is not None else None
    left = left or (take_smaller(amount.unit, rest) if amount.unit is not None else None)
    if left is not None:
        notes = (*amount.notes, rest[: len(rest) - len(left)].strip())
        flags = (*amount.flags, LineFlag.SUM)
        return replace(amount, notes=notes, flags=flags, rest=without_of(left))
    return replace(amount, rest=without_of(rest))


def _equal(rest: str) -> tuple[str, str]:
    """Take `/ 1 lb 2 oz` off the front of a text: the same amount in other units."""
    notes: list[str] = []
    while (gap := _EQUAL.match(rest)) is not None:
        left = _second(rest[gap.end() :])
        if left is None:
            break
        notes.append(rest[gap.end() : len(rest) - len(left)].strip())
        rest = left
    return "; ".join(notes), rest


def _second(text: str) -> str | None:
    """Return what is behind a second amount, or None if there is none."""
    second, _ = _without_about(text)
    number = read_number(second)
    if number is None:
        return None
    inches = _INCHES.match(second, number.length)
    if inches is not None:
        return second[inches.end() :]
    unit, left = take_unit(second[number.length :])
    if unit is None:
        return None
    return take_smaller(unit, left) or left


def _lump(amount: LineAmount, rest: str) -> str:
    is_length = amount.unit is not None and amount.unit.name in ("inch", "cm")
    return _LUMP.sub("", rest) if is_length else rest


def _spoken(text: str) -> LineAmount | None:
    """Read `pinch of salt` and `heaping teaspoon sugar`: one of it."""
    sized, rest = take_sizes(text)
    unit, left = take_unit(rest)
    if unit is None or not left.strip():
        return None
    has_of = OF.match(left) is not None
    is_filled = sized is not None and bool(words("measured") & set(sized.casefold().split()))
    is_measure = unit.name in ("tsp", "tbsp", "cup")
    is_bare = unit.name in _BARE and left.startswith(" ")
    if not ((has_of and (unit.is_spoken or is_measure)) or is_filled or is_bare):
        return None
    spelled = rest[: len(rest) - len(left)].strip().rstrip(".").casefold()
    is_one = spelled in (unit.name, "tablespoon", "teaspoon", "tin", "twig")
    is_one = is_one or not spelled.endswith("s")
    return LineAmount(without_of(left), 1.0 if is_one else None, unit=unit, size=sized)


def _few(text: str) -> LineAmount | None:
    some = _SOME.match(text)
    if some is not None:
        return LineAmount(text[some.end() :], notes=(some[1],))
    for phrase in phrases("few"):
        found = re.match(rf"({re.escape(phrase)})\s+(?=\S)", text, re.IGNORECASE)
        if found is not None:
            rest = text[found.end() :]
            unit, left = take_unit(take_sizes(rest)[1])
            is_many = rest[: len(rest) - len(left)].strip(" .").endswith("s")
            if unit is not None and left.strip() and (is_many or OF.match(left) is not None):
                return LineAmount(without_of(left), unit=unit, notes=(found[1],))
            return LineAmount(without_of(rest), notes=(found[1],))
    return None
