"""Soft facts as rows. Reads and writes them; decides nothing."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from callboard.knowledge.facts.values import FactRevision, FactState, KBEntry
from callboard.store.connection import Connection
from callboard.store.journal.encoding import row_of

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
