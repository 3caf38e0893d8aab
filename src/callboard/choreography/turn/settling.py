"""Settling: messages that are done with once they are understood. They need no plan.

A yes, a no, a "not that kind", a "that one": code changes states and says so.
"""

from collections.abc import Sequence

from callboard.choreography.turn.hearing import Heard, is_signal, labels_of
from callboard.choreography.turn.requests import WriteOp, WriteRequest
from callboard.choreography.turn.shapes import StepType, ThinkOutput, ThinkStep
from callboard.choreography.turn.understanding import SignalKind
from callboard.choreography.turn.work import Work
from callboard.core.vocabulary import BatchKind, EntityState


def settle(work: Work, heard: Heard, put_away: Sequence[str]) -> str | None:
    """Return the reply to a message that is settled, or None if something is to be done."""
    reading = heard.reading
    if not reading.is_settled or reading.signal is None or reading.revise:
        return None
    names = labels_of(work, heard.output.referenced_entities)
    match reading.signal.kind:
        case SignalKind.REJECT_CLASS:
            return _avoided(reading.signal.noun, put_away)
        case SignalKind.ALLOW_CLASS:
            return f"All right, {reading.signal.noun} are allowed again."
        case SignalKind.REJECT:
            return f"Dropped {_joined(put_away)}." if put_away else "All right."
        case SignalKind.CONFIRM if not reading.signal.wants_save:
            return f"Kept {_joined(names)}. Say “save that” to store it." if names else None
        case SignalKind.PICK | SignalKind.DIFFERENT | SignalKind.INSTEAD:
            return f"All right: {_joined(names)}." if names else None
        case _:
            return None


def _avoided(noun: str, put_away: Sequence[str]) -> str:
    dropped = f"Put away: {_joined(put_away)}. " if put_away else ""
    return (
        f"{dropped}I leave {noun} out for the rest of this conversation. "
        f"To make it last, tell me to always avoid {noun}."
    )


def take_picked(work: Work, picked: str) -> str:
    """Keep the draft that was picked of several, let the others go, and say so."""
    chosen = work.registry.get(picked)
    for entity in work.registry.newest_batch():
        is_chosen = entity.id == chosen.id
        if is_chosen or chosen.batch_kind is BatchKind.ALTERNATIVES:
            state = EntityState.ACTIVE if is_chosen else EntityState.INACTIVE
            work.registry.transition(entity.id, state, work.turn, "picked by the user")
    work.registry.touch([chosen.id], work.turn)
    return f"All right: {_joined([chosen.label])}."


def plan_to_save(work: Work, heard: Heard) -> ThinkOutput | None:
    """Return the plan behind "save that": every draft it means is written, as it is."""
    reading = heard.reading
    if not is_signal(reading, SignalKind.CONFIRM) or not (
        reading.signal is not None and reading.signal.wants_save
    ):
        return None
    return saving_plan(work, heard.output.referenced_entities)


def saving_plan(work: Work, ids: Sequence[str]) -> ThinkOutput | None:
    """Return the plan that writes some drafts as they are; None if none of them is one."""
    drafts = [
        entity
        for each in ids
        if (entity := work.registry.find(each)) is not None and not entity.persisted
    ]
    steps = [
        ThinkStep(
            description=f"Save {entity.label}",
            step_type=StepType.WRITE,
            subdomain=_subdomain(work, entity.type),
            group=0,
            id=f"g0.s{number}",
            referenced_entities=[entity.id],
            write=WriteRequest(
                op=WriteOp.CREATE,
                table=_table(work, entity.type),
                from_content=entity.id,
            ),
        )
        for number, entity in enumerate(drafts)
    ]
    return ThinkOutput(goal="Save what was drafted", steps=steps) if steps else None


def plan_to_revise(work: Work, heard: Heard) -> ThinkOutput | None:
    """Return the plan that makes drafts again without something they hold."""
    if not heard.reading.revise or heard.reading.signal is None:
        return None
    noun = heard.reading.signal.noun
    work.revises = heard.reading.revise
    entity = work.registry.get(heard.reading.revise[0])
    step = ThinkStep(
        description=f"Make “{entity.label}” again without {noun}",
        step_type=StepType.GENERATE,
        subdomain=_subdomain(work, entity.type),
        id="g0.s0",
        content_type=entity.type,
        referenced_entities=[entity.id],
    )
    return ThinkOutput(goal=step.description, steps=[step])


def drop_drafts(work: Work, ids: Sequence[str]) -> list[str]:
    """Put away drafts that belonged to a plan the user turned down; return their names."""
    dropped: list[str] = []
    for each in ids:
        entity = work.registry.find(each)
        if entity is not None and entity.state is EntityState.PENDING:
            work.registry.transition(entity.id, EntityState.INACTIVE, work.turn, "plan rejected")
            dropped.append(entity.label)
    return dropped


def _table(work: Work, kind: str) -> str:
    return next((e.table for e in work.domain.entity_types() if e.name == kind), "")


def _subdomain(work: Work, kind: str) -> str:
    table = _table(work, kind)
    subdomains = work.domain.subdomains()
    return next((e.name for e in subdomains if table in e.tables), subdomains[0].name)


def _joined(names: Sequence[str]) -> str:
    return ", ".join(f"“{each}”" for each in names)
