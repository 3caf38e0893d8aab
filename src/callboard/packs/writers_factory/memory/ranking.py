"""Ranking: which facts of the foundation come first when there is no room for all of them.

The protagonist's flaw, lie and arc, then constraints, then characters: those in the scene, then
the central ones, then the rest by when they were last said.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.knowledge.fact_rows import KBEntry
from callboard.packs.writers_factory.memory.claims import Names, key_form
from callboard.packs.writers_factory.memory.decisions import Category

FOUNDATION: Final = (Category.CHARACTER, Category.CONSTRAINT)
RECENT: Final = (Category.WORLD, Category.STRUCTURE)

_CORE: Final[tuple[tuple[str, ...], ...]] = (
    ("fatal_flaw", "flaw"),
    ("the_lie", "lie"),
    ("arc_start", "arc_midpoint", "arc_resolution", "arc"),
)
_OWN: Final = frozenset({"", "protagonist", "hero", "heroine"})
_CONSTRAINTS: Final = len(_CORE)
_CHARACTERS: Final = _CONSTRAINTS + 1


@dataclass(frozen=True)
class Scenery:
    """What the ranking looks at beside the facts themselves."""

    protagonist: str = ""
    present: tuple[str, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict[str, float])
    names: Names = field(default_factory=Names)


def rank_foundation(entries: Iterable[KBEntry], scenery: Scenery) -> tuple[KBEntry, ...]:
    """Return the entries, what must never be missing first."""
    return tuple(sorted(entries, key=lambda entry: _place(entry, scenery)))


def take(
    foundation: Iterable[KBEntry], recent: Iterable[KBEntry], limit: int, *, all_foundational: bool
) -> tuple[KBEntry, ...]:
    """Return the foundation and as much of the recent as fits; never more for a limit below 0.

    Unless all of the foundation is wanted, the first entries of both together are taken.
    """
    first, room = tuple(foundation), max(0, limit)
    if not all_foundational:
        return (*first, *recent)[:room]
    return (*first, *tuple(recent)[: max(0, room - len(first))])


_Place = tuple[int, int, float, int, str]


def _place(entry: KBEntry, scenery: Scenery) -> _Place:
    newest = -entry.updated_at
    core = _core_of(entry, scenery.protagonist)
    if core is not None:
        return (*core, 0.0, newest, entry.key)
    if entry.category == Category.CONSTRAINT:
        return (_CONSTRAINTS, 0, 0.0, newest, entry.key)
    node_id, _attribute = scenery.names.split_key(entry.key, "character")
    if node_id in scenery.present:
        return (_CHARACTERS, scenery.present.index(node_id), 0.0, newest, entry.key)
    rank = 0.0 if node_id is None else scenery.ranks.get(node_id, 0.0)
    return (_CHARACTERS, len(scenery.present), -rank, newest, entry.key)


def _core_of(entry: KBEntry, protagonist: str) -> tuple[int, int] | None:
    """Return the place of a fact about the protagonist's flaw, lie or arc."""
    if entry.category != Category.CHARACTER:
        return None
    key = key_form(entry.key)
    for group, attributes in enumerate(_CORE):
        for number, attribute in enumerate(attributes):
            if key != attribute and not key.endswith(f"_{attribute}"):
                continue
            owner = key[: -len(attribute)].strip("_")
            if _is_protagonist(owner, protagonist):
                return group, number
    return None


def _is_protagonist(owner: str, protagonist: str) -> bool:
    if owner in _OWN:
        return True
    known = key_form(protagonist)
    # Nobody said whose book it is: then any flaw may be the one it is about.
    return not known or set(owner.split("_")) <= set(known.split("_"))
