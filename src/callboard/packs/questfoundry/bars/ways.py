"""Ways: a book as numbers, for proofs. Sections are numbers, keys are bits, choices are ways.

Only keys that some choice asks for have a bit: what nobody asks for changes no way. A choice that
leads nowhere, or asks for a key and its absence, is no way; the other checks name it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from callboard.packs.questfoundry.book.model import Book, KeyChange, KeyTest, StoryChoice
from callboard.packs.questfoundry.book.playing import is_end, needs

ALL: Final = -1
STEPS: Final = 3_000_000
SECONDS: Final = 30.0
_LOOKS_AT_CLOCK_EVERY: Final = 4096
_NO_CHANGE: Final = (ALL, 0)


class StoryWay(NamedTuple):
    """A choice that can be followed: `keys` become `keys & keep | gain` on arrival."""

    number: int
    to: int
    need: int
    forbid: int
    keep: int
    gain: int


@dataclass(slots=True)
class Effort:
    """How much a proof may look at. Steps give the same answer everywhere; time is a last stop."""

    steps: int = STEPS
    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    stopped: Literal["", "steps", "time"] = ""
    _ends_at: float | None = None
    _looked: int = 0

    def begin(self) -> "Effort":
        """Start the clock."""
        self._ends_at = self.clock() + self.seconds
        return self

    def spend(self, steps: int) -> bool:
        """Take some steps; False when there is nothing left."""
        self.steps -= steps
        if self.steps < 0:
            self.stopped = self.stopped or "steps"
            return False
        self._looked += steps
        return self._looked < _LOOKS_AT_CLOCK_EVERY or self._is_in_time()

    def part(self, steps: int) -> "Effort":
        """Take some of the steps out as an effort of their own, which ends no later."""
        taken = min(steps, max(self.steps, 0))
        self.steps -= taken
        return Effort(taken, self.seconds, self.clock, _ends_at=self._ends_at)

    def give_back(self, part: "Effort") -> None:
        """Take back what a part did not need; a part may run dry, time runs out for all."""
        self.steps += max(part.steps, 0)
        if part.stopped == "time":
            self.stopped, self.steps = "time", -1

    def _is_in_time(self) -> bool:
        self._looked = 0
        if self._ends_at is None or self.clock() <= self._ends_at:
            return True
        self.stopped, self.steps = "time", -1
        return False


@dataclass(slots=True)
class WayNet:
    """The ways of a book by their numbers: the choice, the section it stands in, the way itself."""

    ids: list[str]
    start: int
    out: list[list[StoryWay]]
    is_end: list[bool]
    entry: list[tuple[int, int]]
    bits: dict[str, int]
    choices: list[str]
    impossible: list[tuple[int, str]]
    ways: list[StoryWay] = field(default_factory=list[StoryWay])
    source: list[int] = field(default_factory=list[int])
    # The numbers of the ways to each section.
    incoming: list[list[int]] = field(default_factory=list["list[int]"])

    @property
    def begins_with(self) -> int:
        """The keys a reader holds after the start's own effects."""
        return self.entry[self.start][1]

    def place_of(self, way: int) -> str:
        """Return where a way stands, for findings."""
        return f"{self.ids[self.source[way]]}/{self.choices[way]}"

    def keys_in(self, mask: int) -> tuple[str, ...]:
        """Return the keys of some bits."""
        return tuple(key for key, bit in self.bits.items() if mask & bit)

    def is_like(self, other: "WayNet") -> bool:
        """Say whether both have the same ways, whatever is told on them."""
        return (
            self.start == other.start
            and self.ids == other.ids
            and self.out == other.out
            and self.is_end == other.is_end
            and self.choices == other.choices
        )


def net_of(book: Book) -> WayNet | None:
    """Number a book; without a start there is nothing to play."""
    if book.start not in book.by_id:
        return None
    sections = [book.by_id[each] for each in dict.fromkeys(each.id for each in book.sections)]
    index = {section.id: number for number, section in enumerate(sections)}
    gates = book.gateway_by_id
    asked: set[str] = set()
    for section in sections:
        for choice in section.choices:
            if choice.requires:
                asked.update(each.key for each in choice.requires)
            if choice.gateway in gates:
                asked.add(gates[choice.gateway].key)
    bits = {key: 1 << number for number, key in enumerate(sorted(asked))}
    entry = [_masks(section.effects, bits) for section in sections]
    net = WayNet(
        [section.id for section in sections],
        index[book.start],
        [[] for _ in sections],
        [is_end(section) for section in sections],
        entry,
        bits,
        [],
        [],
        incoming=[[] for _ in sections],
    )
    for number, section in enumerate(sections):
        if not net.is_end[number]:
            _add_ways(net, book, number, section.choices, index)
    return net


def _add_ways(
    net: WayNet, book: Book, at: int, choices: Iterable[StoryChoice], index: Mapping[str, int]
) -> None:
    out, ways, ids, entry = net.out[at], net.ways, net.choices, net.entry
    for choice in choices:
        to = index.get(choice.to)
        if to is None:
            continue
        need = forbid = 0
        # Most choices ask for nothing and change nothing; they are most of the work.
        if choice.requires or choice.gateway:
            need, forbid = _asked(net, needs(book, choice))
            if need & forbid:
                net.impossible.append((at, choice.id))
                continue
        keep, gain = entry[to]
        if choice.effects:
            first_keep, first_gain = _masks(choice.effects, net.bits)
            gain |= first_gain & keep
            keep &= first_keep
        number = len(ids)
        way = StoryWay(number, to, need, forbid, keep, gain)
        ids.append(choice.id)
        out.append(way)
        ways.append(way)
        net.source.append(at)
        net.incoming[to].append(number)


def _asked(net: WayNet, conditions: Iterable[KeyTest]) -> tuple[int, int]:
    need = forbid = 0
    for condition in conditions:
        if condition.negated:
            forbid |= net.bits[condition.key]
        else:
            need |= net.bits[condition.key]
    return need, forbid


def _masks(effects: tuple[KeyChange, ...], bits: dict[str, int]) -> tuple[int, int]:
    if not effects:
        return _NO_CHANGE
    keep, gain = ALL, 0
    for effect in effects:
        bit = bits.get(effect.key, 0)
        if effect.op == "set":
            gain |= bit
        else:
            keep &= ~bit
            gain &= ~bit
    return keep, gain
