"""All bars of a branching book: 10,000 sections, 30,000 choices, 64 codewords, grown from a seed.

Reachability is everything that is proved of the ways: what can be reached and what an end can be
reached from. Beside it stand a plain walk of the same graph by networkx, which knows no keys and
proves nothing of them, and playing out every place a reader can be in, which is exact and stopped
at two million steps. The best of several rounds counts. A changed section is judged with what is
remembered of the rest, once with new words and once with one way less. The same book has its bars
judged with a canon of 200 facts of 100 people, whom every third section names.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx
import psutil

from bench.report import Measured, Result, costlier
from callboard.packs.questfoundry.bars.judging import BookMemory, judge
from callboard.packs.questfoundry.bars.playthroughs import play_all
from callboard.packs.questfoundry.bars.reachability import prove
from callboard.packs.questfoundry.bars.ways import Effort, WayNet, net_of
from callboard.packs.questfoundry.book.model import Book, CanonStatement, Section
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, grow
from callboard.packs.questfoundry.verdict import GateDecision

ROUNDS = 5
STATES_STEPS = 2_000_000
MOST_SECONDS = {"all bars": 3.0, "reachability": 0.5, "changed": 0.3}
MOST_MB = 300.0
FIRST_NAMES = ["Ada", "Bram", "Cora", "Dirk", "Edda", "Finn", "Gwen", "Hugo", "Iris", "Jory"]
LAST_NAMES = ["Vale", "Reed", "Stone", "Marsh", "Holt", "Wick", "Penn", "Lowe", "Dray", "Fenn"]
EYES = ("blue", "green", "brown", "grey")
OTHERS = (("hair", "black"), ("age", "40"), ("occupation", "baker"), ("fear", "deep water"))


def measure(*, quick: bool) -> Measured:
    """Grow a book, judge it, change it, judge it again."""
    size = 1_000 if quick else 10_000
    book = grow(GrowthPlan(sections=size, gateways=64, choices=3 * size, seed=1))
    before = psutil.Process().memory_info().rss
    judged = _best(lambda: _passes(book, BookMemory()))
    taken = (psutil.Process().memory_info().rss - before) / 2**20
    net = net_of(book)
    assert net is not None
    graph = _graph(net)
    proved = _best(lambda: _proved(book))
    walked = _best(lambda: len(networkx.descendants(graph, net.start)))
    effort = Effort(STATES_STEPS)
    started = time.perf_counter()
    is_whole = play_all(net, effort).is_whole
    played = time.perf_counter() - started
    memory = BookMemory()
    judge(book, previous=memory)
    name = f"book of {size:,} sections"
    told = _with_canon(book)
    held = _best(lambda: _passes(told, BookMemory()))
    canon_memory = BookMemory()
    judge(told, previous=canon_memory)
    return Measured(
        (
            _within(f"{name}: all bars (s)", judged, MOST_SECONDS["all bars"], "s"),
            _within(f"{name}: memory of all bars (MB)", taken, MOST_MB, "MB"),
            replace(
                costlier(
                    f"{name}: reachability (s)",
                    proved,
                    walked,
                    f"networkx {networkx.__version__}, a walk without keys",
                    at_most=None,
                    goal=f"at most {MOST_SECONDS['reachability']:g} s",
                ),
                met=proved <= MOST_SECONDS["reachability"],
            ),
            costlier(
                f"{name}: reachability beside every place (s)",
                proved,
                played,
                f"every place, {'whole' if is_whole else f'unfinished at {STATES_STEPS:,} steps'}",
                at_most=None,
            ),
            _again(f"{name}: again after new words (s)", book, memory, _reworded),
            _again(f"{name}: again after one way less (s)", book, memory, _cut),
            _within(f"{name} with canon: all bars (s)", held, MOST_SECONDS["all bars"], "s"),
            _again(f"{name} with canon: after new words (s)", told, canon_memory, _reworded),
        ),
        (f"{len(net.choices):,} ways, {len(net.bits)} keys, best of {ROUNDS} rounds",),
    )


def _with_canon(book: Book) -> Book:
    """Give a book 200 facts, and let every third section name whom two of them are about."""
    people = [f"{first} {last}" for last in LAST_NAMES for first in FIRST_NAMES]
    canon: list[CanonStatement] = []
    for number, who in enumerate(people):
        facts = (("eyes", EYES[number % len(EYES)]), OTHERS[number % len(OTHERS)])
        canon += [CanonStatement(f"fact:{who}/{a}", "fact", who, text, a) for a, text in facts]
    sections = list(book.sections)
    for at in range(0, len(sections), 3):
        number = at % len(people)
        who, eyes = people[number], EYES[number % len(EYES)]
        met = f"{who} stands at the wall and looks at you with {eyes} eyes. {who} says nothing."
        sections[at] = replace(sections[at], text=f"{sections[at].text} {met}")
    return replace(book, canon=tuple(canon), sections=tuple(sections))


def _passes(book: Book, memory: BookMemory) -> None:
    assert judge(book, previous=memory).decision is GateDecision.PASS


def _proved(book: Book) -> None:
    net = net_of(book)
    assert net is not None
    proof = prove(net, Effort().begin())
    assert not proof.reach.undecided and not proof.locks.undecided


def _graph(net: WayNet) -> Any:
    graph: Any = networkx.DiGraph()
    graph.add_edges_from((net.source[way.number], way.to) for way in net.ways)
    return graph


def _again(
    name: str, book: Book, memory: BookMemory, change: Callable[[Section], Section]
) -> Result:
    took: list[float] = []
    for number in range(ROUNDS):
        at = len(book.sections) // 2 + number
        section = change(book.sections[at])
        book = replace(book, sections=(*book.sections[:at], section, *book.sections[at + 1 :]))
        gc.collect()
        started = time.perf_counter()
        judge(book, previous=memory)
        took.append(time.perf_counter() - started)
    return _within(name, min(took), MOST_SECONDS["changed"], "s")


def _reworded(section: Section) -> Section:
    return replace(section, text=f"{section.text} You wait a little.")


def _cut(section: Section) -> Section:
    return replace(section, choices=section.choices[: max(1, len(section.choices) - 1)])


def _best(work: Callable[[], object]) -> float:
    took: list[float] = []
    for _ in range(ROUNDS):
        gc.collect()
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return min(took)


def _within(name: str, ours: float, most: float, unit: str) -> Result:
    return Result(name, ours, None, "", None, f"at most {most:g} {unit}", ours <= most)
