"""Numbered migrations: how an old database becomes a new one, whatever store it lies in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from callboard.core.errors import CallboardError
from callboard.store.connection import Connection


class UnknownSchema(CallboardError):
    """The database was written by a Callboard this one does not know."""

    code = "unknown_schema"


CreateSchema = Callable[[Connection], None]
"""Makes every table and index that is not there, in the words of a store."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered change of the stored shape; a destructive one is preceded by a backup."""

    number: int
    title: str
    apply: Callable[[Connection, CreateSchema], None]
    destructive: bool = False


def _initial(_connection: Connection, _create: CreateSchema) -> None:
    """Version 1 is what `create` makes."""


def _books_and_kitchens(connection: Connection, create: CreateSchema) -> None:
    """Version 2 has more tables, and finds runs of a session by their state."""
    connection.execute("DROP INDEX IF EXISTS runs_by_session")
    create(connection)


def _ledger(connection: Connection, create: CreateSchema) -> None:
    """Version 3 writes down what each commit changed, and calls of tools before they act."""
    create(connection)


def _one_memory_of_answers(connection: Connection, _create: CreateSchema) -> None:
    """Version 4 keeps what models have said under one kind, by all that it depends on.

    The rows of before name their texts and questions by digests alone, so that nobody can tell
    which answer each is; they only saved calls, and each costs one call at most to make again.
    """
    for kind in ("health_judgement", "scene_verdict", "rules_verdict", "rule_verdict"):
        connection.execute("DELETE FROM records WHERE kind = :kind", {"kind": kind})


def _claims(connection: Connection, create: CreateSchema) -> None:
    """Version 5 counts how often each run was claimed, and how often its process died of it."""
    create(connection)


MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration(1, "the journal and its rooms", _initial),
    Migration(2, "books, kitchens and conversations", _books_and_kitchens),
    Migration(3, "a ledger of every row, and calls that have begun", _ledger),
    Migration(4, "one memory of what models have said", _one_memory_of_answers),
    Migration(5, "claims of runs, counted", _claims),
)
FIRST_WITH_LEDGER: Final = 3
