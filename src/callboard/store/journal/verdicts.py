"""Rows of evidence verdicts: what was cited, what was found, and how often each code occurred."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json, compact_json
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One verdict on one reply; `sources` is what was looked up and whether it holds."""

    at: int
    agent_id: str
    role: str
    accepted: bool
    abstained: bool = False
    codes: tuple[str, ...] = ()
    detail: str = ""
    sources: tuple[Mapping[str, Json], ...] = ()
    session_id: str | None = None
    run_id: str | None = None
    step_key: str | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Which verdicts are wanted; what is not said does not matter."""

    session_id: str | None = None
    run_id: str | None = None
    agent_id: str | None = None
    code: str | None = None

    def params(self) -> dict[str, str | None]:
        """Return the values the statements below are given."""
        return {
            "session_id": self.session_id,
            "run_id": self.run_id,
            "agent_id": self.agent_id,
            "code": self.code,
        }


_WHERE = (
    " WHERE (:session_id IS NULL OR v.session_id = :session_id)"
    " AND (:run_id IS NULL OR v.run_id = :run_id)"
    " AND (:agent_id IS NULL OR v.agent_id = :agent_id)"
    " AND (:code IS NULL OR EXISTS (SELECT 1 FROM evidence_codes w"
    " WHERE w.verdict_id = v.id AND w.code = :code))"
)


def insert_verdict(connection: Connection, record: VerdictRecord) -> int:
    """Store a verdict within the caller's transaction and return its number."""
    row = connection.execute(
        "INSERT INTO evidence_verdicts (at, agent_id, role, accepted, abstained, codes, detail,"
        " sources, session_id, run_id, step_key) VALUES (:at, :agent_id, :role, :accepted,"
        " :abstained, :codes, :detail, :sources, :session_id, :run_id, :step_key) RETURNING id",
        {
            "at": record.at,
            "agent_id": record.agent_id,
            "role": record.role,
            "accepted": int(record.accepted),
            "abstained": int(record.abstained),
            "codes": compact_json(list(record.codes)),
            "detail": record.detail,
            "sources": compact_json([dict(each) for each in record.sources]),
            "session_id": record.session_id,
            "run_id": record.run_id,
            "step_key": record.step_key,
        },
    ).fetchone()
    number = int(row["id"])
    for code in dict.fromkeys(record.codes):
        connection.execute(
            "INSERT INTO evidence_codes (verdict_id, code) VALUES (:id, :code)",
            {"id": number, "code": code},
        )
    return number


def list_verdicts(
    connection: Connection, wanted: VerdictFilter | None = None, *, limit: int = 100
) -> list[VerdictRecord]:
    """Return verdicts, newest first."""
    rows = connection.execute(
        f"SELECT v.* FROM evidence_verdicts v{_WHERE} ORDER BY v.id DESC LIMIT :limit",  # noqa: S608 - a fixed text
        {**(wanted or VerdictFilter()).params(), "limit": limit},
    )
    return [_record(row) for row in rows]


def count_codes(connection: Connection, wanted: VerdictFilter | None = None) -> dict[str, int]:
    """Return how often each code was the reason for a refusal, the most frequent first."""
    rows = connection.execute(
        "SELECT c.code AS code, COUNT(*) AS times FROM evidence_codes c"  # noqa: S608 - a fixed text
        f" JOIN evidence_verdicts v ON v.id = c.verdict_id{_WHERE}"
        " GROUP BY c.code ORDER BY times DESC, c.code",
        (wanted or VerdictFilter()).params(),
    )
    return {row["code"]: int(row["times"]) for row in rows}


def count_verdicts(connection: Connection, wanted: VerdictFilter | None = None) -> dict[str, int]:
    """Return how many replies were accepted, abstained and were refused."""
    row = connection.execute(
        "SELECT COUNT(*) AS total, COALESCE(SUM(v.accepted), 0) AS accepted,"  # noqa: S608 - a fixed text
        f" COALESCE(SUM(v.abstained), 0) AS abstained FROM evidence_verdicts v{_WHERE}",
        (wanted or VerdictFilter()).params(),
    ).fetchone()
    total, passed, abstained = (int(row[name]) for name in ("total", "accepted", "abstained"))
    return {
        "accepted": passed - abstained,
        "abstained": abstained,
        "rejected": total - passed,
    }


def _record(row: Any) -> VerdictRecord:
    return VerdictRecord(
        at=row["at"],
        agent_id=row["agent_id"],
        role=row["role"],
        accepted=bool(row["accepted"]),
        abstained=bool(row["abstained"]),
        codes=tuple(decode(row["codes"])),
        detail=row["detail"],
        sources=tuple(decode(row["sources"])),
        session_id=row["session_id"],
        run_id=row["run_id"],
        step_key=row["step_key"],
        id=row["id"],
    )
