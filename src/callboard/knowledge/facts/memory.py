"""The facts of a domain in memory: a read cache of one version, for what each prompt reads."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from callboard.knowledge.facts import rows
from callboard.knowledge.facts.values import KBEntry
from callboard.knowledge.versions import Part, Version, read_version
from callboard.store.connection import Connection

Said = tuple[int, KBEntry]
"""A fact and its place in the order of saying."""


@dataclass(frozen=True, slots=True)
class FactMemory:
    """Every fact of a domain at one version that stands, by category, the first said first."""

    version: Version
    categories: Mapping[str, tuple[Said, ...]]

    def of(self, categories: Collection[str]) -> list[KBEntry]:
        """Return the facts of some categories, the first said first."""
        every = [said for each in dict.fromkeys(categories) for said in self._of_one(each)]
        every.sort(key=_place)
        return [entry for _, entry in every]

    def newest(self, categories: Collection[str], limit: int) -> list[KBEntry]:
        """Return the facts of some categories said last, the last one first."""
        if limit <= 0:
            return []
        last = [said for each in dict.fromkeys(categories) for said in self._of_one(each)[-limit:]]
        last.sort(key=_place, reverse=True)
        return [entry for _, entry in last[:limit]]

    def _of_one(self, category: str) -> tuple[Said, ...]:
        return self.categories.get(category, ())


def load_fact_memory(connection: Connection, domain: str, known: FactMemory | None) -> FactMemory:
    """Return the facts as they are now, reading only what changed since they were last known."""
    version = read_version(connection, Part.FACTS, domain)
    if known is not None and known.version == version:
        return known
    # What was removed leaves no row to read, so a cache from before that starts afresh.
    base = known if known is not None and known.version.number >= version.removed else None
    after = base.version.number if base else -1
    changed: dict[str, dict[str, Said]] = {}
    for said in rows.load_changed_facts(connection, domain, after):
        changed.setdefault(said[1].category, {})[said[1].id] = said
    categories = dict(base.categories) if base else {}
    for category, facts in changed.items():
        kept = (said for said in categories.get(category, ()) if said[1].id not in facts)
        categories[category] = _ordered([*kept, *facts.values()])
    return FactMemory(version, categories)


def _ordered(facts: Iterable[Said]) -> tuple[Said, ...]:
    standing = [said for said in facts if said[1].superseded_by is None]
    standing.sort(key=_place)
    return tuple(standing)


def _place(said: Said) -> int:
    return said[0]
