"""A message read by code: what it confirms, rejects, revives and points at.

It changes nothing: it says what would follow. What it is sure of is marked as settled, and then
no model is asked about it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from callboard.choreography.turn.understanding.draft import (
    AnswerKind,
    MessageReading,
    Open,
    ReadingDraft,
)
from callboard.choreography.turn.understanding.signals import (
    FormKind,
    Signal,
    detect_signal,
    find_references,
)
from callboard.core.vocabulary import BatchKind, Entity, EntityState
from callboard.knowledge.entities import EntityRegistry, by_label, of_class

_DESTRUCTIVE: Final = re.compile(r"\b(?:delete|remove|discard|throw|clear|drop|erase|archive)\b")


def read_message(
    message: str,
    registry: EntityRegistry,
    turn: int,
    *,
    waiting: Open = Open(),  # noqa: B008 - a frozen value
    confirms_silently: bool = False,
    holds: Callable[[str, str], bool] = lambda _id, _noun: False,
) -> MessageReading:
    """Return what a message says by its form.

    `holds` tells whether the draft of an id contains something; `confirms_silently` is for modes
    in which going on means yes.
    """
    draft = ReadingDraft(message)
    signal = detect_signal(message)
    if signal is None:
        _read_free(draft, registry, turn, waiting, confirms_silently)
    else:
        _HANDLERS[signal.kind](draft, signal, registry, waiting, holds)
    return draft.finish(signal)


def is_destructive(message: str) -> bool:
    """Say whether a message asks for something to be taken away."""
    return _DESTRUCTIVE.search(message.casefold()) is not None


def _read_free(
    draft: ReadingDraft,
    registry: EntityRegistry,
    turn: int,
    waiting: Open,
    confirms_silently: bool,
) -> None:
    draft.is_settled = False
    pointed = find_references(draft.message, registry.in_play(), turn)
    if pointed.is_ambiguous and (is_destructive(draft.message) or not confirms_silently):
        draft.ask_which(pointed.words, pointed.entities)
        return
    if pointed.is_ambiguous:
        draft.assumptions.append(f"Assumed {pointed.entities[0].label}")
        draft.referenced.append(pointed.entities[0].id)
    else:
        draft.referenced += [each.id for each in pointed.entities]
    if waiting.is_anything:
        return
    if confirms_silently and "?" not in draft.message:
        for entity in registry.in_state(EntityState.PENDING):
            if entity.turn_created < turn:
                draft.updates[entity.id] = EntityState.ACTIVE


Handler = Callable[[ReadingDraft, Signal, EntityRegistry, Open, Callable[[str, str], bool]], None]


def _confirm(
    draft: ReadingDraft, signal: Signal, registry: EntityRegistry, waiting: Open, _holds: object
) -> None:
    if waiting.proposal is not None:
        draft.answer = AnswerKind.CONFIRM
        return
    if waiting.clarification is not None:
        draft.answer = AnswerKind.CONFIRM
        draft.is_settled = not waiting.clarification.options
        return
    batch = registry.newest_batch()
    if len(batch) > 1 and batch[0].batch_kind is BatchKind.ALTERNATIVES:
        draft.ask_which(draft.message.strip(), batch)
        return
    if not batch and signal.wants_save:
        _point_at_focus(draft, registry)
        return
    for entity in batch:
        draft.updates[entity.id] = EntityState.ACTIVE
        draft.referenced.append(entity.id)
    # A bare yes to nothing says nothing.
    draft.is_settled = bool(batch)


def _reject(
    draft: ReadingDraft, _signal: Signal, registry: EntityRegistry, waiting: Open, _holds: object
) -> None:
    if waiting.is_anything:
        draft.answer = AnswerKind.REJECT
    batch = registry.newest_batch()
    for entity in batch:
        draft.updates[entity.id] = EntityState.INACTIVE
    draft.is_settled = bool(batch) or waiting.is_anything


def _different(
    draft: ReadingDraft, _signal: Signal, registry: EntityRegistry, _waiting: Open, _holds: object
) -> None:
    in_play = registry.in_play()
    if len(in_play) == 2 and in_play[0].turn_last_ref > in_play[1].turn_last_ref:
        draft.referenced.append(in_play[1].id)
    elif in_play:
        draft.ask_which(draft.message.strip(), in_play)
    else:
        draft.is_settled = False


def _reject_class(
    draft: ReadingDraft,
    signal: Signal,
    registry: EntityRegistry,
    _waiting: Open,
    holds: Callable[[str, str], bool],
) -> None:
    draft.avoid.append(signal.noun)
    in_play = registry.in_play()
    rejected = of_class(in_play, signal.noun) or by_label(in_play, signal.noun)
    for entity in rejected:
        draft.updates[entity.id] = EntityState.INACTIVE
    for entity in registry.in_state(EntityState.PENDING):
        if entity not in rejected and holds(entity.id, signal.noun):
            draft.revise.append(entity.id)
            draft.referenced.append(entity.id)


def _allow_class(
    draft: ReadingDraft, signal: Signal, _registry: EntityRegistry, _waiting: Open, _holds: object
) -> None:
    draft.allow.append(signal.noun)


def _instead(
    draft: ReadingDraft, signal: Signal, registry: EntityRegistry, waiting: Open, _holds: object
) -> None:
    everything = registry.all()
    wanted = _by_place(everything, signal) or next(iter(by_label(everything, signal.noun)), None)
    if wanted is None:
        draft.look_for = signal.noun
        draft.is_settled = False
        if waiting.is_anything:
            draft.answer = AnswerKind.MODIFY
        return
    for entity in registry.newest_batch():
        if entity.id != wanted.id:
            draft.updates[entity.id] = EntityState.INACTIVE
    draft.updates[wanted.id] = EntityState.ACTIVE
    draft.referenced.append(wanted.id)


def _pick(
    draft: ReadingDraft, signal: Signal, registry: EntityRegistry, waiting: Open, _holds: object
) -> None:
    place = signal.place or 0
    if waiting.clarification is not None and waiting.clarification.options:
        options = waiting.clarification.options
        if -len(options) <= place < len(options):
            draft.answer = AnswerKind.ANSWER
            draft.referenced.append(options[place].id)
        else:
            draft.is_settled = False
        return
    batch = registry.newest_batch() or registry.in_state(EntityState.ACTIVE)
    if not -len(batch) <= place < len(batch):
        draft.is_settled = False
        return
    chosen = batch[place]
    draft.referenced.append(chosen.id)
    if chosen.state is EntityState.PENDING:
        draft.updates[chosen.id] = EntityState.ACTIVE
        if chosen.batch_kind is BatchKind.ALTERNATIVES:
            draft.updates |= {e.id: EntityState.INACTIVE for e in batch if e.id != chosen.id}


def _undo(
    _draft: ReadingDraft,
    _signal: Signal,
    _registry: EntityRegistry,
    _waiting: Open,
    _holds: object,
) -> None:
    """Undoing concerns what was written, not what is talked about."""


def _point_at_focus(draft: ReadingDraft, registry: EntityRegistry) -> None:
    in_play = registry.in_play()
    if in_play:
        draft.referenced.append(in_play[0].id)
    draft.is_settled = bool(in_play)


def _by_place(entities: Sequence[Entity], signal: Signal) -> Entity | None:
    """Return what "that first recipe" means: counted from the beginning, put away or not."""
    if signal.place is None:
        return None
    types = [e for e in entities if e.type.replace("_", " ") in signal.noun] or list(entities)
    in_range = -len(types) <= signal.place < len(types)
    return types[signal.place] if in_range else None


_HANDLERS: Final[dict[FormKind, Handler]] = {
    FormKind.CONFIRM: _confirm,
    FormKind.REJECT: _reject,
    FormKind.DIFFERENT: _different,
    FormKind.REJECT_CLASS: _reject_class,
    FormKind.ALLOW_CLASS: _allow_class,
    FormKind.INSTEAD: _instead,
    FormKind.PICK: _pick,
    FormKind.UNDO: _undo,
}
