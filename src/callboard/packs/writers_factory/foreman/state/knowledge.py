"""Which decisions and facts go into a prompt, and in how many words.

Foundational ones come first and stay longest; the newest others fill what is left. The graph comes
last and never repeats or contradicts a decision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from callboard.packs.writers_factory.foreman.state.clipping import Clipper
from callboard.packs.writers_factory.foreman.state.session import GRAPH, EntryLine
from callboard.packs.writers_factory.foreman.state.sizes import Sizes

# What an entry costs beside its value: its tags, its category and its key.
_FRAME_TOKENS = 16


def choose_entries(
    entries: Sequence[EntryLine], sizes: Sizes, clipper: Clipper
) -> tuple[EntryLine, ...]:
    """Return the entries to show, cut to size, within the tokens there are."""
    chosen: list[EntryLine] = []
    left = sizes.entries_tokens
    for entry in _in_order(entries, sizes):
        value = clipper.clip(entry.value, sizes.value_tokens)
        cost = clipper.cost(value) + clipper.cost(entry.key[:200]) + _FRAME_TOKENS
        # The first is always there: without it the state would claim that nothing is known.
        if chosen and cost > left:
            break
        left -= cost
        chosen.append(replace(entry, value=value))
    return tuple(chosen)


def _in_order(entries: Sequence[EntryLine], sizes: Sizes) -> Iterator[EntryLine]:
    decisions = [each for each in entries if each.origin != GRAPH]
    foundational = [each for each in decisions if each.is_foundational]
    others = [each for each in decisions if not each.is_foundational]
    if not sizes.all_foundational and sizes.entries:
        foundational = foundational[: sizes.entries]
    yield from foundational
    # Never below zero: more foundational entries than slots must not open the gates.
    yield from others[: max(0, sizes.entries - len(foundational))]
    known = {each.key for each in decisions}
    facts = [each for each in entries if each.origin == GRAPH and each.key not in known]
    yield from facts[: sizes.graph_facts]
