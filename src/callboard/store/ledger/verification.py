"""Verification: is every row what was last written, and is the ledger itself whole?

Reads each entry and each row once, changes neither, and names every flaw with its row.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from callboard.core.clock import iso
from callboard.store.ledger.baseline import read_rows
from callboard.store.ledger.book import Gap, Head, head_gap
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
from callboard.store.ledger.rows import Key, LedgerConnection, named


@dataclass(frozen=True, slots=True)
class LedgerFlaw:
    """One thing that is not as it was written; a row is named by its table and key."""

    code: str
    message: str
    table: str = ""
    key: str = ""
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """What was looked at and what was found.

    `unproven` tells what nobody on this machine can vouch for, which is neither sound nor altered;
    `notes` are harmless.
    """

    entries: int = 0
    rows: int = 0
    flaws: tuple[LedgerFlaw, ...] = ()
    unproven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether every row is proven to be what was written."""
        return not self.flaws and not self.unproven


@dataclass(frozen=True, slots=True)
class _Said:
    """What the newest entry that speaks of a row says."""

    digest: str | None
    entry: Entry


def verify_ledger(connection: LedgerConnection, seal: Seal | None, head: Head) -> LedgerReport:
    """Check a database within one snapshot; `head` must have been read before it was taken."""
    work = _Work(seal)
    with connection.any_text():
        for entry in read_entries(connection):
            work.follow(entry)
        work.check_end(connection, head)
        work.check_rows(connection)
    return work.report()


@dataclass(slots=True)
class _Work:
    seal: Seal | None
    flaws: list[LedgerFlaw] = field(default_factory=list[LedgerFlaw])
    notes: list[str] = field(default_factory=list[str])
    said: dict[str, dict[Key, _Said]] = field(default_factory=dict[str, dict[Key, _Said]])
    # Entries by the id of a key that is not here.
    foreign: Counter[str] = field(default_factory=Counter[str])
    # What keeps the end of the chain from being proven.
    loose_ends: list[str] = field(default_factory=list[str])
    last: Entry | None = None
    entries: int = 0
    rows: int = 0
    unproven_rows: int = 0

    def follow(self, entry: Entry) -> None:
        """Take the next entry of the chain into account."""
        self.entries += 1
        is_genuine = self._check_link(entry) and self._check_mark(entry)
        self.last = entry
        try:
            content = entry.content()
            if entry.kind == EntryKind.GAP and is_genuine:
                gap = Gap(entry.seq, content["reason"], content["known"], content["found"])
                self._flaw("entries_lost", f"{gap} (noticed at {iso(entry.at)})", entry)
            elif entry.kind == EntryKind.BASELINE and is_genuine:
                self._begin_anew(entry, content)
            self._take(entry, content.get("rows", {}))
        except (ValueError, TypeError, KeyError, AttributeError):
            self._flaw("entry_changed", "cannot be read", entry)

    def check_end(self, connection: LedgerConnection, head: Head) -> None:
        """Compare the end of the chain with what was countersigned."""
        tail = Tail(0, NO_HASH) if self.last is None else Tail(self.last.seq, self.last.hash)
        gap = head_gap(connection, head, tail)
        if gap is not None:
            since = "" if self.last is None else f"; its newest entry is of {iso(self.last.at)}"
            message = f"the ledger does not end where this machine knows it to: {gap}{since}"
            self.flaws.append(LedgerFlaw("entries_lost", message, "ledger", seq=gap.seq))
        elif self.entries and self.seal is not None and head.tail is None:
            self.loose_ends.append(
                f"nothing countersigns where the ledger ends: {self.seal.head} is missing"
            )
        elif self.entries == 0:
            self.notes.append("this database has no ledger yet: nothing is proven")

    def check_rows(self, connection: LedgerConnection) -> None:
        """Compare every row with what was last written of it."""
        is_kept = self.entries > 0
        for table in connection.protected_tables():
            shape = connection.shape_of(table)
            said = self.said.pop(table, {})
            for values in read_rows(connection, shape):
                self.rows += 1
                key = shape.key(values)
                known = said.pop(key, None)
                if known is None or known.digest is None:
                    if is_kept:
                        self._row_flaw("row_added", table, key, known, "was not written by us")
                elif known.digest != shape.digest(values):
                    self._row_flaw("row_changed", table, key, known, "is not what was written")
                elif known.entry.key_id in self.foreign:
                    self.unproven_rows += 1
            self._missing(table, said)
        for table, said in self.said.items():
            self._missing(table, said)

    def report(self) -> LedgerReport:
        """Return what was found."""
        return LedgerReport(
            self.entries, self.rows, tuple(self.flaws), tuple(self._unproven()), tuple(self.notes)
        )

    def _check_link(self, entry: Entry) -> bool:
        previous = self.last
        expected = 1 if previous is None else previous.seq + 1
        # Only an entry that says what is lost, or that it does not matter, may leave numbers out.
        if entry.seq != expected and entry.kind not in (EntryKind.GAP, EntryKind.BASELINE):
            missing = f"entries {expected} to {entry.seq - 1}"
            if expected == entry.seq - 1:
                missing = f"entry {expected}"
            self._flaw("entries_removed", f"{missing} before it are missing", entry)
            return False
        before = entry.hash_at_cut() if previous is None else previous.hash
        if entry.expected_hash(before) != entry.hash:
            self._flaw("entry_changed", "does not follow from the entry before it", entry)
            return False
        return True

    def _check_mark(self, entry: Entry) -> bool:
        if self.seal is None or entry.key_id != self.seal.key_id:
            self.foreign[entry.key_id] += 1
            return True
        if not self.seal.is_valid(ENTRY_PURPOSE, entry.hash, entry.mac):
            self._flaw("entry_forged", "was not signed by your key", entry)
            return False
        return True

    def _begin_anew(self, entry: Entry, content: dict[str, Any]) -> None:
        self.said.clear()
        when = iso(entry.at)
        match content["reason"]:
            case BaselineReason.ADOPTED:
                self.notes.append(f"not proven before {when}: the ledger was begun then")
            case BaselineReason.ACCEPTED if entry.key_id not in self.foreign:
                count = len(self.flaws)
                told = f"you accepted the database at {when} as it was"
                self.notes.append(f"{told}, with {count} flaws" if count else told)
                self.flaws.clear()
                # What other keys signed before is vouched for by that.
                self.foreign.clear()
            case BaselineReason.CUT:
                self.notes.append(f"entries before {when} were taken away, at your wish")
            case _:
                pass

    def _take(self, entry: Entry, rows: dict[str, Any]) -> None:
        for table, listed in rows.items():
            said = self.said.setdefault(table, {})
            for each in listed:
                said[tuple(each[:-1])] = _Said(each[-1], entry)

    def _missing(self, table: str, said: dict[Key, _Said]) -> None:
        for key, known in said.items():
            if known.digest is not None:
                self._row_flaw("row_removed", table, key, known, "is gone")

    def _row_flaw(self, code: str, table: str, key: Key, known: _Said | None, why: str) -> None:
        since = ""
        if known is not None:
            since = f"; last written at {iso(known.entry.at)} (entry {known.entry.seq})"
        name = named(table, key)
        message = f"{name}: {why}{since}"
        seq = None if known is None else known.entry.seq
        self.flaws.append(LedgerFlaw(code, message, table, name.removeprefix(f"{table} "), seq))

    def _flaw(self, code: str, why: str, entry: Entry) -> None:
        message = f"ledger {entry.seq}: {why}"
        self.flaws.append(LedgerFlaw(code, message, "ledger", str(entry.seq), entry.seq))

    def _unproven(self) -> list[str]:
        if not self.foreign:
            return self.loose_ends
        if self.seal is None:
            return [f"{self.entries} entries cannot be checked: there is no key on this machine"]
        keys = ", ".join(sorted(self.foreign))
        return [
            *self.loose_ends,
            f"{self.foreign.total()} entries were signed by a key this machine does not know"
            f" ({keys}); {self.unproven_rows} rows rest on them",
        ]
