"""What the ledger costs: a durable step with it and without, and a verification of every row.

The same steps are executed on a database with a seal and on one without, in turns; the best round
of each counts. A verification reads each row and each entry once: it is compared with reading the
same rows by SQLite's own integrity check.
"""

import asyncio
import time

from bench.ours import Callboard
from bench.race import described, race
from bench.report import Measured, costlier
from bench.workspace import fresh_folder
from callboard.store.connection import Connection
from callboard.store.database import Seal
from callboard.store.integrity import check_integrity
from callboard.store.sqlite.database import SqliteDatabase


class Unsealed(Callboard):
    """Steps through the engine on a database without a ledger."""

    system = "without the ledger"
    name = "without the ledger"
    is_sealed = False


def measure(*, quick: bool) -> Measured:
    """Race the two, then verify."""
    steps, rounds = (100, 2) if quick else (500, 7)
    alone = race((Callboard, Unsealed), runs=1, steps=steps, rounds=rounds)
    runs, each = (20, 10) if quick else (100, 50)
    together = race((Callboard, Unsealed), runs=runs, steps=each, rounds=rounds)
    rows = 10_000 if quick else 100_000
    verifying, reading = asyncio.run(_verify(rows))
    plain = "the same without a ledger"
    return Measured(
        (
            costlier(
                "durable step with its ledger, sequential (ms)",
                alone[Callboard.system][0].step_ms,
                alone[Unsealed.system][0].step_ms,
                plain,
                at_most=1.5,
            ),
            costlier(
                f"durable step with its ledger, {runs} runs at once (ms)",
                together[Callboard.system][0].step_ms,
                together[Unsealed.system][0].step_ms,
                plain,
                at_most=2,
            ),
            costlier(
                f"verify {rows:,} rows against the ledger (s)",
                verifying,
                reading,
                "SQLite's integrity check of them",
                at_most=None,
            ),
        ),
        (*described(alone), *described(together)),
    )


async def _verify(rows: int) -> tuple[float, float]:
    with fresh_folder() as folder:
        seal = Seal(bytes(32), "bench", folder / "user" / "head")
        database = SqliteDatabase.open(folder / "callboard.db", seal=seal)
        try:
            for start in range(0, rows, 100):
                await database.write(lambda c, start=start: _hundred(c, start))
            started = time.perf_counter()
            report = database.verify()
            verified = time.perf_counter()
            assert report.is_sound
            assert report.rows > rows
            assert check_integrity(database).is_sound
            return verified - started, time.perf_counter() - verified
        finally:
            database.close()


def _hundred(connection: Connection, start: int) -> None:
    connection.executemany(
        "INSERT INTO events (at, type, data) VALUES (?, 'emitted', ?)",
        [(number, "x" * 200) for number in range(start, start + 100)],
    )
