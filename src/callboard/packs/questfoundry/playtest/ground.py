"""Ground: the positions of a book and the moves between them, found as far as somebody asks.

What a move does is asked of the book's own meaning, once for each position; nothing is decided
here a second time.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.book.playing import (
    ReaderPosition,
    applied,
    begin,
    enter,
    is_end,
    offers,
)

REFUSED: Final = -1
UNWRITTEN: Final = -2


@dataclass(frozen=True, slots=True)
class Move:
    """A label on offer: its number, its choice, and the position it leads to.

    A negative position says why it leads nowhere.
    """

    number: int
    choice: str
    to: int


class Ground:
    """Positions by number, the start is 0; the moves of one are worked out when they are asked."""

    def __init__(self, book: Book) -> None:
        """Stand at the start of the book."""
        self.book = book
        self.positions: list[ReaderPosition] = []
        self._numbers: dict[ReaderPosition, int] = {}
        self._moves: list[tuple[Move, ...] | None] = []
        self._number(begin(book))

    def __len__(self) -> int:
        """Return how many positions are known so far."""
        return len(self.positions)

    def moves(self, at: int) -> tuple[Move, ...]:
        """Return the moves at a position, none at an end."""
        known = self._moves[at]
        if known is None:
            known = self._moves[at] = self._found(self.positions[at])
        return known

    def steps(self, at: int) -> list[Move]:
        """Return the moves that lead somewhere."""
        return [each for each in self.moves(at) if each.to >= 0]

    def explore(self, most: int) -> "Map":
        """Go everywhere by the shortest way, to at most so many positions."""
        came: dict[int, tuple[int, int]] = {0: (-1, -1)}
        waiting = deque([0])
        while waiting and len(self) <= most:
            at = waiting.popleft()
            for move in self.steps(at):
                if move.to not in came:
                    came[move.to] = (at, move.number)
                    waiting.append(move.to)
        return Map(came, is_whole=not waiting)

    def _found(self, position: ReaderPosition) -> tuple[Move, ...]:
        book = self.book
        if is_end(book.by_id[position.section]):
            return ()
        moves: list[Move] = []
        for number, offered in enumerate(offers(book, position)):
            choice = offered.choice
            if not offered.is_open:
                to = REFUSED
            elif choice.to not in book.by_id:
                to = UNWRITTEN
            else:
                to = self._number(enter(book, choice.to, applied(position.keys, choice.effects)))
            moves.append(Move(number, choice.id, to))
        return tuple(moves)

    def _number(self, position: ReaderPosition) -> int:
        known = self._numbers.get(position)
        if known is None:
            known = self._numbers[position] = len(self.positions)
            self.positions.append(position)
            self._moves.append(None)
        return known


@dataclass(frozen=True, slots=True)
class Map:
    """How each known position is reached soonest; whole, or as far as it was allowed to grow."""

    came: dict[int, tuple[int, int]]
    is_whole: bool

    def route(self, to: int) -> list[int]:
        """Return the moves from the start to a position."""
        moves: list[int] = []
        while to != 0:
            to, move = self.came[to]
            moves.append(move)
        return moves[::-1]
