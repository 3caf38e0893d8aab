"""Answering: what a message is to a question or proposal that is open, if that still holds.

Clear forms are read by code, the rest is a model's advice. What is neither is a new request.
"""

import re
from typing import Final

from callboard.choreography.turn.hearing import Heard, is_signal
from callboard.choreography.turn.remembering import EXPIRES_AFTER_TURNS, SessionState
from callboard.choreography.turn.shapes import PendingClarification
from callboard.choreography.turn.thinking import step_named
from callboard.choreography.turn.understanding import AnswerKind, Reading, SignalKind
from callboard.choreography.turn.work import Work
from callboard.core.vocabulary import EntityState
from callboard.knowledge.entities import Registry, by_label

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


def expire(state: SessionState, registry: Registry, turn: int) -> bool:
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


def held_ids(state: SessionState) -> list[str]:
    """Return the things an open question is about."""
    if state.clarification is not None:
        options = [each.id for each in state.clarification.options]
        return [*options, *state.clarification.partial_entities]
    if state.proposal is not None:
        named = [e for step in state.proposal.steps for e in step.referenced_entities]
        made = [e for result in state.proposal.results.values() for e in result.entities]
        return [each for each in dict.fromkeys([*named, *made]) if step_named(each) is None]
    return []


def _is_gone(registry: Registry, entity_id: str) -> bool:
    entity = registry.find(entity_id)
    return entity is None or entity.state is EntityState.INACTIVE


def answer_by_form(work: Work, reading: Reading) -> AnswerKind | None:
    """Return what a message plainly is to what is open; None if its form does not tell."""
    if reading.answer is not None:
        return reading.answer
    if is_signal(reading, SignalKind.UNDO):
        return AnswerKind.UNRELATED
    if is_signal(reading, SignalKind.REJECT_CLASS, SignalKind.ALLOW_CLASS, SignalKind.INSTEAD):
        return AnswerKind.MODIFY if work.state.proposal is not None else AnswerKind.ANSWER
    message = work.message.casefold()
    if work.state.proposal is not None:
        if _CHANGING.match(message):
            return AnswerKind.MODIFY
        if _AGREES.match(message) and _AGREEING.fullmatch(message.strip()):
            return AnswerKind.CONFIRM
        return None
    return AnswerKind.ANSWER if picked_option(work, reading) is not None else None


def picked_option(work: Work, reading: Reading) -> str | None:
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


def settled_answer(work: Work, heard: Heard, *, is_request: bool) -> AnswerKind:
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
