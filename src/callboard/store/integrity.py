"""Looking for damage: pages, references, blobs that no longer match their name."""

from dataclasses import dataclass

from callboard.core.canonical import digest_bytes
from callboard.store.connection import StoreCorrupt
from callboard.store.database import Connection, Database


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """What a check found; nothing found means sound."""

    problems: tuple[str, ...]
    blobs_checked: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_integrity(database: Database) -> IntegrityReport:
    """Check what the store can tell of itself, and the hash of every blob; nothing is raised."""
    problems = database.damage()
    try:
        found, count = database.read(_blobs)
    except StoreCorrupt as error:
        found, count = [error.message], 0
    return IntegrityReport((*problems, *found), count)


def _blobs(connection: Connection) -> tuple[list[str], int]:
    problems: list[str] = []
    count = 0
    for row in connection.execute("SELECT sha256, data FROM blobs"):
        count += 1
        data = row["data"]
        # Somebody may have put a text there.
        if not isinstance(data, bytes) or digest_bytes(data) != row["sha256"]:
            problems.append(f"blob {row['sha256']} does not match its content")
    return problems, count
