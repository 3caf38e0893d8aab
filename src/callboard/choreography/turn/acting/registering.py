"""What steps bring becomes things that are talked about, each with its state. By code alone."""

from typing import Any, Final, cast

from callboard.choreography.turn.requests import WriteOp
from callboard.choreography.turn.shapes import StepResult, StepStatus, StepType, ThinkStep
from callboard.choreography.turn.work import Work
from callboard.core.vocabulary import BatchKind, Entity, EntitySource, EntityState
from callboard.knowledge.entities import StoredContent

MOST_PER_READ: Final = 10


def register(work: Work, step: ThinkStep, result: StepResult, batch: BatchKind) -> StepResult:
    """Return the result with the things it brought, which are in the registry then."""
    if result.status not in (StepStatus.OK, StepStatus.EMPTY):
        return result
    work.registry.touch(step.referenced_entities, work.turn)
    match step.step_type:
        case StepType.READ:
            found = _from_rows(work, result, EntitySource.DB_READ)
        case StepType.WRITE:
            found = _from_write(work, result)
        case StepType.GENERATE:
            return _from_contents(work, step, result, batch)
        case StepType.ANALYZE:
            found = _mentioned(work, result)
    return result.model_copy(update={"entities": found})


def _from_rows(work: Work, result: StepResult, source: EntitySource) -> list[str]:
    """Take up rows one by one, unless there are too many to talk about each."""
    kind = work.entity_type(str(result.result.get("table")))
    rows = cast("list[dict[str, Any]]", result.result.get("rows") or [])
    named = [row for row in rows if "id" in row]
    if kind is None or not named or len(named) > MOST_PER_READ:
        return []
    ids: list[str] = []
    for row in named:
        if _was_rejected(work, str(row["id"])):
            # A read brings back what was only forgotten, not what the user turned down.
            continue
        ids.append(_add_row(work, kind.name, row, source))
    return ids


def _was_rejected(work: Work, entity_id: str) -> bool:
    """Say whether a thing was put away by the user's word, and not by time alone."""
    entity = work.registry.find(entity_id)
    if entity is None or entity.state is not EntityState.INACTIVE:
        return False
    unmentioned = (entity.turn_inactivated or 0) - entity.turn_last_ref
    return unmentioned < work.registry.lifetimes.ttl_turns


def _add_row(work: Work, kind: str, row: dict[str, Any], source: EntitySource) -> str:
    entity = Entity(
        id=str(row["id"]),
        type=kind,
        label=work.label(kind, row),
        state=EntityState.ACTIVE,
        source=source,
        slot=work.domain.slot_for(kind, row),
        tags=tuple(work.domain.tags_for(kind, row)),
        persisted=True,
    )
    return work.registry.add(entity, work.turn).id


def _from_write(work: Work, result: StepResult) -> list[str]:
    data = result.result
    ids = [str(each) for each in cast("list[Any]", data.get("ids") or [])]
    if data.get("op") == WriteOp.DELETE.value:
        for each in ids:
            if work.registry.find(each) is not None:
                work.registry.forget(each, work.turn, "its record was removed")
        return []
    for temp_id, db_id in zip(data.get("saved") or [], ids, strict=False):
        if temp_id:
            _promote(work, str(temp_id), db_id)
    return _from_rows(work, result, EntitySource.DB_CREATE)


def _promote(work: Work, temp_id: str, db_id: str) -> None:
    content = work.content(temp_id)
    if work.registry.find(temp_id) is not None:
        work.registry.promote(temp_id, db_id, work.turn)
    if content is not None:
        work.contents[content.temp_id] = StoredContent(
            content.temp_id, content.type, content.label, content.payload, db_id
        )


def _from_contents(work: Work, step: ThinkStep, result: StepResult, batch: BatchKind) -> StepResult:
    """Give drafts their ids and keep them whole beside the registry; they wait for a word."""
    kind = str(result.result["content_type"])
    made: list[dict[str, Any]] = []
    for number, content in enumerate(result.result["contents"]):
        temp_id = work.registry.new_temp_id(kind)
        payload = dict(content["payload"])
        label = str(content["label"]) or temp_id
        work.registry.add(
            Entity(
                id=temp_id,
                type=kind,
                label=label,
                state=EntityState.PENDING,
                source=EntitySource.GENERATE,
                slot=_slot(work, kind, payload, temp_id, number),
                batch_id=f"t{work.turn}.g{step.group}.{kind}",
                batch_kind=batch,
                tags=tuple(work.domain.tags_for(kind, payload)),
            ),
            work.turn,
        )
        work.contents[temp_id] = StoredContent(temp_id, kind, label, payload)
        made.append({"temp_id": temp_id, "type": kind, "label": label, "payload": payload})
    return result.model_copy(
        update={
            "entities": [each["temp_id"] for each in made],
            "result": {**result.result, "contents": made},
        }
    )


def _slot(work: Work, kind: str, payload: dict[str, Any], temp_id: str, number: int) -> str | None:
    """Return the place of a draft: that of the one it revises, or one of its own."""
    if number < len(work.revises):
        old = work.registry.find(work.revises[number])
        if old is not None and old.slot is not None:
            return old.slot
    return work.domain.slot_for(kind, payload) or f"{kind}:draft:{temp_id.rpartition('_')[2]}"


def _mentioned(work: Work, result: StepResult) -> list[str]:
    ids = [
        str(each.get("id", "")) for each in cast("list[Any]", result.result.get("matches") or [])
    ]
    known = [each for each in ids if work.registry.find(each) is not None]
    work.registry.touch(known, work.turn)
    return known
