"""Gestures: what a button says, read as plain words are, and refused once it means nothing.

A page may be older than the conversation. So a gesture names what it is about, and one about
something that is gone or has changed does nothing.
"""

from dataclasses import replace
from typing import Final

from callboard.choreography.turn.shapes import (
    EntityUpdate,
    Gesture,
    GestureKind,
    UnderstandOutput,
)
from callboard.choreography.turn.understanding.reading import (
    AnswerKind,
    Open,
    Reading,
    read_message,
)
from callboard.choreography.turn.understanding.signals import Signal, SignalKind
from callboard.core.vocabulary import BatchKind, EntityState
from callboard.knowledge.entities import Registry

ABOUT_DRAFTS: Final = frozenset({GestureKind.KEEP, GestureKind.DROP})


def objection(gesture: Gesture, registry: Registry, waiting: Open) -> str:
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


def word_gesture(gesture: Gesture, registry: Registry, waiting: Open) -> str:
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
    gesture: Gesture, message: str, registry: Registry, turn: int, waiting: Open
) -> Reading:
    """Return what a gesture says. What is to be changed is said in words, and read as words."""
    match gesture.kind:
        case GestureKind.KEEP:
            states = _kept(gesture.target, registry)
            signal = Signal(SignalKind.CONFIRM, wants_save=True)
            return _settled(message, signal, states, [gesture.target])
        case GestureKind.DROP:
            states = {gesture.target: EntityState.INACTIVE}
            return _settled(message, Signal(SignalKind.REJECT), states)
        case GestureKind.PICK:
            reading = _settled(message, Signal(SignalKind.PICK), {}, [gesture.target])
            return replace(reading, answer=AnswerKind.ANSWER)
        case GestureKind.CONFIRM:
            reading = _settled(message, Signal(SignalKind.CONFIRM), {})
            return replace(reading, answer=AnswerKind.CONFIRM)
        case GestureKind.CANCEL:
            reading = _settled(message, Signal(SignalKind.REJECT), {})
            return replace(reading, answer=AnswerKind.REJECT)
        case GestureKind.CHANGE:
            reading = read_message(message, registry, turn, waiting=waiting)
            return replace(reading, answer=AnswerKind.MODIFY)


def _kept(target: str, registry: Registry) -> dict[str, EntityState]:
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
) -> Reading:
    output = UnderstandOutput(
        entity_updates=[EntityUpdate(id=k, new_state=v) for k, v in states.items()],
        referenced_entities=referenced or [],
        processed_message=message,
    )
    return Reading(output, signal, is_settled=True)


def _option(gesture: Gesture, waiting: Open) -> str:
    asked = waiting.clarification
    options = [] if asked is None else asked.options
    return next((each.label for each in options if each.id == gesture.target), "")
