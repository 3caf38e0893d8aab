"""Handles: the names of things in requests become ids, and rows become things to talk about."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError

from callboard.choreography.turn.requests import WriteError, WriteOp, WriteRequest
from callboard.choreography.turn.shapes import StepResult, StepStatus, StepType, ThinkStep
from callboard.choreography.turn.thinking.references import SYMBOL, rewrite_strings
from callboard.choreography.turn.work import TurnWork
from callboard.core.parsing import misfit
from callboard.core.vocabulary import BatchKind, Entity, EntitySource, EntityState
from callboard.knowledge.entities import StoredContent


def resolve_ids(work: TurnWork, names: Sequence[str]) -> list[str]:
    """Return ids for entity ids, temporary ids and symbols; what leads nowhere is left out."""
    found: list[str] = []
    for name in names:
        match = SYMBOL.fullmatch(name)
        if match is not None:
            value = _value_of(work, match["step"], match["path"])
            values = cast("list[Any]", value) if isinstance(value, list) else [value]
            found += [str(each) for each in values if isinstance(each, str | int)]
            continue
        entity = work.registry.find(name)
        if entity is not None:
            found.append(entity.id)
    return list(dict.fromkeys(found))


def expand_write(work: TurnWork, request: WriteRequest) -> tuple[WriteRequest, list[str]]:
    """Return a write with everything in it that it only names, and the drafts it saves."""
    if request.from_content is not None:
        return _from_content(work, request)
    if request.from_result is not None:
        records = _from_result(work, request)
        request = request.model_copy(update={"from_result": None, "records": records})
    return _resolved(work, request), []


def _from_content(work: TurnWork, request: WriteRequest) -> tuple[WriteRequest, list[str]]:
    name = request.from_content or ""
    temp_ids = resolve_ids(
        work, [name if "." not in name or name.count(".") > 1 else f"{name}.ids"]
    )
    contents = [(each, work.content(each)) for each in temp_ids or [name]]
    made: WriteRequest | None = None
    saved: list[str] = []
    for temp_id, content in contents:
        if content is None:
            raise WriteError(
                "not_found", f"There is no draft {name!r}", hint="Name one that was generated."
            )
        one = work.domain.content_to_write(content.type, content.payload)
        # One name for each record, so that the ids of the rows find the draft they are of.
        saved += [temp_id, *[""] * (len(one.records) - 1)]
        joined = one if made is None else made
        if made is not None:
            joined = made.model_copy(update={"records": [*made.records, *one.records]})
        made = joined
    if made is None:
        raise WriteError("not_found", "There is nothing to save", hint="Generate it first.")
    return _resolved(work, made), saved


def _from_result(work: TurnWork, request: WriteRequest) -> list[dict[str, Any]]:
    """Return rows made of a result: as they are, or by a pattern whose `$name` is filled in."""
    name = request.from_result or ""
    match = SYMBOL.fullmatch(name)
    value = _value_of(work, match["step"], match["path"]) if match is not None else None
    value = [cast("dict[str, Any]", value)] if isinstance(value, dict) else value
    if not isinstance(value, list):
        raise WriteError("not_found", f"{name!r} brought no rows", hint="Name a list of a result.")
    rows = [cast("dict[str, Any]", e) for e in cast("list[Any]", value) if isinstance(e, dict)]
    pattern = request.records[0] if request.records else None
    if pattern is None:
        return [{**row, **request.set} for row in rows]
    return [{**_filled(pattern, row), **request.set} for row in rows]


def _filled(pattern: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    filled = {
        name: row.get(value[1:]) if isinstance(value, str) and value.startswith("$") else value
        for name, value in pattern.items()
    }
    return {name: value for name, value in filled.items() if value is not None}


def _resolved(work: TurnWork, request: WriteRequest) -> WriteRequest:
    def change(text: str) -> Any:
        match = SYMBOL.fullmatch(text)
        if match is not None:
            value = _value_of(work, match["step"], match["path"])
            if value is None:
                raise WriteError(
                    "fk_missing",
                    f"{text!r} leads nowhere",
                    value=text,
                    hint="Name an earlier step.",
                )
            return value
        if text.startswith("temp_"):
            entity = work.registry.find(text)
            if entity is not None and entity.persisted:
                return entity.id
        return text

    raw = request.model_dump(mode="json", by_alias=True)
    resolved = {part: rewrite_strings(raw[part], change) for part in _PARTS}
    try:
        return WriteRequest.model_validate({**raw, **resolved})
    except ValidationError as error:
        problem = misfit(error.errors()[0])
        raise WriteError("validation", f"A name stands where none can: {problem}") from None


_PARTS = ("records", "set", "filters")


def _value_of(work: TurnWork, step_id: str, path: str) -> Any:
    result = work.results.get(step_id)
    if result is None or result.status not in (StepStatus.OK, StepStatus.EMPTY):
        return None
    parts = [part for part in path.split(".") if part]
    if not parts or parts == ["ids"]:
        return _ids(result) if parts else result.result
    if parts == ["id"]:
        return next(iter(_ids(result)), None)
    computed = result.result.get("computed")
    for root in (computed, result.result):
        value = _walk(root, parts)
        if value is not None:
            return value
    return None


def _ids(result: StepResult) -> list[str]:
    data = result.result
    if data.get("ids"):
        return [str(each) for each in data["ids"]]
    if "contents" in data:
        return [str(each["temp_id"]) for each in data["contents"]]
    return [str(row["id"]) for row in cast("list[Any]", data.get("rows") or []) if "id" in row]


def _walk(value: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if isinstance(value, dict):
            value = cast("dict[str, Any]", value).get(part)
        elif isinstance(value, list) and part.isdecimal():
            items = cast("list[Any]", value)
            value = items[int(part)] if int(part) < len(items) else None
        else:
            return None
    return value


MOST_PER_READ: Final = 10


def register(work: TurnWork, step: ThinkStep, result: StepResult, batch: BatchKind) -> StepResult:
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


def _from_rows(work: TurnWork, result: StepResult, source: EntitySource) -> list[str]:
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


def _was_rejected(work: TurnWork, entity_id: str) -> bool:
    """Say whether a thing was put away by the user's word, and not by time alone."""
    entity = work.registry.find(entity_id)
    if entity is None or entity.state is not EntityState.INACTIVE:
        return False
    unmentioned = (entity.turn_inactivated or 0) - entity.turn_last_ref
    return unmentioned < work.registry.lifetimes.ttl_turns


def _add_row(work: TurnWork, kind: str, row: dict[str, Any], source: EntitySource) -> str:
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


def _from_write(work: TurnWork, result: StepResult) -> list[str]:
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


def _promote(work: TurnWork, temp_id: str, db_id: str) -> None:
    content = work.content(temp_id)
    if work.registry.find(temp_id) is not None:
        work.registry.promote(temp_id, db_id, work.turn)
    if content is not None:
        work.contents[content.temp_id] = StoredContent(
            content.temp_id, content.type, content.label, content.payload, db_id
        )


def _from_contents(
    work: TurnWork, step: ThinkStep, result: StepResult, batch: BatchKind
) -> StepResult:
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


def _slot(
    work: TurnWork, kind: str, payload: dict[str, Any], temp_id: str, number: int
) -> str | None:
    """Return the place of a draft: that of the one it revises, or one of its own."""
    if number < len(work.revises):
        old = work.registry.find(work.revises[number])
        if old is not None and old.slot is not None:
            return old.slot
    return work.domain.slot_for(kind, payload) or f"{kind}:draft:{temp_id.rpartition('_')[2]}"


def _mentioned(work: TurnWork, result: StepResult) -> list[str]:
    ids = [
        str(each.get("id", "")) for each in cast("list[Any]", result.result.get("matches") or [])
    ]
    known = [each for each in ids if work.registry.find(each) is not None]
    work.registry.touch(known, work.turn)
    return known
