"""Database: one writer, readers beside it. Knows how to keep rows, not what they mean."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, TypeVar

from callboard.store.backlog import Backlog, current
from callboard.store.connection import Connection, Durability
from callboard.store.ledger.book import Gap
from callboard.store.ledger.entries import Seal
from callboard.store.ledger.missing import MissingRows
from callboard.store.ledger.verification import LedgerReport
from callboard.store.writer import Rows, Work

__all__ = ["Connection", "Database", "Durability", "Seal"]

T = TypeVar("T")


class Liveness(Protocol):
    """The lock that tells whether a process lives, and a look at the others' locks."""

    def hold(self, owner: str, /) -> None:
        """Take the lock of a process, and keep it until `let_go` or the end of the process."""
        ...

    def tidy(self) -> None:
        """Remove what is left of processes that died."""
        ...

    def let_go(self) -> None:
        """Give the lock up."""
        ...

    def is_held(self, connection: Connection, owner: str, /) -> bool:
        """Say whether some process holds a lock."""
        ...


class FullText(Protocol):
    """The index of words over the library's passages."""

    def match(
        self, connection: Connection, collection: str, words: Sequence[str], count: int, /
    ) -> list[tuple[int, float]]:
        """Return the passages in which any of the words stand, with how well; more is better."""
        ...


class Database(Protocol):
    """A project's database, whatever it lies on."""

    @property
    def full_text(self) -> FullText:
        """The index of words over the library's passages."""
        ...

    async def write(self, work: Work[T] | Rows, /, backlog: Backlog | None = None) -> T:
        """Run a unit of work in the next group commit; durable when this returns.

        With a backlog it is stored only if everything is that was handed in to that before.
        """
        ...

    def enqueue(self, work: Callable[[Connection], T], /) -> "asyncio.Future[T]":
        """Hand in a unit of work at once; the future is done when it is durable.

        Units are committed in the order they are handed in: unless it fails, nothing that is handed
        in later becomes durable before it.
        """
        ...

    def note(self, work: Callable[[Connection], Any], /) -> None:
        """Hand in a unit of work nobody waits for; it costs no commit of its own if others come.

        What is handed in later never becomes durable before it.
        """
        ...

    def hand_in(self, work: Work[Any] | Rows, backlog: Backlog) -> None:
        """Hand in a unit whose backlog hears what became of it; soon durable."""
        ...

    def hasten(self) -> None:
        """Have what was handed in committed now; whoever waits for it hears of it."""
        ...

    def flush(self) -> None:
        """Commit what was handed in before this returns."""
        ...

    def submit(self, work: Callable[[Connection], T], /) -> "Future[T]":
        """Hand in a unit of work from a thread that has no event loop."""
        ...

    def read(self, work: Callable[[Connection], T], /) -> T:
        """Run a reading unit on this thread's own connection, on one consistent snapshot.

        Done for a run, it sees what that has handed in; see `see_own`.
        """
        ...

    def gap(self) -> Gap | None:
        """Return what this database is known to have lost, until the user accepts the loss."""
        ...

    def missing(self, table: str, firsts: Collection[str]) -> MissingRows:
        """Return which rows, of those whose key begins with one of these, the ledger misses."""
        ...

    def is_own(self) -> bool:
        """Say whether whoever wrote last had this key."""
        ...

    def verify(self) -> LedgerReport:
        """Compare every row with the ledger, and the ledger with its head; nothing is changed."""
        ...

    def accept(self) -> LedgerReport:
        """Have every row count as it is from now on, and return what was wrong until then."""
        ...

    def require_proven(self) -> None:
        """Refuse to go on unless every row is proven to be what was written."""
        ...

    def cut_history(self) -> int:
        """Let the ledger begin anew with the rows as they are; return how many entries are gone.

        Refused unless every row is proven to be what was written.
        """
        ...

    def used_bytes(self) -> int:
        """Return how much room the rows take."""
        ...

    def shrink(self) -> bool:
        """Give free room back to the system; False if somebody else is at work in it."""
        ...

    def version_seen(self) -> int:
        """Return a number that changes whenever any process commits to this database."""
        ...

    def damage(self) -> list[str]:
        """Return what the store itself finds wrong with what it keeps; nothing means sound."""
        ...

    def liveness(self, locks: Path, /) -> Liveness:
        """Return what tells which processes live; a store of files keeps its locks in a folder."""
        ...

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call a quick, thread-safe function after each commit of this process."""
        ...

    def close(self) -> None:
        """Commit what is pending and close every connection."""
        ...


def see_own(database: Database) -> None:
    """Let a run see what it has handed in itself: every `read` begins with this.

    Whoever can wait does so before, with `before_leaving`; this holds its thread up.
    """
    backlog = current()
    if backlog is not None:
        backlog.make_visible(database.flush)
