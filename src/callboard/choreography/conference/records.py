"""Conferences as they are read back: a small row each, their rounds taken from the journal.

A retry of a round that failed is the same round again; asking one agent again replaces its reply.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from callboard.choreography.calling import Gathered, ToolPolicy, gathered_from_json
from callboard.choreography.conference.shapes import Conference, Round, RoundReply, RoundStatus
from callboard.core.canonical import Json
from callboard.core.errors import NotFound
from callboard.core.vocabulary import RunRecord, RunState, StepRecord
from callboard.store.connection import Connection
from callboard.store.journal.conferences import ConferenceRow, list_conferences, load_conference
from callboard.store.journal.issues import IssueFilter, list_issues
from callboard.store.journal.runs import list_runs, load_run
from callboard.store.journal.steps import load_journal, output_of

CONFERENCE: Final = "conference"
REASK: Final = "reask"
EVIDENCE_KEY: Final = "evidence"


def read_conference(connection: Connection, conference_id: str) -> Conference:
    """Return a conference with all its rounds."""
    return _conference(connection, load_conference(connection, conference_id))


def read_conferences(connection: Connection, session_id: str | None = None) -> list[Conference]:
    """Return conferences with their rounds, newest first."""
    rows = list_conferences(connection, session_id=session_id)
    return [_conference(connection, row) for row in rows]


def read_round(connection: Connection, round_id: str) -> Round:
    """Return a round by the id of its run."""
    run = load_run(connection, round_id)
    conference_id = run.args.get("conference_id")
    is_round = run.choreography.endswith(f"/{CONFERENCE}") and isinstance(conference_id, str)
    if not is_round:
        raise NotFound(
            f"Run {round_id} is not a round of a conference",
            fix="`callboard conference --list` shows the rounds.",
            run_id=round_id,
        )
    attempts = _rounds(connection, run.choreography, str(conference_id))
    numbers = {each.id: number for number, each in _numbered(attempts)}
    return _round(connection, run, numbers[run.id])


def round_number(connection: Connection, run: RunRecord) -> int:
    """Return which round of its conference a run is, counted from 1."""
    attempts = _rounds(connection, run.choreography, str(run.args["conference_id"]))
    return next(number for number, each in _numbered(attempts) if each.id == run.id)


def evidence_of(connection: Connection, run: RunRecord) -> dict[str, Any]:
    """Return what phase 1 of a round laid before everybody."""
    step = load_journal(connection, run).get(EVIDENCE_KEY)
    if step is None:
        raise NotFound(
            f"Round {run.id} has no evidence: its first phase was not finished",
            fix="Hold the round again.",
            run_id=run.id,
        )
    return cast("dict[str, Any]", output_of(connection, step))


def _conference(connection: Connection, row: ConferenceRow) -> Conference:
    attempts = _rounds(connection, f"{row.pack}/{CONFERENCE}", row.id)
    latest: dict[int, RunRecord] = dict(_numbered(attempts))
    return Conference(
        conference_id=row.id,
        session_id=row.session_id,
        pack=row.pack,
        agents=row.agents,
        tool_policy=ToolPolicy.from_json(row.tool_policy),
        created_at=row.created_at,
        rounds=tuple(_round(connection, run, number) for number, run in latest.items()),
    )


def _rounds(connection: Connection, choreography: str, conference_id: str) -> list[RunRecord]:
    runs = reversed(list_runs(connection, choreography=choreography))
    return [run for run in runs if run.args.get("conference_id") == conference_id]


def _numbered(attempts: list[RunRecord]) -> list[tuple[int, RunRecord]]:
    """Give every attempt the number of the round it began as, oldest first."""
    numbers: dict[str, int] = {}
    for run in attempts:
        known = numbers.get(run.parent_id or "")
        numbers[run.id] = known if known is not None else len(set(numbers.values())) + 1
    return [(numbers[run.id], run) for run in attempts]


def _round(connection: Connection, run: RunRecord, number: int) -> Round:
    journal = load_journal(connection, run)
    evidence = _output(connection, journal, EVIDENCE_KEY)
    gathered = gathered_from_json(evidence["gathered"]) if evidence else Gathered()
    replies = _replies(connection, journal, run.args)
    replies.update(_asked_again(connection, run))
    issues = list_issues(connection, IssueFilter(run_id=run.id))
    return Round(
        round_id=run.id,
        number=number,
        user_message=str(run.args["message"]),
        status=_status(run, has_evidence=bool(evidence)),
        receipt_ids=tuple(each.receipt_id for each in gathered.findings if each.receipt_id),
        replies=tuple(replies.values()),
        issue_id=issues[-1].id if issues else None,
        error=run.error.to_json() if run.error is not None else None,
        created_at=run.created_at,
    )


def _status(run: RunRecord, *, has_evidence: bool) -> RoundStatus:
    if run.state is RunState.DONE:
        return RoundStatus.CLOSED
    if run.is_terminal:
        return RoundStatus.FAILED
    return RoundStatus.PHASE2 if has_evidence else RoundStatus.PHASE1


def _replies(
    connection: Connection, journal: Mapping[str, StepRecord], args: Mapping[str, Json]
) -> dict[str, RoundReply]:
    """Return what has been said so far, in the order of the roster."""
    found: dict[str, RoundReply] = {}
    for agent_id in cast("list[str]", args.get("agents", [])):
        said = _output(connection, journal, f"views/{agent_id}/reply")
        if said:
            found[agent_id] = RoundReply.from_json(said)
    return found


def _asked_again(connection: Connection, run: RunRecord) -> dict[str, RoundReply]:
    pack = run.choreography.partition("/")[0]
    runs = reversed(
        list_runs(connection, choreography=f"{pack}/{REASK}", session_id=run.session_id)
    )
    again: dict[str, RoundReply] = {}
    for each in runs:
        if each.args.get("round_id") == run.id and each.state is RunState.DONE:
            reply = RoundReply.from_json(each.result)
            again[reply.agent_id] = reply
    return again


def _output(connection: Connection, journal: Mapping[str, StepRecord], key: str) -> Any:
    step = journal.get(key)
    return output_of(connection, step) if step is not None else None
