"""A wish taken apart by code, for a Chief whose model is too small to plan.

Splits at commas and conjunctions where each side can be routed; one task per scene that is named.
"""

import re
from collections.abc import Callable
from typing import Final

from callboard.core.vocabulary import Task

_BREAKS: Final = re.compile(
    r"(?:(?<!\s)\s++)?+[,;.]\s++(?:(?:and|then)\s++)*+|(?<!\s)\s++(?:and\s++then|then|and)\s++"
)
_SCENES: Final = re.compile(
    r"\bscenes?\s+(\d+(?:\s*(?:,|and|&|,\s*and)\s*\d+)+|\d+\s*(?:-|–|to)\s*\d+)", re.IGNORECASE
)
_RANGE: Final = re.compile(r"(\d+)\s*(?:-|–|to)\s*(\d+)")
_MAX_RANGE: Final = 20

IsRoutable = Callable[[str], bool]


def split_wish(wish: str, is_routable: IsRoutable, makes: IsRoutable) -> tuple[Task, ...]:
    """Return the tasks of a wish; those that read wait for those that make, in order.

    `makes` says whether a task writes something that later tasks read.
    """
    clauses = [one for clause in _clauses(wish, is_routable) for one in _per_scene(clause, makes)]
    tasks: list[Task] = []
    makers: list[int] = []
    for number, clause in enumerate(clauses, start=1):
        does_make = makes(clause)
        deps = tuple(makers[-1:] if does_make else makers)
        tasks.append(Task(number, clause, deps=deps))
        if does_make:
            makers.append(number)
    return tuple(tasks)


def _clauses(wish: str, is_routable: IsRoutable) -> list[str]:
    """Split where a piece can stand alone; a piece that cannot belongs to the one before it."""
    text = " ".join(wish.split()).rstrip(".!")
    pieces = [piece for piece in _BREAKS.split(text) if piece]
    clauses: list[str] = []
    position = 0
    for piece in pieces:
        start = text.index(piece, position)
        gap, position = text[position:start], start + len(piece)
        if clauses and not is_routable(piece):
            clauses[-1] += gap + piece
        else:
            clauses.append(piece)
    return clauses or [text]


def _per_scene(clause: str, makes: IsRoutable) -> list[str]:
    found = _SCENES.search(clause)
    if found is None or not makes(clause):
        return [clause]
    numbers = _numbers(found[1])
    return [f"{clause[: found.start()]}scene {number}{clause[found.end() :]}" for number in numbers]


def _numbers(text: str) -> list[int]:
    span = _RANGE.fullmatch(text)
    if span is not None:
        first, last = int(span[1]), int(span[2])
        return list(range(first, min(last, first + _MAX_RANGE - 1) + 1))
    return [int(number) for number in re.findall(r"\d+", text)]
