"""Looking for damage: pages, references, blobs that no longer match their name."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from callboard.core.canonical import digest_bytes
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
    """Check pages, foreign keys and every blob's hash."""

    def work(connection: Connection) -> IntegrityReport:
        problems: list[str] = []
        for row in connection.execute("PRAGMA integrity_check"):
            if row[0] != "ok":
                problems.append(str(row[0]))
        for row in connection.execute("PRAGMA foreign_key_check"):
            problems.append(f"{row[0]} row {row[1]} refers to a missing {row[2]}")
        count = 0
        for row in connection.execute("SELECT sha256, data FROM blobs"):
            count += 1
            if digest_bytes(bytes(row["data"])) != row["sha256"]:
                problems.append(f"blob {row['sha256']} does not match its content")
        return IntegrityReport(tuple(problems), count)

    return database.read(work)


def salvage(path: Path, target: Path) -> dict[str, int]:
    """Copy every row that can still be read into a new database; return rows per table."""
    kept: dict[str, int] = {}
    fresh = Database.open(target)
    fresh.close()
    source = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    copy = sqlite3.connect(target)
    try:
        tables = [
            row[0]
            for row in copy.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
        ]
        for table in tables:
            kept[table] = _salvage_table(source, copy, table)
        copy.commit()
    finally:
        source.close()
        copy.close()
    return kept


def _salvage_table(source: sqlite3.Connection, copy: sqlite3.Connection, table: str) -> int:
    kept = 0
    try:
        for row in source.execute(f"SELECT * FROM {table}"):  # noqa: S608 - names from our own schema
            marks = ", ".join("?" for _ in row)
            copy.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)  # noqa: S608 - names from our own schema
            kept += 1
    except sqlite3.DatabaseError:
        # The rows after a damaged page cannot be reached; those before it are kept.
        return kept
    return kept
