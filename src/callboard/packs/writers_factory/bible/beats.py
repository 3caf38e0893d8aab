"""The fifteen beats: their names, places and acts, read from the file beside this module."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml

BEAT_COUNT: Final = 15
MIDPOINT: Final = 9
MIDPOINT_FIELD: Final = "midpoint_type"
MIDPOINT_TYPES: Final = ("false_victory", "false_defeat")
_FIELD: Final = re.compile(r"beat_?0?(\d{1,2})(?:_[a-z0-9_]*)?|0?(\d{1,2})")


@dataclass(frozen=True, slots=True)
class BeatPoint:
    """A beat as every story has it: where it belongs, whatever happens in it."""

    number: int
    name: str
    low_pct: float
    high_pct: float
    act: str

    @property
    def field(self) -> str:
        """The field of the beat sheet that holds it."""
        return f"beat_{self.number}"

    @property
    def place(self) -> str:
        """Where it belongs, in words: `50 %` or `50-75 %`."""
        low, high = f"{self.low_pct:g}", f"{self.high_pct:g}"
        return f"{low} %" if low == high else f"{low}-{high} %"

    @property
    def title(self) -> str:
        """Number, name and place, as headings show them."""
        return f"{self.number}. {self.name} ({self.place})"


@dataclass(frozen=True, slots=True)
class Beat:
    """A beat of this story."""

    point: BeatPoint
    content: str = ""
    midpoint_type: str | None = None
    # Ids of the scenes that serve it, where the caller knows an outline.
    scenes: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Which of the fifteen it is."""
        return self.point.number

    @property
    def name(self) -> str:
        """What the beat is called."""
        return self.point.name


@cache
def beat_points() -> tuple[BeatPoint, ...]:
    """Return the fifteen beats in their order."""
    entries: list[dict[str, Any]] = bundled_yaml(
        "callboard.packs.writers_factory.bible", "beats.yaml"
    )
    return tuple(BeatPoint(**entry) for entry in entries)


def beat_point(number: int) -> BeatPoint | None:
    """Return one beat, or None for a number that is none."""
    return next((point for point in beat_points() if point.number == number), None)


def act_at(pct: float) -> str:
    """Return the act a place in the book belongs to: the last whose first beat has begun."""
    begun = "1"
    for point in beat_points():
        if point.act != begun and pct >= point.low_pct and point.number in _ACT_OPENERS:
            begun = point.act
    return begun


_ACT_OPENERS: Final = frozenset({6, 10, 13})


def beat_number(name: str) -> int | None:
    """Return which beat a field name, a number or a beat's own name means."""
    hit = _FIELD.fullmatch(name)
    if hit is not None:
        number = int(hit[1] or hit[2])
        return number if 1 <= number <= BEAT_COUNT else None
    plain = _squeezed(name)
    for point in beat_points():
        if _squeezed(point.name) == plain:
            return point.number
    return None


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()).removeprefix("the")
