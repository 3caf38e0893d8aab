"""Shapes: the known forms a branching story takes, grown into a book that is sound as it grows.

An act has one way in and one way out. What opens a gateway lies before it, and whoever lacks it
can go back for it or go round: so no reader is ever locked in, whatever the seed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from random import Random
from typing import Final

from callboard.core.errors import CallboardError, ErrorTier
from callboard.packs.questfoundry.book.model import Book, SectionKind
from callboard.packs.questfoundry.growing.garden import BookWording, Garden, plain_wording

FEWEST_SECTIONS: Final = 8
FEWEST_IN_ACT: Final = 6


class StoryShape(StrEnum):
    """A form that a story may take."""

    BRANCH_AND_BOTTLENECK = "branch_and_bottleneck"
    HUB = "hub"
    GAUNTLET = "gauntlet"
    LOOP_AND_GROW = "loop_and_grow"


class CannotGrow(CallboardError):
    """A plan that no sound book fits."""

    code = "quest_cannot_grow"
    tier = ErrorTier.USER_FIXABLE


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """How large a book shall be and which shapes its acts take, in turn."""

    shapes: tuple[StoryShape, ...] = tuple(StoryShape)
    sections: int = 24
    gateways: int = 2
    endings: int = 3
    choices: int = 0
    """How many choices there are at least; more than the shapes need join sections of one act."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Act:
    entry: str
    leave: str
    within: tuple[str, ...]


def grow(plan: GrowthPlan, wording: BookWording | None = None) -> Book:
    """Grow a sound book; the same plan and wording give the same book."""
    _check(plan)
    garden = Garden(wording or plain_wording(), Random(plan.seed))  # noqa: S311 - stories, no secrets
    start = garden.add(keystone=True)
    room = plan.sections - 1 - plan.endings
    count = max(1, min(max(plan.gateways, len(plan.shapes)), room // FEWEST_IN_ACT))
    acts: list[_Act] = []
    at = start
    for number in range(count):
        size = room // count + (number < room % count)
        shape = plan.shapes[number % len(plan.shapes)]
        act = _SHAPES[shape](garden, size, has_gate=number < plan.gateways)
        garden.join(at, act.entry)
        acts.append(act)
        at = act.leave
    for _ in range(plan.endings):
        garden.join(at, garden.end())
    _thicken(garden, acts, plan.choices)
    return garden.harvest()


def _check(plan: GrowthPlan) -> None:
    if plan.endings < 1 or not plan.shapes:
        raise CannotGrow(
            f"A book with {plan.endings} endings and {len(plan.shapes)} shapes cannot grow",
            fix="Ask for at least one ending and one shape.",
        )
    least = plan.endings + 1 + FEWEST_IN_ACT * max(1, plan.gateways)
    if plan.sections < max(least, FEWEST_SECTIONS):
        raise CannotGrow(
            f"{plan.sections} sections are too few for {plan.gateways} gateways and"
            f" {plan.endings} endings",
            fix=f"Ask for {max(least, FEWEST_SECTIONS)} sections or more.",
        )


def _branch(garden: Garden, size: int, *, has_gate: bool) -> _Act:
    """ColdPart the ways and bring them together; the gateway is a way round for one branch only."""
    entry, leave = garden.add(), garden.add(keystone=True)
    inside = [garden.add() for _ in range(size - 2 - has_gate)]
    branches = [inside[number::2] for number in range(2)]
    for branch in branches:
        for one, other in pairwise([entry, *branch, leave]):
            garden.join(one, other)
    if has_gate:
        secret = garden.add()
        key = garden.grant(branches[0][-1])
        at = branches[1][-1] if garden.chance.random() < 0.5 else leave
        if at != leave:
            # Whoever went the other way may look behind first.
            garden.join(branches[0][-1], at)
        garden.gate(at, secret, key)
        if at == leave:
            garden.back(secret, leave)
        else:
            garden.join(secret, leave)
    return _Act(entry, leave, ())


def _hub(garden: Garden, size: int, *, has_gate: bool) -> _Act:
    """Let every way lead from one place and back; the way out needs what one of them gives."""
    leave = garden.add(keystone=True)
    hub = garden.add(SectionKind.HUB)
    rooms = [garden.add() for _ in range(size - 2)]
    for room in rooms:
        garden.join(hub, room)
        garden.back(room, hub)
    _go_out(garden, hub, leave, garden.chance.choice(rooms), has_gate=has_gate)
    return _Act(hub, leave, (hub, *rooms))


def _gauntlet(garden: Garden, size: int, *, has_gate: bool) -> _Act:
    """Lead on through one danger after another, each with a side step that comes back in."""
    leave = garden.add(keystone=True)
    line = [garden.add() for _ in range(max(2, (size - 1 - has_gate) // 2))]
    sides = [garden.add() for _ in range(size - 1 - has_gate - len(line))]
    for one, other in pairwise([*line, leave]):
        garden.join(one, other)
    after = [*line[1:], leave]
    for number, side in enumerate(sides):
        at = number % len(line)
        garden.join(line[at], side)
        garden.join(side, after[at])
    if has_gate:
        key = garden.grant(sides[0] if sides else line[0])
        refuge = garden.add()
        garden.gate(line[-1], refuge, key)
        garden.join(refuge, leave)
    return _Act(line[0], leave, ())


def _loop(garden: Garden, size: int, *, has_gate: bool) -> _Act:
    """Go round, and find more open each time; the way out needs what the round gives."""
    leave = garden.add(keystone=True)
    head = garden.add()
    ring = [garden.add() for _ in range(size - 2)]
    for one, other in pairwise([head, *ring]):
        garden.join(one, other)
    last = ring[-1]
    garden.back(last, head)
    if len(ring) > 2:
        garden.join(head, ring[len(ring) // 2])
    _go_out(garden, head, leave, last, has_gate=has_gate)
    return _Act(head, leave, (head, *ring))


def _go_out(garden: Garden, one: str, leave: str, giver: str, *, has_gate: bool) -> None:
    if not has_gate:
        garden.join(one, leave)
        return
    key = garden.grant(giver)
    garden.gate(one, leave, key)
    garden.back(giver, one, garden.things[key])


_SHAPES: Final[Mapping[StoryShape, Callable[..., _Act]]] = {
    StoryShape.BRANCH_AND_BOTTLENECK: _branch,
    StoryShape.HUB: _hub,
    StoryShape.GAUNTLET: _gauntlet,
    StoryShape.LOOP_AND_GROW: _loop,
}


def _thicken(garden: Garden, acts: list[_Act], choices: int) -> None:
    """Join more sections of acts in which going anywhere is safe, until there are enough."""
    open_acts = [act for act in acts if len(act.within) > FEWEST_IN_ACT]
    wanted = choices - sum(len(plot.choices) for plot in garden.plots.values())
    tries = 20 * max(wanted, 0) if open_acts else 0
    while wanted > 0 and tries > 0:
        tries -= 1
        act = garden.chance.choice(open_acts)
        wanted -= garden.join(garden.chance.choice(act.within), garden.chance.choice(act.within))
