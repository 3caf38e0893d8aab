"""Gestures and advice: what a button says and a model adds, taken as far as it means anything.

A page may be older than the conversation. So a gesture names what it is about, and one about
something that is gone or has changed does nothing.
"""

import logging
import re
from dataclasses import replace
from typing import Final

from callboard.choreography.turn.shapes import (
    EntityUpdate,
    Gesture,
    GestureKind,
    UnderstandOutput,
)
from callboard.choreography.turn.understanding.draft import AnswerKind, MessageReading, Open
from callboard.choreography.turn.understanding.reading import read_message
from callboard.choreography.turn.understanding.signals import FormKind, Signal
from callboard.core.vocabulary import BatchKind, EntityState
from callboard.knowledge.entities import EntityRegistry

_log: Final = logging.getLogger(__name__)
ABOUT_DRAFTS: Final = frozenset({GestureKind.KEEP, GestureKind.DROP})


def objection(gesture: Gesture, registry: EntityRegistry, waiting: Open) -> str:
    """Return why a gesture means nothing now; nothing if it does."""
    if gesture.kind in ABOUT_DRAFTS:
        entity = registry.find(gesture.target)
        is_draft = entity is not None and entity.state is EntityState.PENDING
        return "" if is_draft else "That is no draft any more"
    if gesture.kind is GestureKind.PICK:
        return "" if _option(gesture, waiting) else "That is not being asked any more"
    if waiting.proposal is None:
        is_cancelled = gesture.kind is GestureKind.CANCEL and waiting.clarification is not None
        return "" if is_cancelled and not gesture.target else "No plan waits for your word"
    if gesture.target not in ("", waiting.proposal.plan_hash):
        return "The plan has changed since it was shown"
    return ""


def word_gesture(gesture: Gesture, registry: EntityRegistry, waiting: Open) -> str:
    """Return a gesture as the words that would have said the same."""
    match gesture.kind:
        case GestureKind.KEEP | GestureKind.DROP:
            entity = registry.find(gesture.target)
            name = gesture.target if entity is None else entity.label
            return f"{gesture.kind.value.capitalize()} “{name}”"
        case GestureKind.PICK:
            return _option(gesture, waiting) or gesture.target
        case GestureKind.CONFIRM:
            return "Yes, do it"
        case GestureKind.CANCEL:
            return "Cancel"
        case GestureKind.CHANGE:
            return ""


def read_gesture(
    gesture: Gesture, message: str, registry: EntityRegistry, turn: int, waiting: Open
) -> MessageReading:
    """Return what a gesture says. What is to be changed is said in words, and read as words."""
    match gesture.kind:
        case GestureKind.KEEP:
            states = _kept(gesture.target, registry)
            signal = Signal(FormKind.CONFIRM, wants_save=True)
            return _settled(message, signal, states, [gesture.target])
        case GestureKind.DROP:
            states = {gesture.target: EntityState.INACTIVE}
            return _settled(message, Signal(FormKind.REJECT), states)
        case GestureKind.PICK:
            reading = _settled(message, Signal(FormKind.PICK), {}, [gesture.target])
            return replace(reading, answer=AnswerKind.ANSWER)
        case GestureKind.CONFIRM:
            reading = _settled(message, Signal(FormKind.CONFIRM), {})
            return replace(reading, answer=AnswerKind.CONFIRM)
        case GestureKind.CANCEL:
            reading = _settled(message, Signal(FormKind.REJECT), {})
            return replace(reading, answer=AnswerKind.REJECT)
        case GestureKind.CHANGE:
            reading = read_message(message, registry, turn, waiting=waiting)
            return replace(reading, answer=AnswerKind.MODIFY)


def _kept(target: str, registry: EntityRegistry) -> dict[str, EntityState]:
    """To keep one of several alternatives is to let the others go."""
    chosen = registry.get(target)
    states = {chosen.id: EntityState.ACTIVE}
    if chosen.batch_kind is BatchKind.ALTERNATIVES:
        batch = [each for each in registry.newest_batch() if each.id != chosen.id]
        if any(each.id == chosen.id for each in registry.newest_batch()):
            states |= {each.id: EntityState.INACTIVE for each in batch}
    return states


def _settled(
    message: str,
    signal: Signal,
    states: dict[str, EntityState],
    referenced: list[str] | None = None,
) -> MessageReading:
    output = UnderstandOutput(
        entity_updates=[EntityUpdate(id=k, new_state=v) for k, v in states.items()],
        referenced_entities=referenced or [],
        processed_message=message,
    )
    return MessageReading(output, signal, is_settled=True)


def _option(gesture: Gesture, waiting: Open) -> str:
    asked = waiting.clarification
    options = [] if asked is None else asked.options
    return next((each.label for each in options if each.id == gesture.target), "")


_CONSTRAINT: Final = re.compile(r"avoid:[\w' -]{2,40}")


_ALLOWED: Final = {
    (EntityState.PENDING, EntityState.ACTIVE),
    (EntityState.PENDING, EntityState.INACTIVE),
    (EntityState.ACTIVE, EntityState.INACTIVE),
}


def merge_advice(
    reading: MessageReading, advice: UnderstandOutput, registry: EntityRegistry
) -> UnderstandOutput:
    """Return what is believed: the reading of code, with what a model adds to it."""
    own = reading.output
    settled = {update.id for update in own.entity_updates}
    updates = list(own.entity_updates)
    for update in advice.entity_updates:
        entity = registry.find(update.id)
        if entity is None or entity.id in settled:
            _log.info("advice on %s dropped: unknown, or code has decided", update.id)
        elif (entity.state, update.new_state) not in _ALLOWED:
            _log.info("advice on %s dropped: %s", update.id, update.new_state)
        else:
            updates.append(EntityUpdate(id=entity.id, new_state=update.new_state))
            settled.add(entity.id)
    if reading.is_settled:
        return own.model_copy(update={"intent": advice.intent})
    return advice.model_copy(
        update={
            "entity_updates": updates,
            "referenced_entities": _known(
                [*own.referenced_entities, *advice.referenced_entities], registry
            ),
            "constraints_added": _once([*own.constraints_added, *_sound(advice.constraints_added)]),
            "constraints_removed": _once([*own.constraints_removed, *advice.constraints_removed]),
            "needs_clarification": own.needs_clarification or _asks(advice),
            "clarification_questions": own.clarification_questions
            or advice.clarification_questions,
            "clarification_reason": own.clarification_reason or advice.clarification_reason,
            "processed_message": advice.processed_message.strip() or own.processed_message,
        }
    )


def _asks(advice: UnderstandOutput) -> bool:
    """A question without words is no question."""
    return advice.needs_clarification and any(
        each.strip() for each in advice.clarification_questions
    )


def _known(ids: list[str], registry: EntityRegistry) -> list[str]:
    found = [entity.id for each in ids if (entity := registry.find(each)) is not None]
    in_play = [each for each in found if registry.get(each).state is not EntityState.INACTIVE]
    return _once(in_play)


def _sound(constraints: list[str]) -> list[str]:
    """Return what names something to avoid; anything else would only speak in later prompts."""
    return [each for each in constraints if _CONSTRAINT.fullmatch(each)]


def _once(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))
