"""Rows of issues, numbered per project. A key makes leaving one behind idempotent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.core.errors import NotFound
from callboard.core.vocabulary.work import (
    Issue,
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    IssueStatus,
)
from callboard.store.connection import Connection
from callboard.store.journal.encoding import decode, row_of

_REVISION: Final = "issues_revision"


@dataclass(frozen=True, slots=True)
class IssueFilter:
    """Which issues are wanted; what is not said does not matter."""

    status: IssueStatus | None = None
    kind: IssueKind | None = None
    tag: str | None = None
    run_id: str | None = None
    session_id: str | None = None


def insert_issue(connection: Connection, draft: IssueDraft, at: int) -> tuple[Issue, bool]:
    """Leave an issue behind and say whether it is new; the key of an old one returns that."""
    source = draft.source
    row = connection.execute(
        "INSERT INTO issues (key, title, body, status, priority, tags, kind, run_id, session_id,"
        " step_id, created_at, updated_at) VALUES (:key, :title, :body, :status, :priority, :tags,"
        " :kind, :run_id, :session_id, :step_id, :at, :at) ON CONFLICT (key) DO NOTHING"
        " RETURNING id",
        {
            "key": draft.key,
            "title": draft.title,
            "body": draft.body,
            "status": IssueStatus.OPEN.value,
            "priority": draft.priority.value,
            "tags": compact_json(list(dict.fromkeys(draft.tags))),
            "kind": source.kind.value,
            "run_id": source.run_id,
            "session_id": source.session_id,
            "step_id": source.step_id,
            "at": at,
        },
    ).fetchone()
    if row is None:
        existing = find_issue(connection, str(draft.key))
        if existing is None:
            raise NotFound(f"The issue with key {draft.key!r} was neither stored nor found")
        return existing, False
    add_receipts(connection, row["id"], draft.receipt_ids, at)
    return load_issue(connection, row["id"]), True


def find_issue(connection: Connection, key: str) -> Issue | None:
    """Return the issue that was left behind under a key."""
    row = connection.execute("SELECT * FROM issues WHERE key = :key", {"key": key}).fetchone()
    return _record(connection, row) if row is not None else None


def load_issue(connection: Connection, number: int) -> Issue:
    """Return an issue by its number; an unknown one is an error."""
    row = connection.execute("SELECT * FROM issues WHERE id = :id", {"id": number}).fetchone()
    if row is None:
        raise NotFound(
            f"There is no issue #{number} in this project",
            fix="`callboard issues list --all` shows the issues.",
            issue=number,
        )
    return _record(connection, row)


def has_issue(connection: Connection, number: int) -> bool:
    """Say whether there is an issue with this number."""
    row = connection.execute("SELECT 1 FROM issues WHERE id = :id", {"id": number}).fetchone()
    return row is not None


def list_issues(connection: Connection, wanted: IssueFilter | None = None) -> list[Issue]:
    """Return issues, newest first."""
    chosen = wanted or IssueFilter()
    rows = connection.execute(
        "SELECT * FROM issues WHERE (:status IS NULL OR status = :status)"
        " AND (:kind IS NULL OR kind = :kind) AND (:run_id IS NULL OR run_id = :run_id)"
        " AND (:session_id IS NULL OR session_id = :session_id) ORDER BY id DESC",
        {
            "status": chosen.status.value if chosen.status is not None else None,
            "kind": chosen.kind.value if chosen.kind is not None else None,
            "run_id": chosen.run_id,
            "session_id": chosen.session_id,
        },
    )
    found = [_record(connection, row) for row in rows]
    return [each for each in found if chosen.tag is None or chosen.tag in each.tags]


def set_status(connection: Connection, number: int, status: IssueStatus, at: int) -> bool:
    """Close or reopen an issue; say whether that changed it."""
    cursor = connection.execute(
        "UPDATE issues SET status = :status, updated_at = :at WHERE id = :id AND status <> :status",
        {"id": number, "status": status.value, "at": at},
    )
    if cursor.rowcount != 1:
        return False
    _revise(connection)
    return True


def add_receipts(
    connection: Connection, number: int, receipt_ids: Iterable[str], at: int
) -> list[str]:
    """Link receipts to an issue and return those that were not linked before."""
    fresh: list[str] = []
    for receipt_id in dict.fromkeys(receipt_ids):
        cursor = connection.execute(
            "INSERT INTO issue_receipts (issue_id, receipt_id, position) VALUES (:issue_id,"
            " :receipt_id, (SELECT COUNT(*) FROM issue_receipts WHERE issue_id = :issue_id))"
            " ON CONFLICT DO NOTHING",
            {"issue_id": number, "receipt_id": receipt_id},
        )
        if cursor.rowcount == 1:
            fresh.append(receipt_id)
    connection.execute(
        "UPDATE issues SET updated_at = :at WHERE id = :id", {"id": number, "at": at}
    )
    _revise(connection)
    return fresh


def issues_of_receipt(connection: Connection, receipt_id: str) -> list[int]:
    """Return the numbers of the issues a receipt is linked to."""
    rows = connection.execute(
        "SELECT issue_id FROM issue_receipts WHERE receipt_id = :id ORDER BY issue_id",
        {"id": receipt_id},
    )
    return [int(row["issue_id"]) for row in rows]


def issues_revision(connection: Connection) -> int:
    """Return a number that grows with every change of any issue; 0 if there was none."""
    row = connection.execute(
        "SELECT value FROM meta WHERE key = :key", {"key": _REVISION}
    ).fetchone()
    return int(row["value"]) if row is not None else 0


def _revise(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (:key, '1') ON CONFLICT (key)"
        " DO UPDATE SET value = CAST(CAST(meta.value AS INTEGER) + 1 AS TEXT)",
        {"key": _REVISION},
    )


@row_of("issues", "id")
def _record(connection: Connection, row: Any) -> Issue:
    receipts = connection.execute(
        "SELECT receipt_id FROM issue_receipts WHERE issue_id = :id ORDER BY position",
        {"id": row["id"]},
    )
    return Issue(
        id=row["id"],
        title=row["title"],
        source=IssueSource(
            kind=IssueKind(row["kind"]),
            run_id=row["run_id"],
            session_id=row["session_id"],
            step_id=row["step_id"],
        ),
        body=row["body"],
        status=IssueStatus(row["status"]),
        priority=IssuePriority(row["priority"]),
        tags=tuple(decode(row["tags"])),
        receipt_ids=tuple(each["receipt_id"] for each in receipts),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )
