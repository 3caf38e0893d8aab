"""Handles: what a step means by `g0.s0.id`, by a draft's name, by another step's result.

Models name data; code fetches it. A name that leads nowhere is an error, never a guess.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from callboard.choreography.turn.requests import WriteError, WriteRequest
from callboard.choreography.turn.shapes import StepResult, StepStatus
from callboard.choreography.turn.thinking.references import SYMBOL, rewrite_strings
from callboard.choreography.turn.work import Work


def resolve_ids(work: Work, names: Sequence[str]) -> list[str]:
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


def expand_write(work: Work, request: WriteRequest) -> tuple[WriteRequest, list[str]]:
    """Return a write with everything in it that it only names, and the drafts it saves."""
    if request.from_content is not None:
        return _from_content(work, request)
    if request.from_result is not None:
        records = _from_result(work, request)
        request = request.model_copy(update={"from_result": None, "records": records})
    return _resolved(work, request), []


def _from_content(work: Work, request: WriteRequest) -> tuple[WriteRequest, list[str]]:
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


def _from_result(work: Work, request: WriteRequest) -> list[dict[str, Any]]:
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


def _resolved(work: Work, request: WriteRequest) -> WriteRequest:
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
        problem = error.errors()[0]["msg"]
        raise WriteError("validation", f"A name stands where none can: {problem}") from None


_PARTS = ("records", "set", "filters")


def _value_of(work: Work, step_id: str, path: str) -> Any:
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
