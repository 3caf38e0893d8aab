"""Retention: what of old, ended work may go, and its going.

Kept for ever are runs with their results, receipts and what they hold, questions, answers, calls.
What goes is how they came about: events, prompts with their replies, steps of sessions nobody uses,
blobs that nothing names any more, and the ledger's account of all that.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.clock import Clock
from callboard.core.run_events import RunCleared
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.journal.events import append_event

_NAME: Final = re.compile(r"[0-9a-f]{64}")
_ENDED: Final = "state IN ('done', 'failed', 'cancelled')"
# An open run replays the steps of those it was forked from.
_OLD: Final = f"""
WITH RECURSIVE needed (id) AS (
  SELECT id FROM runs WHERE NOT {_ENDED}
  UNION SELECT runs.parent_id FROM runs JOIN needed ON runs.id = needed.id
  WHERE runs.parent_id IS NOT NULL
)
SELECT id, session_id FROM runs
WHERE {_ENDED} AND updated_at < :before AND id NOT IN (SELECT id FROM needed)
ORDER BY updated_at, id
"""  # noqa: S608 - literals
_USED: Final = f"""
SELECT DISTINCT session_id FROM runs WHERE updated_at >= :before OR NOT {_ENDED}
"""  # noqa: S608 - literals
# How a run began and ended stays, so that who watches one sees its end; and the newest event,
# whosever it is: numbers of events must not come twice.
_IDLE_EVENTS: Final = (
    "run_id = :run_id AND type NOT LIKE 'run.%' AND seq < (SELECT MAX(seq) FROM events)"
)
_EVENTS: Final = f"""
SELECT COUNT(*) AS count, COALESCE(SUM(LENGTH(data)), 0) AS bytes FROM events WHERE {_IDLE_EVENTS}
"""  # noqa: S608 - literals
_RUNS_PER_WRITE: Final = 100
_CLEAR: Final = {
    "events": f"DELETE FROM events WHERE {_IDLE_EVENTS}",  # noqa: S608 - literals
    "prompts": "DELETE FROM prompts WHERE run_id = :run_id",
    "steps": "DELETE FROM steps WHERE run_id = :run_id",
}


@dataclass(frozen=True, slots=True)
class Clearing:
    """What somebody wants to go: work that ended before a moment (milliseconds).

    With `down_to` only as much of it, oldest first, as brings the database down to so many bytes;
    with `steps` also the journals of runs in sessions that were not used since.
    """

    before: int
    down_to: int | None = None
    steps: bool = False


@dataclass(slots=True)
class Cleared:
    """How much goes, or went; `bytes` is what that leaves free, at least."""

    runs: int = 0
    events: int = 0
    prompts: int = 0
    steps: int = 0
    blobs: int = 0
    entries: int = 0
    bytes: int = 0
    # How much the database holds, before and after.
    before_bytes: int = 0
    after_bytes: int | None = None
    is_shrunk: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        return asdict(self)


@dataclass(slots=True)
class _Papers:
    """What one run would leave behind."""

    run_id: str
    session_id: str
    events: int
    prompts: int
    steps: int
    bytes: int
    # Blobs its rows name, each as often as it does.
    names: Counter[str] = field(default_factory=Counter[str])

    @property
    def is_empty(self) -> bool:
        return not (self.events or self.prompts or self.steps)


class Retention:
    """Clears what old work left behind in a project's database."""

    def __init__(self, database: Database, clock: Clock, touch: Callable[[str, str], None]) -> None:
        """Take where it lies, and whom to tell of a run and session whose copies are behind."""
        self._database = database
        self._clock = clock
        self._touch = touch

    def survey(self, wanted: Clearing) -> Cleared:
        """Tell what would go, and change nothing."""
        told, _ = self._choose(wanted)
        return told

    async def clear(self, wanted: Clearing) -> Cleared:
        """Let it go; what is done when somebody stops this stays done, and the rest can be."""
        surveyed, chosen = self._choose(wanted)
        if surveyed.entries:
            # Before anything goes: what was altered must not lose what proves it.
            self._database.require_proven()
        told = Cleared(before_bytes=surveyed.before_bytes)
        for start in range(0, len(chosen), _RUNS_PER_WRITE):
            some = chosen[start : start + _RUNS_PER_WRITE]
            await self._database.write(partial(self._let_go, some=some))
            for papers in some:
                _add(told, papers)
                if papers.steps:
                    self._touch(papers.run_id, papers.session_id)
        gone = await self._database.write(_drop_unnamed)
        told.blobs, told.bytes = len(gone), told.bytes + sum(gone.values())
        if chosen or gone:
            told.entries = self._database.cut_history()
            told.is_shrunk = self._database.shrink()
        told.after_bytes = self._database.used_bytes()
        return told

    def _choose(self, wanted: Clearing) -> tuple[Cleared, list[_Papers]]:
        size = self._database.used_bytes()
        target = size if wanted.down_to is None else max(size - wanted.down_to, 0)

        def read(connection: Connection) -> tuple[Cleared, list[_Papers]]:
            old = list(_old_papers(connection, wanted))
            weights = _blob_bytes(connection)
            names = _names(connection)
            told, chosen = Cleared(before_bytes=size), list[_Papers]()
            for sha256 in weights.keys() - names.keys():
                told.blobs, told.bytes = told.blobs + 1, told.bytes + weights[sha256]
            for papers in old:
                if wanted.down_to is not None and told.bytes >= target:
                    break
                chosen.append(papers)
                _add(told, papers)
                names.subtract(papers.names)
                for sha256 in papers.names:
                    if names[sha256] <= 0 and sha256 in weights:
                        told.blobs, told.bytes = told.blobs + 1, told.bytes + weights[sha256]
            if chosen or told.blobs:
                row = connection.execute("SELECT COUNT(*) AS count FROM ledger").fetchone()
                told.entries = int(row["count"])
            return told, chosen

        return self._database.read(read)

    def _let_go(self, connection: Connection, some: list[_Papers]) -> None:
        for papers in some:
            for table, sql in _CLEAR.items():
                if getattr(papers, table):
                    connection.execute(sql, {"run_id": papers.run_id})
            append_event(
                connection,
                RunCleared(papers.events, papers.prompts, papers.steps),
                at=self._clock.now_ms(),
                session_id=papers.session_id,
                run_id=papers.run_id,
            )


def _add(told: Cleared, papers: _Papers) -> None:
    told.runs += 1
    told.events += papers.events
    told.prompts += papers.prompts
    told.steps += papers.steps
    told.bytes += papers.bytes


def _old_papers(connection: Connection, wanted: Clearing) -> Iterator[_Papers]:
    params = {"before": wanted.before}
    used = {str(row["session_id"]) for row in connection.execute(_USED, params)}
    for row in connection.execute(_OLD, params).fetchall():
        session_id = str(row["session_id"])
        papers = _papers(
            connection, str(row["id"]), session_id, steps=wanted.steps and session_id not in used
        )
        if not papers.is_empty:
            yield papers


def _papers(connection: Connection, run_id: str, session_id: str, *, steps: bool) -> _Papers:
    of_run = {"run_id": run_id}
    events = connection.execute(_EVENTS, of_run).fetchone()
    papers = _Papers(run_id, session_id, int(events["count"]), 0, 0, int(events["bytes"]))
    for table in ("prompts", "steps") if steps else ("prompts",):
        rows: list[Any] = connection.execute(
            f"SELECT * FROM {table} WHERE run_id = :run_id",  # noqa: S608 - one of two words
            of_run,
        ).fetchall()
        setattr(papers, table, len(rows))
        for row in rows:
            texts = [each for each in tuple(row) if isinstance(each, str)]
            papers.bytes += sum(map(len, texts))
            papers.names.update(_NAME.findall("\n".join(texts)))
    return papers


def _blob_bytes(connection: Connection) -> dict[str, int]:
    rows = connection.execute("SELECT sha256, LENGTH(data) AS bytes FROM blobs")
    return {str(row["sha256"]): int(row["bytes"]) for row in rows}


def _names(connection: Connection) -> Counter[str]:
    """Count what might be the name of a blob in every row there is, whoever wrote it."""
    # Here, because opening a project needs none of the schema's machinery.
    from callboard.store.schema import metadata

    found = Counter[str]()
    for table in metadata.tables.keys() - {"blobs", "ledger"}:
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - names of our own schema
            for value in tuple(row):
                if isinstance(value, str) and len(value) >= 64:
                    found.update(_NAME.findall(value))
    return found


def _drop_unnamed(connection: Connection) -> dict[str, int]:
    """Take away the blobs that no row names; within one write nobody can name one meanwhile."""
    weights = _blob_bytes(connection)
    gone = weights.keys() - _names(connection).keys()
    for sha256 in gone:
        connection.execute("DELETE FROM blobs WHERE sha256 = :sha256", {"sha256": sha256})
    return {sha256: weights[sha256] for sha256 in gone}
