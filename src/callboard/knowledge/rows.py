"""What all rows of knowledge share: version rows, and text that a database can store."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from callboard.store.connection import Connection


class KnowledgePart(StrEnum):
    """What has versions of its own."""

    GRAPH = "graph"
    FACTS = "facts"
    LIBRARY = "library"


@dataclass(frozen=True, slots=True)
class KnowledgeVersion:
    """How often a partition changed, and when something was last taken out of it."""

    number: int = 0
    removed: int = 0


def read_version(connection: Connection, part: KnowledgePart, partition: str) -> KnowledgeVersion:
    """Return the version of a partition; one that was never written to is at 0."""
    row: Any = connection.execute(
        "SELECT version, removed_version FROM knowledge_versions"
        " WHERE part = :part AND partition = :partition",
        {"part": part.value, "partition": partition},
    ).fetchone()
    return (
        KnowledgeVersion()
        if row is None
        else KnowledgeVersion(row["version"], row["removed_version"])
    )


def next_version(
    connection: Connection, part: KnowledgePart, partition: str, *, has_removed: bool = False
) -> int:
    """Move a partition to its next version within a unit of work and return it."""
    known = read_version(connection, part, partition)
    number = known.number + 1
    connection.execute(
        "INSERT INTO knowledge_versions (part, partition, version, removed_version)"
        " VALUES (:part, :partition, :version, :removed)"
        " ON CONFLICT (part, partition)"
        " DO UPDATE SET version = :version, removed_version = :removed",
        {
            "part": part.value,
            "partition": partition,
            "version": number,
            "removed": number if has_removed else known.removed,
        },
    )
    return number


def storable(text: str) -> str:
    """Return a text with half surrogate pairs replaced; anything else stays as it is."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
