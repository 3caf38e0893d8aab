"""SQLite by itself: one INSERT per transaction, WAL, synchronous=FULL. The floor."""

import json
import sqlite3
from pathlib import Path

from bench.peers.contender import payload


class RawSqlite:
    """Commits the payload and nothing else; no run, no replay, no event."""

    system = "raw SQLite commit"
    name = f"SQLite {sqlite3.sqlite_version}, one INSERT per commit"

    def __init__(self) -> None:
        self._connection: sqlite3.Connection | None = None
        self._run = 0

    async def open(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=2000"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute(
            "CREATE TABLE steps (run INTEGER, key TEXT, seq INTEGER, output TEXT,"
            " PRIMARY KEY (run, key)) WITHOUT ROWID"
        )

    async def perform(self, runs: int, steps: int) -> None:
        connection = self._connection
        assert connection is not None
        for _ in range(runs):
            self._run += 1
            for number in range(steps):
                text = json.dumps(payload())
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(
                    "INSERT INTO steps VALUES (?, ?, ?, ?)",
                    (self._run, f"step/{number}", number, text),
                )
                connection.execute("COMMIT")

    async def close(self) -> None:
        assert self._connection is not None
        self._connection.close()
