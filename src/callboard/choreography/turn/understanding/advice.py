"""A model's advice on a message, checked: what code is sure of is not up for discussion."""

import logging
import re
from typing import Final

from callboard.choreography.turn.shapes import EntityUpdate, UnderstandOutput
from callboard.choreography.turn.understanding.reading import Reading
from callboard.core.vocabulary import EntityState
from callboard.knowledge.entities import Registry

_log: Final = logging.getLogger(__name__)
_CONSTRAINT: Final = re.compile(r"avoid:[\w' -]{2,40}")
_ALLOWED: Final = {
    (EntityState.PENDING, EntityState.ACTIVE),
    (EntityState.PENDING, EntityState.INACTIVE),
    (EntityState.ACTIVE, EntityState.INACTIVE),
}


def merge_advice(
    reading: Reading, advice: UnderstandOutput, registry: Registry
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


def _known(ids: list[str], registry: Registry) -> list[str]:
    found = [entity.id for each in ids if (entity := registry.find(each)) is not None]
    in_play = [each for each in found if registry.get(each).state is not EntityState.INACTIVE]
    return _once(in_play)


def _sound(constraints: list[str]) -> list[str]:
    """Return what names something to avoid; anything else would only speak in later prompts."""
    return [each for each in constraints if _CONSTRAINT.fullmatch(each)]


def _once(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))
