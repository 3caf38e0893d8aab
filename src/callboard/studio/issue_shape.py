"""An issue as the doors and the readable copy show it."""

from callboard.core.canonical import Json
from callboard.core.clock import iso
from callboard.core.vocabulary import Issue


def issue_to_json(issue: Issue) -> dict[str, Json]:
    """Return the shape of an issue: times in UTC, the source as an object of its own."""
    source = issue.source
    return {
        "id": issue.id,
        "title": issue.title,
        "body": issue.body,
        "status": issue.status.value,
        "priority": issue.priority.value,
        "tags": list(issue.tags),
        "source": {
            "kind": source.kind.value,
            "run_id": source.run_id,
            "session_id": source.session_id,
            "step_id": source.step_id,
        },
        "receipt_ids": list(issue.receipt_ids),
        "created_at": iso(issue.created_at),
        "updated_at": iso(issue.updated_at),
    }
