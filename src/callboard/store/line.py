"""The line of writers: one connection of each process writes, one process at a time."""

from typing import Protocol

from callboard.store.connection import Connection


class WritersLine(Protocol):
    """The one connection of a process that writes, in line with the other processes' writers."""

    @property
    def connection(self) -> Connection:
        """What units of work write through."""
        ...

    def begin(self, *, patient: bool) -> bool:
        """Open a transaction, waiting while others write; the impatient just hear no."""
        ...

    def check(self) -> None:
        """Refuse, by raising, a database that others made unfit since the last commit."""
        ...

    def commit(self) -> None:
        """Make the open transaction durable."""
        ...

    def rollback(self) -> None:
        """Undo the open transaction, if there is one left."""
        ...

    def is_busy(self, error: Exception) -> bool:
        """Say whether nobody's turn came, so that trying again at once would help nobody."""
        ...

    def is_lost(self, error: Exception, /) -> bool:
        """Say whether nothing was stored because the way to the database was cut off."""
        ...

    def explain(self, error: Exception) -> Exception:
        """Return what the user is told of a failure."""
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...
