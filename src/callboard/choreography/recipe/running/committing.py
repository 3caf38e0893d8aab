"""Commit: what a run made becomes files, proposals and issues, before it is called done."""

from typing import Any, Final, cast

from callboard.choreography.recipe.definition import Commit, CommitAction, follow
from callboard.choreography.recipe.definition.reading import SEVERITIES
from callboard.choreography.recipe.errors import CommitRefused
from callboard.choreography.recipe.running.play import Play
from callboard.choreography.recipe.running.slots import PointerSlot
from callboard.choreography.recipe.running.writing import write
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import (
    IssueDraft,
    IssueKind,
    IssuePriority,
    IssueSource,
    StepKind,
)
from callboard.engine.scope import StepScope
from callboard.store.connection import Connection

KEY: Final = "commit"

_MOST_ISSUES: Final = 100
_PRIORITIES: Final = {
    "major": IssuePriority.HIGH,
    "minor": IssuePriority.NORMAL,
    "info": IssuePriority.LOW,
}


async def commit_all(play: Play) -> list[dict[str, Json]]:
    """Do everything the recipe says about results, in order, and return what was done."""
    done: list[dict[str, Json]] = []
    for number, commit in enumerate(play.recipe.commit):
        key = f"{KEY}/{number}"
        if commit.action is CommitAction.WRITE_FILE:
            done.append(await write(play, key, commit))
        else:
            done.append(await _create_issues(play, key, commit))
    return done


async def _create_issues(play: Play, key: str, commit: Commit) -> dict[str, Json]:
    async def act(scope: StepScope) -> Json:
        drafts = [
            _issue(play, key, commit, finding)
            for finding in _findings(play, commit)
            if _is_severe_enough(finding, commit.min_severity)
        ]
        kept = drafts[:_MOST_ISSUES]
        scope.commit_with(lambda connection: _leave(play, connection, kept))
        scope.preview = f"{len(kept)} issues"
        return {"mode": "issues", "count": len(kept), "left_out": len(drafts) - len(kept)}

    return await play.step(key, act, kind=StepKind.WORK)


def _findings(play: Play, commit: Commit) -> list[dict[str, Any]]:
    if commit.source is None:
        return []
    found = follow(commit.source, play.slots.roots())
    listed: list[Any] = cast(list[Any], found) if isinstance(found, list) else [None]
    if not all(isinstance(each, dict) for each in listed):
        raise CommitRefused(
            f"{commit.source.path!r} is not a list of findings",
            fix="Name a list of objects, such as slot.findings.",
        )
    return listed


def _is_severe_enough(finding: dict[str, Any], least: str) -> bool:
    severity = str(finding.get("severity", SEVERITIES[-1]))
    rank = SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
    return rank <= SEVERITIES.index(least)


def _leave(play: Play, connection: Connection, drafts: list[IssueDraft]) -> None:
    for draft in drafts:
        play.studio.issues.add_with(connection, draft)


def _issue(play: Play, key: str, commit: Commit, finding: dict[str, Any]) -> IssueDraft:
    run = play.run
    message = str(finding.get("message") or finding.get("type") or "a finding")
    kind = str(finding.get("type") or "Finding")
    slot = play.slots.get(commit.source.root) if commit.source is not None else None
    receipt_id = slot.receipt_id if isinstance(slot, PointerSlot) else ""
    quotes: list[dict[str, Any]] = finding.get("quotes") or []
    return IssueDraft(
        title=" ".join(f"{kind}: {message}".split())[:200],
        source=IssueSource(IssueKind.FINDING, run.id, run.session_id, key),
        body="\n\n".join(
            [message, *map(_quoted, quotes), str(finding.get("suggestion") or ""), f"Run: {run.id}"]
        ),
        priority=_PRIORITIES.get(str(finding.get("severity")), IssuePriority.LOW),
        tags=("finding", kind.lower()),
        receipt_ids=(receipt_id,) if receipt_id else (),
        # The same finding, found again by a later run, is the same issue.
        key=f"finding:{digest([kind, message, [_place(quote) for quote in quotes]])}",
    )


def _quoted(quote: dict[str, Any]) -> str:
    lines = str(quote.get("text", "")).splitlines()
    shown = "\n".join(f"> {line}" for line in lines)
    return f"{quote.get('path', '')}, line {quote.get('line_start', '?')}:\n{shown}"


def _place(quote: dict[str, Any]) -> list[str]:
    return [str(quote.get("path", "")), str(quote.get("text", ""))]
