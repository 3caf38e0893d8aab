"""Hearing: what a message means, by code first, and by a model where its form does not tell.

Nothing is planned here, and no data is seen: names of things, counts, and the last two turns.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, cast

from pydantic import ValidationError

from callboard.choreography.answers import schema_of, with_fields
from callboard.choreography.turn.asker import QUICK, UNDERSTAND, PromptNode
from callboard.choreography.turn.memory import UNDERSTAND_TURNS, recent_section
from callboard.choreography.turn.sections import (
    CATALOGUE,
    OPEN,
    REFERENCED,
    STYLE,
    PromptSection,
    entity_section,
)
from callboard.choreography.turn.shapes import ThinkStep, UnderstandOutput
from callboard.choreography.turn.thinking.planning import read_step, step_schema
from callboard.choreography.turn.understanding.draft import AnswerKind, MessageReading, Open
from callboard.choreography.turn.understanding.gestures import merge_advice, objection, read_gesture
from callboard.choreography.turn.understanding.reading import read_message
from callboard.choreography.turn.understanding.signals import FormKind, needs_model
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Effect, EntityState

_log: Final = logging.getLogger(__name__)


_MOST_STEPS: Final = 2


@dataclass(frozen=True, slots=True)
class Heard:
    """What was understood, and steps where a model named some in the same breath."""

    reading: MessageReading
    output: UnderstandOutput
    steps: tuple[ThinkStep, ...] | None = None
    answer: AnswerKind | None = None
    # What kind of request a model says it is; None if nobody said.
    intent: str | None = None


def listen(work: TurnWork) -> MessageReading:
    """Return what code reads in a message."""
    state = work.state

    def holds(entity_id: str, noun: str) -> bool:
        content = work.content(entity_id)
        stem = noun.casefold().rstrip("s")
        return content is not None and bool(stem) and stem in str(content.payload).casefold()

    waiting = Open(state.clarification, state.proposal)
    if work.gesture is not None:
        return read_gesture(work.gesture, work.message, work.registry, work.turn, waiting)
    return read_message(
        work.message,
        work.registry,
        work.turn,
        waiting=waiting,
        confirms_silently=work.mode.confirms_silently,
        holds=holds,
    )


def lapse(work: TurnWork) -> str:
    """Return why what a button says means nothing any more; nothing if it does, or is words."""
    if work.gesture is None:
        return ""
    waiting = Open(work.state.clarification, work.state.proposal)
    why = objection(work.gesture, work.registry, waiting)
    return f"{why}." if why else ""


def wants_model(work: TurnWork, reading: MessageReading) -> bool:
    """Say whether somebody must read a message who understands more than its form."""
    if reading.is_settled or work.asker.is_constrained(UNDERSTAND):
        return False
    if work.mode.understand == "full":
        return True
    pending = bool(work.registry.in_state(EntityState.PENDING))
    return needs_model(
        work.message, has_pending=pending, has_open_question=work.state.has_open_question
    )


async def ask_listener(work: TurnWork, reading: MessageReading) -> Heard:
    """Have a model read the message; if it fails, code's own reading stands."""
    return await _ask(work, reading, UNDERSTAND, _schema())


async def ask_quickly(work: TurnWork, reading: MessageReading) -> Heard:
    """Have a model read the message and name one or two steps, in one call."""
    steps: Json = {"type": "array", "items": step_schema(work.domain), "maxItems": _MOST_STEPS}
    return await _ask(work, reading, QUICK, _schema(required=["steps"], steps=steps))


async def _ask(
    work: TurnWork, reading: MessageReading, node: PromptNode, schema: dict[str, Json]
) -> Heard:
    own = Heard(reading, reading.output, answer=reading.answer)
    try:
        said = await work.asker.ask(
            node.name, node, await _sections(work, node), work.message, schema=schema
        )
    except CallboardError as error:
        _log.warning("the message was read by code alone: %s", error)
        work.warnings.append("The message was understood without a model.")
        return own
    data = dict(cast("dict[str, Any]", said.data or {}))
    answer, raw_steps = data.pop("answer", None), data.pop("steps", None)
    try:
        advice = UnderstandOutput.model_validate(data)
        steps = None if raw_steps is None else tuple(read_step(each) for each in raw_steps)
    except ValidationError as error:
        _log.warning("advice on a message was dropped: %s", error)
        return own
    output = merge_advice(reading, advice, work.registry)
    kind = reading.answer or (AnswerKind(answer) if answer in set(AnswerKind) else None)
    intent = advice.intent.kind if "intent" in advice.model_fields_set else None
    return Heard(reading, output, steps, kind, intent)


async def _sections(work: TurnWork, node: PromptNode) -> list[PromptSection]:
    state, cap = work.state, work.mode.entities_in_context
    counts = await work.domain.counts(work.who)
    listed = ", ".join(f"{name.replace('_', ' ')}: {count}" for name, count in counts.items())
    names = ", ".join(each.name for each in work.domain.modes())
    sections = [
        PromptSection(STYLE, f"Mode {work.mode.name}; modes: {names}", is_trusted=True),
        entity_section(work.shown_entities(), cap, REFERENCED),
        PromptSection(CATALOGUE, listed, is_trusted=True),
        PromptSection(OPEN, open_question(work), is_pinned=True),
        recent_section(state, work.hidden, UNDERSTAND_TURNS, warm=True),
    ]
    if node is QUICK:
        lines = [f"- {s.name}: {', '.join(s.tables)}" for s in work.domain.subdomains()]
        sections[2] = PromptSection(CATALOGUE, "\n".join([*lines, listed]), is_trusted=True)
        sections.append((await work.preference_sections())[0])
    return sections


def open_question(work: TurnWork) -> str:
    """Return what the user was asked last, if it is still open."""
    state = work.state
    if state.proposal is not None:
        return f"A plan waits for consent: {state.proposal.goal}"
    if state.clarification is not None:
        asked = state.clarification
        options = ", ".join(f"{each.id} = {each.label}" for each in asked.options)
        return "\n".join([f"About: {asked.original_intent}", *asked.questions, options]).strip()
    return ""


def _schema(required: Sequence[str] = (), **more: Json) -> dict[str, Json]:
    return {**with_fields(_own_schema(), **more), "required": list(required)}


@cache
def _own_schema() -> dict[str, Json]:
    answer: Json = {"enum": [*(each.value for each in AnswerKind), None]}
    return with_fields(schema_of(UnderstandOutput), answer=answer)


async def revive(work: TurnWork, reading: MessageReading) -> MessageReading:
    """Look for what the user goes back to: in the archive, then in the database."""
    from callboard.knowledge.entities import find_content

    wanted = reading.look_for
    if not wanted:
        return reading
    name = wanted.removeprefix("the ").removeprefix("that ").strip()
    database, session = work.stage.studio.database, work.who.session_id
    made = database.read(lambda connection: find_content(connection, session, name))
    if made:
        return _back(work, reading, made[0].db_id or made[0].temp_id, made[0].type, made[0].label)

    async def look() -> Json:
        return [dict(row) for row in await work.domain.find_by_label(work.who, name)]

    found = await work.stage.step("revive", look, effect=Effect.PURE)
    rows = cast("list[dict[str, Any]]", found)
    types = work.domain.entity_types()
    for row in rows[:1]:
        kind = str(row.get("type") or (types[0].name if types else "thing"))
        if "id" in row:
            return _back(work, reading, str(row["id"]), kind, work.label(kind, row))
    return reading


def _back(
    work: TurnWork, reading: MessageReading, entity_id: str, kind: str, label: str
) -> MessageReading:
    from callboard.core.vocabulary import Entity, EntitySource

    is_stored = not entity_id.startswith("temp_")
    entity = Entity(
        entity_id,
        kind,
        label,
        state=EntityState.ACTIVE,
        source=EntitySource.DB_READ if is_stored else EntitySource.GENERATE,
        persisted=is_stored,
    )
    added = work.registry.add(entity, work.turn)
    output = reading.output.model_copy(
        update={"referenced_entities": [*reading.output.referenced_entities, added.id]}
    )
    return replace(reading, output=output, is_settled=True, look_for="")


def apply_updates(work: TurnWork, output: UnderstandOutput) -> list[str]:
    """Bring things into the states the user's words ask for; return the names put away."""
    put_away: list[str] = []
    for update in output.entity_updates:
        entity = work.registry.find(update.id)
        if entity is None:
            continue
        before = entity.state
        try:
            work.registry.transition(update.id, update.new_state, work.turn, "the user said so")
        except CallboardError as error:
            _log.info("a change of state was not possible: %s", error)
            continue
        if update.new_state is EntityState.INACTIVE and before is not EntityState.INACTIVE:
            put_away.append(entity.label)
    work.registry.touch(output.referenced_entities, work.turn)
    work.state.constrain(list(output.constraints_added), list(output.constraints_removed))
    return put_away


def is_signal(reading: MessageReading, *kinds: FormKind) -> bool:
    """Say whether a message is one of some clear forms."""
    return reading.signal is not None and reading.signal.kind in kinds


def labels_of(work: TurnWork, ids: Sequence[str]) -> list[str]:
    """Return the names of things."""
    return [e.label for each in ids if (e := work.registry.find(each)) is not None]
