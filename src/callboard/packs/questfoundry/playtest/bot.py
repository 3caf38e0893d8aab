"""Bot: plans playthroughs that leave nothing untried, and counts what they came by.

Every choice is taken that can be, every gateway is passed and is refused where that is possible.
All paths are gone while they are few; else every two choices that can follow each other do.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callboard.core.codec import Coded
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.prose import gateway_of
from callboard.packs.questfoundry.playtest.ground import REFUSED, UNWRITTEN, Ground, Map, Move
from callboard.packs.questfoundry.playtest.paths import (
    MOST_PATHS,
    MOST_POSITIONS,
    count_paths,
    paths,
)

# A playthrough that goes on longer goes in circles.
MOST_MOVES: Final = 500


@dataclass(frozen=True)
class PlaytestReport(Coded):
    """What the bot did; `is_whole` says that no position was left out.

    Where it is not, what was never seen is not proven to be out of reach.
    """

    covers: Literal["all paths", "pairs of choices"]
    playthroughs: int
    path_count: int
    is_path_count_exact: bool
    is_whole: bool
    section_hits: dict[str, int]
    choice_hits: dict[str, int]
    gateways_met: tuple[str, ...]
    gateways_refused: tuple[str, ...]
    never_seen: tuple[str, ...]
    never_taken: tuple[str, ...]
    unwritten: tuple[str, ...]


class PlaytestBot:
    """Plays one book; the same seed plays the same."""

    def __init__(self, book: Book, seed: int = 0) -> None:
        """Take the book and the seed of everything that is drawn."""
        self.book = book
        self.seed = seed
        self.ground = Ground(book)
        self.known: Map = self.ground.explore(MOST_POSITIONS)
        self.count = count_paths(self.ground, self.known)

    @property
    def goes_all_paths(self) -> bool:
        """Whether there are few enough paths to go each of them."""
        return self.count.is_exact and self.count.number <= MOST_PATHS

    def playthroughs(self) -> Iterator[tuple[int, ...]]:
        """Yield what to play, as numbers of labels, so that all is covered."""
        planned = paths(self.ground) if self.goes_all_paths else self._pairs()
        tried: set[str] = set()
        for moves in planned:
            yield self._with_refusals(moves, tried)
        yield from self._refusals(tried)

    def sample(self, number: int) -> Iterator[tuple[int, ...]]:
        """Yield playthroughs drawn by chance; each has its own seed and can be drawn alone."""
        for index in range(number):
            yield self.draw(index)

    def draw(self, index: int) -> tuple[int, ...]:
        """Return the playthrough of a number."""
        # Not for secrets: it must be drawn the same wherever it is drawn.
        chance = random.Random(f"{self.seed}/{index}")  # noqa: S311
        at, moves = 0, list[int]()
        while len(moves) < MOST_MOVES and (steps := self.ground.steps(at)):
            move = steps[int(chance.random() * len(steps))]
            moves.append(move.number)
            at = move.to
        return tuple(moves)

    def report(self, played: Iterable[Sequence[int]] | None = None) -> PlaytestReport:
        """Return what playthroughs came by; without any, those that cover all."""
        tally = _Tally(self)
        for moves in self.playthroughs() if played is None else played:
            tally.add(moves)
        return tally.report()

    def _pairs(self) -> Iterator[tuple[int, ...]]:
        """Yield playthroughs until every two moves that can follow each other have."""
        done: set[tuple[str, str]] = set()
        for at in list(self.known.came):
            for first in self.ground.steps(at):
                for second in self.ground.steps(first.to) or [None]:
                    pair = (first.choice, second.choice if second else "")
                    if pair in done:
                        continue
                    done.add(pair)
                    moves = [*self.known.route(at), first.number]
                    if second is not None:
                        moves.append(second.number)
                        self._go_on(moves, second, done)
                    yield tuple(moves)

    def _go_on(self, moves: list[int], last: Move, done: set[tuple[str, str]]) -> None:
        while len(moves) < MOST_MOVES:
            steps = self.ground.steps(last.to)
            fresh = [each for each in steps if (last.choice, each.choice) not in done]
            if not fresh:
                return
            done.add((last.choice, fresh[0].choice))
            last = fresh[0]
            moves.append(last.number)

    def _with_refusals(self, moves: Sequence[int], tried: set[str]) -> tuple[int, ...]:
        """Try every closed gateway on the way that nobody has tried yet."""
        at, told = 0, list[int]()
        for number in (*moves, -1):
            for each in self.ground.moves(at):
                if each.to in (REFUSED, UNWRITTEN) and each.choice not in tried:
                    tried.add(each.choice)
                    told.append(each.number)
            if number >= 0:
                told.append(number)
                at = self.ground.moves(at)[number].to
        return tuple(told)

    def _refusals(self, tried: set[str]) -> Iterator[tuple[int, ...]]:
        for at in self.known.came:
            closed = [
                each
                for each in self.ground.moves(at)
                if each.to in (REFUSED, UNWRITTEN) and each.choice not in tried
            ]
            if closed:
                tried.update(each.choice for each in closed)
                yield (*self.known.route(at), *(each.number for each in closed))


class _Tally:
    """Counts what playthroughs come by."""

    def __init__(self, bot: PlaytestBot) -> None:
        self.bot = bot
        self.ground = bot.ground
        self.number = 0
        self.positions: Counter[int] = Counter()
        self.taken: Counter[str] = Counter()
        self.refused: set[str] = set()
        self.unwritten: set[str] = set()

    def add(self, moves: Sequence[int]) -> None:
        self.number += 1
        at = 0
        self.positions[at] += 1
        for number in moves:
            move = self.ground.moves(at)[number]
            if move.to >= 0:
                self.taken[move.choice] += 1
                at = move.to
                self.positions[at] += 1
            else:
                (self.refused if move.to == REFUSED else self.unwritten).add(move.choice)

    def report(self) -> PlaytestReport:
        book, count = self.bot.book, self.bot.count
        sections = dict.fromkeys((each.id for each in book.sections), 0)
        for at, hits in self.positions.items():
            sections[self.ground.positions[at].section] += hits
        choices = {choice.id: choice for each in book.sections for choice in each.choices}
        met, refused = set[str](), set[str]()
        for choice in choices.values():
            gateway = gateway_of(book, choice)
            if gateway is not None:
                met |= {gateway.id} if self.taken[choice.id] else set()
                refused |= {gateway.id} if choice.id in self.refused else set()
        return PlaytestReport(
            "all paths" if self.bot.goes_all_paths else "pairs of choices",
            self.number,
            count.number,
            count.is_exact,
            self.bot.known.is_whole,
            sections,
            {each: self.taken[each] for each in choices},
            tuple(sorted(met)),
            tuple(sorted(refused)),
            tuple(each for each, hits in sections.items() if not hits),
            tuple(each for each in choices if not self.taken[each]),
            tuple(sorted(self.unwritten)),
        )
