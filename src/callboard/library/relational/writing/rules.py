"""What a domain adds to writing: how names become rows, what joins what, what is asked first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from callboard.choreography.turn.requests import WriteOp
from callboard.library.relational.tables import Described
from callboard.library.relational.writing.changes import Changes
from callboard.library.relational.writing.moment import Moment

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    """A row that takes up what was to be a row of its own."""

    row: Values
    values: Values
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Deletion:
    """How a row goes: for good, or by being changed instead."""

    instead: Values | None = None


class Rules(Protocol):
    """The rules of a domain. Each is called within the transaction of the write."""

    def prepare(self, moment: Moment, table: Described, record: Values, op: WriteOp) -> Values:
        """Complete a record: names become ids, defaults are filled in; may raise `WriteError`."""
        ...

    def joined(self, moment: Moment, table: Described, values: Values) -> Joined | None:
        """Return the row that a new one joins, if there is one."""
        ...

    def reasons(
        self, moment: Moment, table: Described, op: WriteOp, rows: Sequence[Values], values: Values
    ) -> list[str]:
        """Return why the human is asked before this, besides how many rows it touches."""
        ...

    def deletion(self, moment: Moment, table: Described, row: Values) -> Deletion:
        """Say how a row goes."""
        ...

    def before_delete(
        self, moment: Moment, changes: Changes, table: Described, row: Values
    ) -> None:
        """Put in order what refers to a row that goes."""
        ...

    def after_change(
        self, moment: Moment, changes: Changes, table: Described, row: Values, values: Values
    ) -> None:
        """Let what follows from a change happen, in the same transaction."""
        ...

    def label(self, moment: Moment, table: Described, row: Values) -> str:
        """Return how people name a row."""
        ...


class PlainRules:
    """The rules of a domain that has none of its own."""

    def prepare(self, moment: Moment, table: Described, record: Values, op: WriteOp) -> Values:
        """Take a record as it is."""
        return record

    def joined(self, moment: Moment, table: Described, values: Values) -> Joined | None:
        """Join nothing."""
        return None

    def reasons(
        self, moment: Moment, table: Described, op: WriteOp, rows: Sequence[Values], values: Values
    ) -> list[str]:
        """Ask about nothing more."""
        return []

    def deletion(self, moment: Moment, table: Described, row: Values) -> Deletion:
        """Let a row go for good, or archive it where the table knows how."""
        if table.archived is None:
            return Deletion()
        return Deletion({table.archived: moment.today.now.isoformat()})

    def before_delete(
        self, moment: Moment, changes: Changes, table: Described, row: Values
    ) -> None:
        """Have nothing to put in order."""

    def after_change(
        self, moment: Moment, changes: Changes, table: Described, row: Values, values: Values
    ) -> None:
        """Let nothing follow."""

    def label(self, moment: Moment, table: Described, row: Values) -> str:
        """Return what the table says its rows are called."""
        return str(row.get(table.label) or row.get("id") or "")
