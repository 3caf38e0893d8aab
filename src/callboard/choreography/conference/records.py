"""Conferences as they are read back, their rounds taken from the journal, and a round's transcript.

The transcript becomes an issue, once, however often the run is resumed.

A retry of a round that failed is the same round again; asking one agent again replaces its reply.

Nothing of a round is kept for the next one: what agents saw and said lies in the journal and in
the transcript, and no later prompt is made from either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from callboard.choreography.agent_calls import Gathered, gathered_from_json
from callboard.choreography.conference.shapes import (
    Conference,
    ConferenceRound,
    ReplyStatus,
    RoundReply,
    RoundStatus,
)
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import CallboardError, NotFound
from callboard.core.vocabulary import (
    Agent,
    Effect,
    Issue,
    IssueDraft,
    IssueKind,
    IssueSource,
    RunRecord,
    RunState,
    StepKind,
    StepRecord,
)
from callboard.engine.scope import StepScope
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


def read_round(connection: Connection, round_id: str) -> ConferenceRound:
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
    rounds = (_round(connection, run, number) for number, run in latest.items())
    return Conference(row, tuple(rounds))


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


def _round(connection: Connection, run: RunRecord, number: int) -> ConferenceRound:
    journal = load_journal(connection, run)
    evidence = _output(connection, journal, EVIDENCE_KEY)
    gathered = gathered_from_json(evidence["gathered"]) if evidence else Gathered()
    replies = _replies(connection, journal, run.args)
    replies.update(_asked_again(connection, run))
    issues = list_issues(connection, IssueFilter(run_id=run.id))
    return ConferenceRound(
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


async def leave_issue(stage: Stage, key: str, draft: IssueDraft) -> Issue:
    """Leave an issue behind and return it as it is now.

    Without a key of its own the issue belongs to this step of this run. Run, session and step are
    filled in where the draft does not name them.
    """
    run = stage.run
    source = replace(
        draft.source,
        run_id=draft.source.run_id or run.id,
        session_id=draft.source.session_id or run.session_id,
        step_id=draft.source.step_id or run.key(key),
    )
    placed = replace(draft, source=source, key=draft.key or f"{run.id}:{run.key(key)}")

    async def act(scope: StepScope) -> Json:
        issue = await stage.studio.issues.add(placed)
        scope.preview = f"issue #{issue.id}: {issue.title}"[:200]
        return {"issue": issue.id}

    left = await run.step(
        key,
        act,
        inputs={"key": placed.key, "title": placed.title},
        kind=StepKind.WORK,
        # The issue's key makes repeating it after a crash find what is already there.
        effect=Effect.IDEMPOTENT,
    )
    return stage.studio.issues.get(int(left["issue"]))


async def archive(
    stage: Stage, number: int, body: str, receipt_ids: Sequence[str], *, suffix: str = ""
) -> int:
    """Leave the transcript of a round behind as an issue and return its number."""
    draft = IssueDraft(
        title=f"Conference {stage.run.session_id} — Turn {number}{suffix}",
        source=IssueSource(IssueKind.TRANSCRIPT),
        body=body,
        tags=("conference",),
        receipt_ids=tuple(receipt_ids),
    )
    return (await leave_issue(stage, "close", draft)).id


def transcript(
    message: str,
    gathered: Gathered,
    replies: Sequence[RoundReply],
    attendees: Sequence[Agent],
    failure: CallboardError | None = None,
) -> str:
    """Return a round as Markdown: what was asked, looked up, said, and not accepted."""
    names = {agent.id: agent.name for agent in attendees}
    parts = [f"**You**\n\n{_quoted(message)}", _evidence(gathered)]
    parts += [_reply(each, names.get(each.agent_id, each.agent_id)) for each in replies]
    if failure is not None:
        parts.append(f"**The round failed:** {failure.code}: {failure.message}")
    return "\n\n".join(parts) + "\n"


def _evidence(gathered: Gathered) -> str:
    lines = ["**Evidence**", ""]
    for each in gathered.findings:
        told = f"failed, {each.preview}" if each.has_failed else each.preview
        lines.append(f"- {each.tool} {compact_json(each.args)}: {told} (`{each.receipt_id}`)")
    lines += [f"- refused, nothing ran: {each.code.value}" for each in gathered.refusals]
    if len(lines) == 2:
        lines.append("No tool evidence was gathered.")
    return "\n".join(lines)


def _reply(reply: RoundReply, name: str) -> str:
    head = f"**{name}** ({reply.archetype}, {reply.status.value})"
    match reply.status:
        case ReplyStatus.ACCEPTED:
            return f"{head}\n\n{reply.text}\n\nEvidence: {reply.evidence}"
        case ReplyStatus.ABSTAINED:
            return head
        case ReplyStatus.REJECTED:
            why = f"Grounding failed: {reply.code}: {reply.detail}"
            return f"{head}\n\n{why}\n\n{_quoted(reply.text)}"
        case ReplyStatus.ERROR:
            return f"{head}\n\n{reply.code}: {reply.detail}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
