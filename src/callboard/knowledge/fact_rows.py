"""Soft facts as values, as rows, and a domain's facts in memory for what each prompt reads.

Reads and writes; decides nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from callboard.knowledge.rows import KnowledgePart, KnowledgeVersion, read_version
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of


class FactState(StrEnum):
    """Open until consolidation promotes it, or finds that it contradicts what is known."""

    OPEN = "open"
    PROMOTED = "promoted"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class FactRevision:
    """What a fact said before it was said anew."""

    value: str
    source: str
    state: FactState
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class KBEntry:
    """Something that was said; category and key identify it. Lists leave `history` empty."""

    id: str
    category: str
    key: str
    value: str
    source: str
    state: FactState
    created_at: int
    updated_at: int
    superseded_by: str | None = None
    history: tuple[FactRevision, ...] = ()

    @property
    def is_promoted(self) -> bool:
        """Whether it has become part of the graph."""
        return self.state is FactState.PROMOTED


_COLUMNS: Final = "id, category, key, value, source, state, created_at, updated_at, superseded_by"


def load_fact(connection: Connection, domain: str, category: str, key: str) -> KBEntry | None:
    """Return the fact of a category and key."""
    row: Any = connection.execute(
        f"SELECT {_COLUMNS} FROM knowledge_facts"  # noqa: S608 - columns of our own
        " WHERE domain = ? AND category = ? AND key = ?",
        (domain, category, key),
    ).fetchone()
    return None if row is None else fact_of(row)


def load_fact_by_id(connection: Connection, domain: str, fact_id: str) -> KBEntry | None:
    """Return a fact by its id."""
    row: Any = connection.execute(
        f"SELECT {_COLUMNS} FROM knowledge_facts WHERE domain = ? AND id = ?",  # noqa: S608 - columns of our own
        (domain, fact_id),
    ).fetchone()
    return None if row is None else fact_of(row)


def load_facts(
    connection: Connection,
    domain: str,
    categories: Collection[str] | None = None,
    states: Collection[str] | None = None,
    *,
    limit: int | None = None,
    newest_first: bool = True,
    with_superseded: bool = False,
) -> list[KBEntry]:
    """Return facts by when they were last said."""
    where, values = ["domain = ?"], [domain]
    for column, wanted in (("category", categories), ("state", states)):
        if wanted is not None:
            where.append(f"{column} IN ({', '.join('?' for _ in wanted)})")
            values += sorted(wanted)
    if not with_superseded:
        where.append("superseded_by IS NULL")
    order = "DESC" if newest_first else "ASC"
    # SQLite takes a negative limit for none at all; nothing must never become everything.
    bound = "" if limit is None else f" LIMIT {max(limit, 0)}"
    rows: Any = connection.execute(
        f"SELECT {_COLUMNS} FROM knowledge_facts WHERE {' AND '.join(where)}"  # noqa: S608 - only marks and numbers
        f" ORDER BY said {order}{bound}",
        values,
    )
    return [fact_of(row) for row in rows]


def insert_fact(connection: Connection, domain: str, entry: KBEntry, version: int) -> None:
    """Write a new fact."""
    connection.execute(
        f"INSERT INTO knowledge_facts ({_COLUMNS}, domain, said, version)"  # noqa: S608 - columns of our own
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.id,
            entry.category,
            entry.key,
            entry.value,
            entry.source,
            entry.state.value,
            entry.created_at,
            entry.updated_at,
            entry.superseded_by,
            domain,
            version,
            version,
        ),
    )


def revise_fact(connection: Connection, old: KBEntry, new: KBEntry, version: int) -> None:
    """Write what a fact says now and keep what it said, if that was something else."""
    if old.value != new.value:
        connection.execute(
            "INSERT INTO knowledge_fact_history (fact_id, value, source, state, since, until)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (old.id, old.value, old.source, old.state.value, old.updated_at, new.updated_at),
        )
    connection.execute(
        "UPDATE knowledge_facts SET value = ?, source = ?, state = ?, updated_at = ?,"
        " superseded_by = ?, said = ?, version = ? WHERE id = ?",
        (
            new.value,
            new.source,
            new.state.value,
            new.updated_at,
            new.superseded_by,
            version,
            version,
            new.id,
        ),
    )


def load_history(connection: Connection, fact_id: str) -> tuple[FactRevision, ...]:
    """Return what a fact said before, oldest first."""
    rows: Any = connection.execute(
        "SELECT value, source, state, since, until FROM knowledge_fact_history"
        " WHERE fact_id = ? ORDER BY id",
        (fact_id,),
    )
    return tuple(
        FactRevision(
            row["value"], row["source"], FactState(row["state"]), row["since"], row["until"]
        )
        for row in rows
    )


def mark_facts(
    connection: Connection, domain: str, ids: Sequence[str], state: FactState, version: int
) -> int:
    """Set the state of facts; when they were said stays as it is."""
    return connection.executemany(
        "UPDATE knowledge_facts SET state = ?, version = ? WHERE domain = ? AND id = ?",
        [(state.value, version, domain, each) for each in ids],
    ).rowcount


def load_changed_facts(
    connection: Connection, domain: str, after: int
) -> list[tuple[int, KBEntry]]:
    """Return the facts changed after a version, each with its place in the order of saying."""
    rows: Any = connection.execute(
        f"SELECT {_COLUMNS}, said FROM knowledge_facts WHERE domain = ? AND version > ?",  # noqa: S608 - columns of our own
        (domain, after),
    )
    return [(int(row["said"]), fact_of(row)) for row in rows]


@row_of("knowledge_facts", "id")
def fact_of(row: Any) -> KBEntry:
    """Read a fact."""
    return KBEntry(
        id=row["id"],
        category=row["category"],
        key=row["key"],
        value=row["value"],
        source=row["source"],
        state=FactState(row["state"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        superseded_by=row["superseded_by"],
    )


Said = tuple[int, KBEntry]
"""A fact and its place in the order of saying."""


@dataclass(frozen=True, slots=True)
class FactMemory:
    """Every fact of a domain at one version that stands, by category, the first said first."""

    version: KnowledgeVersion
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
    version = read_version(connection, KnowledgePart.FACTS, domain)
    if known is not None and known.version == version:
        return known
    # What was removed leaves no row to read, so a cache from before that starts afresh.
    base = known if known is not None and known.version.number >= version.removed else None
    after = base.version.number if base else -1
    changed: dict[str, dict[str, Said]] = {}
    for said in load_changed_facts(connection, domain, after):
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
