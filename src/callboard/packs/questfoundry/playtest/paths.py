"""Paths: how many ways there are through a book, and each of them while they are few.

A path goes from the start to an end, to a place without a way on, or back to a position it has
been at: whoever goes round a second time finds nothing new there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callboard.packs.questfoundry.playtest.ground import Ground, Map

MOST_PATHS: Final = 100_000
MOST_POSITIONS: Final = 200_000
_MOST_STEPS: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class PathCount:
    """A number of paths; where it is not exact there are more than that."""

    number: int
    is_exact: bool

    def told(self) -> str:
        """Return it in words."""
        return f"{self.number:,}" if self.is_exact else f"more than {self.number:,}"


def count_paths(ground: Ground, known: Map) -> PathCount:
    """Count the paths: exactly where no path comes back or they are few, else from below."""
    if known.is_whole and (number := _without_return(ground)) is not None:
        return PathCount(number, is_exact=True)
    number, steps = 0, 0
    for path in paths(ground):
        number += 1
        steps += len(path)
        if number > MOST_PATHS or steps > _MOST_STEPS:
            return PathCount(number - 1, is_exact=False)
    return PathCount(number, is_exact=True)


def paths(ground: Ground) -> Iterator[tuple[int, ...]]:
    """Yield every path as the numbers of its moves."""
    route: list[int] = []
    on_path = {0}
    stack = [(0, iter(ground.steps(0)))]
    if not ground.steps(0):
        yield ()
    while stack:
        at, moves = stack[-1]
        move = next(moves, None)
        if move is None:
            stack.pop()
            on_path.discard(at)
            if route:
                route.pop()
            continue
        further = ground.steps(move.to)
        if move.to in on_path or not further:
            yield (*route, move.number)
            continue
        route.append(move.number)
        on_path.add(move.to)
        stack.append((move.to, iter(further)))


def _without_return(ground: Ground) -> int | None:
    """Count by adding up from the ends; None if some path comes back."""
    counts: dict[int, int] = {}
    open_ones: set[int] = set()
    stack = [0]
    while stack:
        at = stack[-1]
        if at in counts:
            stack.pop()
            continue
        steps = ground.steps(at)
        if at in open_ones:
            open_ones.discard(at)
            counts[at] = sum(counts[each.to] for each in steps) or 1
            stack.pop()
            continue
        open_ones.add(at)
        for each in steps:
            if each.to in open_ones:
                return None
            if each.to not in counts:
                stack.append(each.to)
    return counts[0]
