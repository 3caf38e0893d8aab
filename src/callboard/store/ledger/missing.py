"""Missing rows: what the ledger says was written under some keys, and is not there as it was.

Follows the whole chain, so that taking an entry out of it does not hide what the entry said. Looks
at the rows it is asked for only; `verification` looks at all of them.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from callboard.store.ledger.book import Head, head_gap
from callboard.store.ledger.entries import (
    ENTRY_PURPOSE,
    NO_HASH,
    BaselineReason,
    Entry,
    EntryKind,
    Seal,
    Tail,
    read_entries,
)
from callboard.store.ledger.rows import Key, LedgerConnection, quoted


@dataclass(frozen=True, slots=True)
class MissingRows:
    """Keys of rows that are gone or altered; if the chain is not whole, there may be others."""

    keys: frozenset[Key] = frozenset()
    is_whole: bool = True


def missing_rows(
    connection: LedgerConnection, seal: Seal, head: Head, table: str, firsts: Collection[str]
) -> MissingRows:
    """Find what is missing of the rows of a table whose key begins with one of some values.

    Within one snapshot; `head` must have been read before it was taken.
    """
    account = _Account(seal, table, frozenset(firsts), f'"{table}"'.encode())
    with connection.any_text():
        for entry in read_entries(connection):
            account.follow(entry)
        if head_gap(connection, head, account.tail) is not None:
            account.is_whole = False
        there = _digests(connection, table, account.firsts)
    gone = {
        key
        for key, digest in account.said.items()
        if digest is not None and there.get(key) != digest
    }
    return MissingRows(frozenset(gone), account.is_whole)


@dataclass(slots=True)
class _Account:
    """What the chain says so far."""

    seal: Seal
    table: str
    firsts: frozenset[str]
    # What every entry that speaks of the table has in it.
    mark: bytes
    said: dict[Key, str | None] = field(default_factory=dict[Key, str | None])
    tail: Tail = field(default_factory=lambda: Tail(0, NO_HASH))
    is_whole: bool = True

    def follow(self, entry: Entry) -> None:
        # Number 0 is the beginning.
        previous = self.tail.hash if self.tail.seq else entry.hash_at_cut()
        self.tail = Tail(entry.seq, entry.hash)
        follows = entry.expected_hash(previous) == entry.hash
        if not follows:
            self.is_whole = False
        is_baseline = entry.kind == EntryKind.BASELINE
        # Most entries speak of other tables or other rows: of those the hash is enough.
        if not is_baseline and self.mark not in entry.body:
            return
        try:
            content = entry.content()
            listed = content.get("rows", {}).get(self.table, ())
            rows = [row for row in listed if row[0] in self.firsts]
            if rows or is_baseline:
                is_ours = follows and self._is_signed(entry)
                if is_baseline and is_ours:
                    self._begin_anew(content)
                self._take(rows, is_ours)
        except (ValueError, TypeError, AttributeError, LookupError):
            self.is_whole = False

    def _is_signed(self, entry: Entry) -> bool:
        """Say whether this key made the entry; one in its name that it did not make is a flaw."""
        if entry.key_id != self.seal.key_id:
            return False
        is_valid = self.seal.is_valid(ENTRY_PURPOSE, entry.hash, entry.mac)
        self.is_whole = self.is_whole and is_valid
        return is_valid

    def _begin_anew(self, content: dict[str, Any]) -> None:
        self.said.clear()
        if content.get("reason") == BaselineReason.ACCEPTED:
            self.is_whole = True

    def _take(self, rows: list[list[Any]], is_ours: bool) -> None:
        for *key, digest in rows:
            if is_ours:
                self.said[tuple(key)] = digest
            else:
                # Somebody else's word adds to what is known, and takes nothing away.
                self.said.setdefault(tuple(key), digest)


def _digests(connection: LedgerConnection, table: str, firsts: Collection[str]) -> dict[Key, str]:
    shape = connection.shape_of(table)
    columns, first = ", ".join(map(quoted, shape.columns)), quoted(shape.key_columns[0])
    sql = f"SELECT {columns} FROM {quoted(table)} WHERE {first} = ?"  # noqa: S608 - names of our own schema
    found = (tuple(row) for each in firsts for row in connection.execute(sql, (each,)))
    return {shape.key(values): shape.digest(values) for values in found}
