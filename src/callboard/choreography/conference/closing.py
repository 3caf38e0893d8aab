"""Closing a round: its transcript becomes an issue, with the receipts that were linked to it.

Nothing of a round is kept for the next one: what agents saw and said lies in the journal and in
the transcript, and no later prompt is made from either.
"""

from collections.abc import Sequence

from callboard.choreography.calling import Gathered
from callboard.choreography.conference.shapes import ReplyStatus, RoundReply
from callboard.choreography.issues import leave_issue
from callboard.choreography.stage import Stage
from callboard.core.canonical import compact_json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Agent, IssueDraft, IssueKind, IssueSource


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
