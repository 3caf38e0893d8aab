"""Issues as read from the journal."""

from dataclasses import dataclass

from callboard.cli.arguments import one_of
from callboard.cli.output import (
    echo,
    echo_facts,
    echo_json,
    echo_table,
    echo_text,
    moment,
    remark,
)
from callboard.cli.reading import OpenJournal
from callboard.core.vocabulary.work import Issue, IssueKind, IssueStatus
from callboard.store.connection import Connection
from callboard.store.journal.issues import IssueFilter, list_issues, load_issue
from callboard.store.journal.sessions import load_session
from callboard.studio.issues import issue_to_json


@dataclass(frozen=True, slots=True)
class WantedIssues:
    """What the user wants to see listed."""

    everything: bool = False
    kind: str | None = None
    tag: str | None = None
    run: str | None = None
    session: str | None = None
    limit: int = 50


def issues_report(journal: OpenJournal, wanted: WantedIssues, *, as_json: bool) -> None:
    """List issues, newest first."""
    found = _find(journal, wanted)
    shown = found[: wanted.limit]
    if as_json:
        echo_json({"issues": [issue_to_json(each) for each in shown], "total": len(found)})
        return
    if not found:
        remark("No issues." if wanted.everything else "No open issues.")
        return
    rows = [
        (
            f"#{each.id}",
            each.status.value,
            each.priority.value,
            each.source.kind.value,
            moment(each.created_at),
            each.title,
        )
        for each in shown
    ]
    echo_table(("ISSUE", "STATUS", "PRIORITY", "KIND", "SINCE", "TITLE"), rows)
    if len(found) > len(shown):
        remark(f"… and {len(found) - len(shown)} more: --limit.")


def issue_report(journal: OpenJournal, number: int, *, as_json: bool) -> None:
    """Show one issue."""
    issue = journal.read(lambda connection: load_issue(connection, number))
    if as_json:
        echo_json({"issue": issue_to_json(issue)})
        return
    echo_facts(
        [
            ("issue", f"#{issue.id} {issue.title}"),
            ("status", issue.status.value),
            ("priority", issue.priority.value),
            ("kind", issue.source.kind.value),
            ("tags", ", ".join(issue.tags)),
            ("run", issue.source.run_id or ""),
            ("step", issue.source.step_id or ""),
            ("session", issue.source.session_id or ""),
            ("receipts", "\n".join(issue.receipt_ids)),
            ("since", moment(issue.created_at)),
        ]
    )
    if issue.body:
        echo()
        echo_text(issue.body)


def _find(journal: OpenJournal, wanted: WantedIssues) -> list[Issue]:
    kind = one_of(IssueKind, wanted.kind, "--kind") if wanted.kind is not None else None
    run_id = journal.run(wanted.run).id if wanted.run is not None else None

    def work(connection: Connection) -> list[Issue]:
        session_id = load_session(connection, wanted.session).id if wanted.session else None
        status = None if wanted.everything else IssueStatus.OPEN
        return list_issues(connection, IssueFilter(status, kind, wanted.tag, run_id, session_id))

    nothing: list[Issue] = []
    return journal.read_or(nothing, work)
