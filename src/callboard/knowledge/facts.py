"""Facts: what was said in a domain and is not yet, or not only, in the graph.

Saying something anew under its category and key replaces it and keeps what it was.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from callboard.core.clock import Clock
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.ids import IdMaker
from callboard.knowledge import fact_rows
from callboard.knowledge.fact_rows import (
    FactMemory,
    FactRevision,
    FactState,
    KBEntry,
    load_fact_memory,
)
from callboard.knowledge.rows import KnowledgePart, next_version, read_version, storable
from callboard.store.connection import Connection
from callboard.store.database import Database

DEFAULT_LIMIT: Final = 20


class Facts:
    """The soft facts of one domain."""

    def __init__(self, database: Database, domain: str, ids: IdMaker, clock: Clock) -> None:
        """Read nothing yet."""
        self.domain = domain
        self._database = database
        self._ids = ids
        self._clock = clock
        self._memory: FactMemory | None = None

    def version(self) -> int:
        """Return a number that grows with every commit that changes these facts, by anybody."""
        return self._database.read(
            lambda connection: read_version(connection, KnowledgePart.FACTS, self.domain).number
        )

    async def save(self, category: str, key: str, value: str, source: str = "") -> KBEntry:
        """Keep what was said; durable when this returns."""
        return await self._database.write(
            lambda connection: self.save_in(connection, category, key, value, source)
        )

    def save_in(
        self,
        connection: Connection,
        category: str,
        key: str,
        value: str,
        source: str = "",
        now: int | None = None,
    ) -> KBEntry:
        """Keep what was said within a caller's unit of work; it is open again, whatever it was."""
        category, key = _named(category, "category"), _named(key, "key")
        if not value.strip():
            raise InvalidInput(
                f"The fact {category}/{key} has no value.",
                fix="Say what was decided, or delete the fact.",
            )
        at = self._clock.now_ms() if now is None else now
        version = next_version(connection, KnowledgePart.FACTS, self.domain)
        old = fact_rows.load_fact(connection, self.domain, category, key)
        if old is None:
            entry = KBEntry(
                id=self._ids.make("fact"),
                category=category,
                key=key,
                value=storable(value),
                source=storable(source),
                state=FactState.OPEN,
                created_at=at,
                updated_at=at,
            )
            fact_rows.insert_fact(connection, self.domain, entry, version)
            return entry
        entry = replace(
            old,
            value=storable(value),
            source=storable(source),
            state=FactState.OPEN,
            updated_at=at,
            superseded_by=None,
        )
        fact_rows.revise_fact(connection, old, entry, version)
        return replace(entry, history=fact_rows.load_history(connection, entry.id))

    def get(self, category: str, key: str) -> KBEntry | None:
        """Return the fact of a category and key with its history, or None."""

        def look(connection: Connection) -> KBEntry | None:
            found = fact_rows.load_fact(connection, self.domain, category, key)
            if found is None:
                return None
            return replace(found, history=fact_rows.load_history(connection, found.id))

        return self._database.read(look)

    def load_in(self, connection: Connection, fact_id: str) -> KBEntry | None:
        """Return a fact by its id within a caller's unit of work, or None."""
        return fact_rows.load_fact_by_id(connection, self.domain, fact_id)

    def list(
        self,
        category: str | Collection[str] | None = None,
        limit: int | None = None,
        newest_first: bool = True,
    ) -> tuple[KBEntry, ...]:
        """Return facts by when they were last said, of all categories or of some."""
        categories = [category] if isinstance(category, str) else category
        return self._database.read(
            lambda connection: tuple(
                fact_rows.load_facts(
                    connection, self.domain, categories, limit=limit, newest_first=newest_first
                )
            )
        )

    def unpromoted(self, limit: int | None = None) -> tuple[KBEntry, ...]:
        """Return the open facts, oldest first: what consolidation has before it."""
        return self._database.read(lambda connection: self.unpromoted_in(connection, limit))

    def unpromoted_in(
        self, connection: Connection, limit: int | None = None
    ) -> tuple[KBEntry, ...]:
        """Return the open facts, oldest first, within a unit of work."""
        return tuple(
            fact_rows.load_facts(
                connection,
                self.domain,
                states=[FactState.OPEN.value],
                limit=limit,
                newest_first=False,
            )
        )

    def context(
        self, foundational: Sequence[str], recent: Sequence[str], limit: int = DEFAULT_LIMIT
    ) -> tuple[KBEntry, ...]:
        """Return all facts of the foundational categories, then the newest of the recent ones.

        The limit holds for both together, but no foundational fact is ever left out for it. For
        packs that have no ranking of their own, as that of novels has.
        """
        memory = self._current()
        first = memory.of(foundational)
        others = set(recent).difference(foundational)
        return (*first, *memory.newest(others, limit - len(first)))

    async def delete(self, category: str, key: str) -> bool:
        """Forget a fact and its history; say whether there was one."""
        return await self._database.write(
            lambda connection: self.delete_in(connection, category, key)
        )

    def delete_in(self, connection: Connection, category: str, key: str) -> bool:
        """Forget a fact within a caller's unit of work; say whether there was one."""
        removed = connection.execute(
            "DELETE FROM knowledge_facts WHERE domain = ? AND category = ? AND key = ?",
            (self.domain, category, key),
        ).rowcount
        if removed:
            next_version(connection, KnowledgePart.FACTS, self.domain, has_removed=True)
        return removed > 0

    def mark_in(self, connection: Connection, ids: Iterable[str], state: FactState | str) -> int:
        """Set the state of facts within a caller's unit of work; return how many there were."""
        chosen = list(dict.fromkeys(ids))
        wanted = FactState(state)
        version = next_version(connection, KnowledgePart.FACTS, self.domain)
        return fact_rows.mark_facts(connection, self.domain, chosen, wanted, version)

    def supersede_in(self, connection: Connection, fact_id: str, by: str) -> None:
        """Say that another fact stands for this one; it is no longer listed.

        For the keeper of a software team's history, whose newer records replace older ones.
        """
        for each in (fact_id, by):
            if fact_rows.load_fact_by_id(connection, self.domain, each) is None:
                raise NotFound(f"There is no fact {each!r} in {self.domain!r}.", id=each)
        version = next_version(connection, KnowledgePart.FACTS, self.domain)
        connection.execute(
            "UPDATE knowledge_facts SET superseded_by = ?, version = ? WHERE domain = ? AND id = ?",
            (by, version, self.domain, fact_id),
        )

    def history(self, fact_id: str) -> tuple[FactRevision, ...]:
        """Return what a fact said before, oldest first."""
        return self._database.read(lambda connection: fact_rows.load_history(connection, fact_id))

    def count(self, category: str | None = None) -> int:
        """Return how many facts there are, superseded ones included."""
        where = "" if category is None else " AND category = ?"
        values = (self.domain,) if category is None else (self.domain, category)
        row = self._database.read(
            lambda connection: connection.execute(
                f"SELECT COUNT(*) FROM knowledge_facts WHERE domain = ?{where}",  # noqa: S608 - only marks
                values,
            ).fetchone()
        )
        return int(row[0])

    def _current(self) -> FactMemory:
        known = self._memory
        memory = self._database.read(
            lambda connection: load_fact_memory(connection, self.domain, known)
        )
        self._memory = memory
        return memory


def _named(text: str, what: str) -> str:
    if not text.strip():
        raise InvalidInput(
            f"A fact needs a {what}; it got {text!r}.", fix="Category and key identify a fact."
        )
    return storable(text.strip())
