"""Breaks: the turn stops and asks. What it was about to do is kept, and nothing is written."""

from collections.abc import Mapping, Sequence

from callboard.choreography.turn.acting.groups import Held
from callboard.choreography.turn.acting.handles import expand_write
from callboard.choreography.turn.asker import THINK
from callboard.choreography.turn.domain import Routed
from callboard.choreography.turn.memory import EXPIRES_AFTER_TURNS
from callboard.choreography.turn.requests import WriteOp, WritePreview
from callboard.choreography.turn.shapes import (
    Affected,
    Option,
    PendingClarification,
    PendingProposal,
    StepType,
)
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError

MOST_QUESTIONS = 3
MOST_BREAKS = 2


def make_clarification(
    work: TurnWork,
    questions: Sequence[str],
    options: Sequence[Option],
    intent: str,
    reason: str,
    times: int,
) -> PendingClarification:
    """Return the record of a question; it outlives the turn that asks."""
    return PendingClarification(
        source="understand",
        questions=list(questions)[:MOST_QUESTIONS],
        original_intent=intent,
        reason=reason,
        options=list(options),
        partial_entities=[each.id for each in options],
        turn_asked=work.turn,
        times=times,
    )


def make_proposal(
    work: TurnWork, held: Held, intent: str, note: str = "", times: int = 1
) -> PendingProposal:
    """Return the record of a plan that waits for consent, with what it would touch."""
    plan = held.plan
    message = plan.proposal_message or ""
    versions: dict[str, int] = {}
    for preview in held.previews.values():
        versions |= preview.row_versions
    reasons = [each for preview in held.previews.values() for each in preview.reasons]
    lines = [note, message or plan.goal, *dict.fromkeys(reasons)]
    steps: list[Json] = [step.model_dump(mode="json") for step in plan.steps]
    return PendingProposal(
        goal=plan.goal,
        message="\n".join(line for line in lines if line),
        steps=plan.steps,
        affected=[_affected(each) for each in held.previews.values()],
        mode=work.mode.name,
        original_intent=intent,
        turn_asked=work.turn,
        expires_turn=work.turn + EXPIRES_AFTER_TURNS,
        plan_hash=digest([work.turn, steps]),
        results=dict(work.results),
        row_versions=versions,
        previews=dict(held.previews),
        assumptions=list(work.assumptions),
        times=times,
    )


def _affected(preview: WritePreview) -> Affected:
    verbs = {
        WriteOp.CREATE: "add",
        WriteOp.UPSERT: "add",
        WriteOp.UPDATE: "change",
        WriteOp.DELETE: "remove",
    }
    return Affected(
        table=preview.table,
        op=verbs[preview.op],
        count=preview.match_count,
        labels=list(preview.labels),
    )


async def changed_since(
    work: TurnWork, proposal: PendingProposal
) -> Mapping[str, WritePreview] | None:
    """Return what a stored plan would touch now, if that differs from what was shown."""
    now: dict[str, WritePreview] = {}
    for step in proposal.steps:
        shown = proposal.previews.get(step.id)
        if shown is None or step.write is None:
            continue
        try:
            request, _ = expand_write(work, step.write)
            now[step.id] = await work.domain.preview(work.who, request)
        except CallboardError:
            # The write itself will say what is wrong with it.
            now[step.id] = shown
    is_same = all(_same(proposal.previews[name], found) for name, found in now.items())
    return None if is_same else now


def _same(one: WritePreview, other: WritePreview) -> bool:
    return (one.op, one.table, one.match_count, one.row_versions, one.reasons) == (
        other.op,
        other.table,
        other.match_count,
        other.row_versions,
        other.reasons,
    )


def asks_for_profile(work: TurnWork, routed: Routed | None) -> list[str]:
    """Return what is asked once of a user nothing is known about, before a big request."""
    if routed is None:
        # Without a planner nothing big comes of words that code cannot read.
        is_big = not work.asker.is_constrained(THINK)
    else:
        is_big = any(step.step_type is StepType.GENERATE for step in routed.steps)
    if work.mode.consent != "proposal" or not is_big or work.state.has_asked_profile:
        return []
    return [each.text for each in work.domain.onboarding()][:2]
