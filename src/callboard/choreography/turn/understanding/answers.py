"""Answers: what a message is to what is open, and messages that are done with once understood.

A yes, a no, a "not that kind", a "that one": code changes states and says so; no plan is needed.
"""

import re
from collections.abc import Sequence
from typing import Final

from callboard.choreography.turn.memory import EXPIRES_AFTER_TURNS, TalkState
from callboard.choreography.turn.requests import WriteOp, WriteRequest
from callboard.choreography.turn.shapes import (
    PendingClarification,
    StepType,
    ThinkOutput,
    ThinkStep,
)
from callboard.choreography.turn.thinking.references import step_named
from callboard.choreography.turn.understanding.draft import AnswerKind, MessageReading
from callboard.choreography.turn.understanding.hearing import Heard, is_signal, labels_of
from callboard.choreography.turn.understanding.signals import FormKind
from callboard.choreography.turn.work import TurnWork
from callboard.core.vocabulary import BatchKind, EntityState
from callboard.knowledge.entities import EntityRegistry, by_label

_YES: Final = r"(?:yes|yep|yeah|sure|ok|okay)"
_CHANGING: Final = re.compile(
    rf"\s*(?:{_YES}\b[,;.!]?\s+)?"
    r"(?:no,? |but |make (?:it|that)|change|swap|replace|only|use|"
    r"without|instead|less|more|with |for \d+|on \w+day)\b"
)
_AGREES: Final = re.compile(rf"\s*(?:{_YES}|please do|go on|do (?:it|that))\b")
# Words that add nothing to a yes; whatever else is said with it may be a change.
_AGREEING: Final = re.compile(
    rf"(?:(?:{_YES}|please|do|go|on|ahead|it|that|this|so|all|of|right|save|now|then|thanks|thank"
    r"|you|good|great|fine|perfect|looks|sounds|alfred)\b\W*)+"
)


def expire(state: TalkState, registry: EntityRegistry, turn: int) -> bool:
    """Drop what was asked too long ago, or about things that are gone; say whether it was."""
    pending = state.proposal or state.clarification
    if pending is None:
        return False
    limit = pending.turn_asked + EXPIRES_AFTER_TURNS
    if state.proposal is not None:
        limit = state.proposal.expires_turn
    held = held_ids(state)
    is_gone = bool(held) and all(_is_gone(registry, each) for each in held)
    if turn <= limit and not is_gone:
        return False
    state.proposal = state.clarification = None
    return True


def held_ids(state: TalkState) -> list[str]:
    """Return the things an open question is about."""
    if state.clarification is not None:
        options = [each.id for each in state.clarification.options]
        return [*options, *state.clarification.partial_entities]
    if state.proposal is not None:
        named = [e for step in state.proposal.steps for e in step.referenced_entities]
        made = [e for result in state.proposal.results.values() for e in result.entities]
        return [each for each in dict.fromkeys([*named, *made]) if step_named(each) is None]
    return []


def _is_gone(registry: EntityRegistry, entity_id: str) -> bool:
    entity = registry.find(entity_id)
    return entity is None or entity.state is EntityState.INACTIVE


def answer_by_form(work: TurnWork, reading: MessageReading) -> AnswerKind | None:
    """Return what a message plainly is to what is open; None if its form does not tell."""
    if reading.answer is not None:
        return reading.answer
    if is_signal(reading, FormKind.UNDO):
        return AnswerKind.UNRELATED
    if is_signal(reading, FormKind.REJECT_CLASS, FormKind.ALLOW_CLASS, FormKind.INSTEAD):
        return AnswerKind.MODIFY if work.state.proposal is not None else AnswerKind.ANSWER
    message = work.message.casefold()
    if work.state.proposal is not None:
        if _CHANGING.match(message):
            return AnswerKind.MODIFY
        if _AGREES.match(message) and _AGREEING.fullmatch(message.strip()):
            return AnswerKind.CONFIRM
        return None
    return AnswerKind.ANSWER if picked_option(work, reading) is not None else None


def picked_option(work: TurnWork, reading: MessageReading) -> str | None:
    """Return the option a message picks: by its place, or by its name."""
    asked = work.state.clarification
    if asked is None or not asked.options:
        return None
    ids = {each.id for each in asked.options}
    for each in reading.output.referenced_entities:
        if each in ids:
            return each
    entities = [e for each in asked.options if (e := work.registry.find(each.id)) is not None]
    named = by_label(entities, work.message.strip(" .!?"))
    if len(named) == 1:
        return named[0].id
    words = work.message.casefold().strip(" .!?")
    exact = [each.id for each in asked.options if each.label.casefold() == words]
    return exact[0] if len(exact) == 1 else None


def settled_answer(work: TurnWork, heard: Heard, *, is_request: bool) -> AnswerKind:
    """Return what a message is to what is open, whoever found out."""
    told = heard.answer or answer_by_form(work, heard.reading)
    if told is not None:
        return told
    if work.state.proposal is not None and _AGREES.match(work.message.casefold()):
        # A yes with more to it: nothing is done that was not shown.
        return AnswerKind.MODIFY
    if is_request:
        return AnswerKind.UNRELATED
    # To a question any words are an answer; to a proposal they are not a yes.
    return AnswerKind.UNRELATED if work.state.proposal is not None else AnswerKind.ANSWER


def resumed_message(asked: PendingClarification, answer: str, picked: str | None) -> str:
    """Return the request a question was about, with its answer in it."""
    if picked is not None:
        return asked.original_intent
    return f"{asked.original_intent} ({answer.strip()})"


def settle(work: TurnWork, heard: Heard, put_away: Sequence[str]) -> str | None:
    """Return the reply to a message that is settled, or None if something is to be done."""
    reading = heard.reading
    if not reading.is_settled or reading.signal is None or reading.revise:
        return None
    names = labels_of(work, heard.output.referenced_entities)
    match reading.signal.kind:
        case FormKind.REJECT_CLASS:
            return _avoided(reading.signal.noun, put_away)
        case FormKind.ALLOW_CLASS:
            return f"All right, {reading.signal.noun} are allowed again."
        case FormKind.REJECT:
            return f"Dropped {_joined(put_away)}." if put_away else "All right."
        case FormKind.CONFIRM if not reading.signal.wants_save:
            return f"Kept {_joined(names)}. Say “save that” to store it." if names else None
        case FormKind.PICK | FormKind.DIFFERENT | FormKind.INSTEAD:
            return f"All right: {_joined(names)}." if names else None
        case _:
            return None


def _avoided(noun: str, put_away: Sequence[str]) -> str:
    dropped = f"Put away: {_joined(put_away)}. " if put_away else ""
    return (
        f"{dropped}I leave {noun} out for the rest of this conversation. "
        f"To make it last, tell me to always avoid {noun}."
    )


def take_picked(work: TurnWork, picked: str) -> str:
    """Keep the draft that was picked of several, let the others go, and say so."""
    chosen = work.registry.get(picked)
    for entity in work.registry.newest_batch():
        is_chosen = entity.id == chosen.id
        if is_chosen or chosen.batch_kind is BatchKind.ALTERNATIVES:
            state = EntityState.ACTIVE if is_chosen else EntityState.INACTIVE
            work.registry.transition(entity.id, state, work.turn, "picked by the user")
    work.registry.touch([chosen.id], work.turn)
    return f"All right: {_joined([chosen.label])}."


def plan_to_save(work: TurnWork, heard: Heard) -> ThinkOutput | None:
    """Return the plan behind "save that": every draft it means is written, as it is."""
    reading = heard.reading
    if not is_signal(reading, FormKind.CONFIRM) or not (
        reading.signal is not None and reading.signal.wants_save
    ):
        return None
    return saving_plan(work, heard.output.referenced_entities)


def saving_plan(work: TurnWork, ids: Sequence[str]) -> ThinkOutput | None:
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


def plan_to_revise(work: TurnWork, heard: Heard) -> ThinkOutput | None:
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


def drop_drafts(work: TurnWork, ids: Sequence[str]) -> list[str]:
    """Put away drafts that belonged to a plan the user turned down; return their names."""
    dropped: list[str] = []
    for each in ids:
        entity = work.registry.find(each)
        if entity is not None and entity.state is EntityState.PENDING:
            work.registry.transition(entity.id, EntityState.INACTIVE, work.turn, "plan rejected")
            dropped.append(entity.label)
    return dropped


def _table(work: TurnWork, kind: str) -> str:
    return next((e.table for e in work.domain.entity_types() if e.name == kind), "")


def _subdomain(work: TurnWork, kind: str) -> str:
    table = _table(work, kind)
    subdomains = work.domain.subdomains()
    return next((e.name for e in subdomains if table in e.tables), subdomains[0].name)


def _joined(names: Sequence[str]) -> str:
    return ", ".join(f"“{each}”" for each in names)
