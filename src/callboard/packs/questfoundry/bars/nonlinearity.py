"""Nonlinearity: hubs that lead on, loops that change something, and where all ways meet."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from callboard.packs.questfoundry.bars.checks import found
from callboard.packs.questfoundry.bars.ways import Effort, WayNet
from callboard.packs.questfoundry.book.model import Book, Return, Section, SectionKind
from callboard.packs.questfoundry.verdict import BarFinding

_HUB_WAYS: Final = 4
_MOST_NAMED: Final = 12
# All declared loops together; near ones cost next to nothing.
LOOP_STEPS: Final = 2_000_000


def read_nonlinearity(book: Book, asked: frozenset[str]) -> Iterator[BarFinding]:
    """Tell which declared hubs and loops are none; `asked` are the keys that some choice asks."""
    for section in book.sections:
        if section.kind is SectionKind.HUB:
            ways = {choice.to for choice in section.choices if choice.to in book.by_id}
            if len(ways - {section.id}) < 2:
                yield found("thin_hub", section.id, f"leads to {len(ways)} sections")
    effort = Effort(LOOP_STEPS)
    for declared in book.returns:
        if declared.entry in book.by_id and declared.back_to in book.by_id:
            yield from _loop(book, declared, asked, effort)


def named_places(net: WayNet) -> tuple[str, ...]:
    """Name the hubs of a book and the sections every playthrough passes, as facts."""
    degree = {s: len({way.to for way in ways}) for s, ways in enumerate(net.out)}
    hubs = sorted((s for s in degree if degree[s] >= _HUB_WAYS), key=lambda s: (-degree[s], s))
    meeting = sorted(range(len(net.ids)), key=lambda s: (-len(net.incoming[s]), s))
    meeting = [s for s in meeting if len(net.incoming[s]) >= _HUB_WAYS]
    necks = bottlenecks(net)
    return (
        _named("hubs", [f"{net.ids[s]} ({degree[s]} ways)" for s in hubs]),
        _named("ways meet at", [f"{net.ids[s]} ({len(net.incoming[s])})" for s in meeting]),
        _named("bottlenecks", [net.ids[s] for s in necks]),
    )


def bottlenecks(net: WayNet) -> list[int]:
    """Return the sections that every chain of choices from the start to an end passes."""
    import rustworkx

    graph: Any = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(len(net.ids) + 1))
    graph.add_edges_from_no_data([(s, way.to) for s, ways in enumerate(net.out) for way in ways])
    sink = len(net.ids)
    graph.add_edges_from_no_data([(s, sink) for s, is_end in enumerate(net.is_end) if is_end])
    above: dict[int, int] = rustworkx.immediate_dominators(graph, net.start)
    passed: list[int] = []
    at = above.get(sink)
    while at is not None and at != net.start:
        passed.append(at)
        at = above.get(at)
    return passed[::-1]


def rings(net: WayNet, sections: set[int]) -> list[list[int]]:
    """Return the groups of these sections in which each leads to each."""
    import rustworkx

    order = sorted(sections)
    number = {section: index for index, section in enumerate(order)}
    edges = [(number[s], number[w.to]) for s in order for w in net.out[s] if w.to in number]
    graph: Any = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(len(order)))
    graph.add_edges_from_no_data(edges)
    turning = {one for one, other in edges if one == other}
    groups: Iterable[list[int]] = rustworkx.strongly_connected_components(graph)
    return sorted(
        sorted(order[each] for each in group)
        for group in groups
        if len(group) > 1 or group[0] in turning
    )


def _named(what: str, places: list[str]) -> str:
    more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    return f"{what}: {', '.join(places[:_MOST_NAMED]) or 'none'}{more}"


def _loop(
    book: Book, declared: Return, asked: frozenset[str], effort: Effort
) -> Iterator[BarFinding]:
    place = f"loop {declared.entry} to {declared.back_to}"
    changed = _changed(book, declared, effort, only_near=True)
    changed = changed or _changed(book, declared, effort, only_near=False)
    if effort.stopped:
        yield found("loop_undecided", place, "the loops of this book are too many to follow")
    elif changed is None:
        told = f"{declared.back_to} is not reached from {declared.entry}"
        yield found("loop_missing", place, told)
    elif not changed:
        yield found("loop_without_difference", place, "no key is set or cleared on the way round")
    elif not changed & asked:
        told = f"no choice asks for {', '.join(sorted(changed))}"
        yield found("loop_unnoticed", place, told)
    elif not declared.difference.strip():
        yield found("loop_unnoticed", place, "the difference is not said")


def _changed(book: Book, declared: Return, effort: Effort, *, only_near: bool) -> set[str] | None:
    """Return the keys that ways from entry to return change; None if there is no such way.

    Near is the entry and its own choice back, which is how most loops close.
    """
    start, back = book.by_id[declared.entry], declared.back_to
    before: dict[str, list[str]] = {}
    seen = {start.id}
    waiting = [start]
    while waiting:
        section = waiting.pop()
        if not effort.spend(len(section.choices) + 1):
            return None
        for choice in section.choices:
            if choice.to not in book.by_id:
                continue
            before.setdefault(choice.to, []).append(section.id)
            if choice.to != back and choice.to not in seen and not only_near:
                seen.add(choice.to)
                waiting.append(book.by_id[choice.to])
    if back not in before:
        return None
    on_loop = {back}
    steps = [back]
    while steps:
        fresh = [each for each in before.get(steps.pop(), ()) if each not in on_loop]
        on_loop.update(fresh)
        steps += fresh
    return set(_changes(book, on_loop, back))


def _changes(book: Book, on_loop: set[str], back: str) -> Iterator[str]:
    for name in on_loop - {back}:
        section: Section = book.by_id[name]
        yield from (effect.key for effect in section.effects)
        for choice in section.choices:
            if choice.to in on_loop:
                yield from (effect.key for effect in choice.effects)
