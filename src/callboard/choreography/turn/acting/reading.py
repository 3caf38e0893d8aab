"""Reading and analyzing: rows are fetched, and arithmetic is done over what was fetched."""

import re
from typing import Any, Final, cast

from pydantic import ValidationError

from callboard.choreography.answers import schema_of
from callboard.choreography.turn.acting.handles import resolve_ids
from callboard.choreography.turn.acting.steps import (
    REPAIRS,
    TABLES,
    Scene,
    failed,
    kind_of,
    read_archive,
    table_words,
    told,
    words_for_read,
)
from callboard.choreography.turn.requests import QueryError, ReadRequest, ReadResult
from callboard.choreography.turn.sections import (
    REFERENCED,
    SCHEMA,
    SYNTAX,
    PromptSection,
    entity_section,
)
from callboard.choreography.turn.shapes import StepResult, StepStatus
from callboard.choreography.turn.thinking.references import SYMBOL, rewrite_strings
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.parsing import misfits
from callboard.core.vocabulary import Effect

# A bad value is told back with what is allowed.
_CHECKED_LATER: Final = ("filters", "order_by", "limit", "offset", "aggregates")
_PUT_AWAY: Final = re.compile(r"\b(?:archiv\w*|deleted|removed|put away|restor\w*)\b")


async def perform_read(scene: Scene) -> StepResult:
    """Return rows; a request that cannot be done is written anew, twice at most."""
    errors: list[str] = []
    request = scene.step.query
    for attempt in range(1, REPAIRS + 2):
        try:
            if request is None:
                request = await _write_request(scene, attempt, errors)
            found = await _read(scene, request, attempt)
            return _result(scene, request, found)
        except CallboardError as error:
            # That no model could mend it is not what went wrong.
            if kind_of(error) or not errors:
                errors.append(told(error))
            request = None
            if not scene.can_ask:
                break
    return failed(scene.step, errors[-1:])


async def _read(scene: Scene, request: ReadRequest, attempt: int) -> ReadResult:
    work, resolved = scene.work, _resolved(scene, request)

    async def read() -> Json:
        if resolved.table in TABLES:
            return read_archive(work, resolved).model_dump(mode="json")
        return (await work.domain.read(work.who, resolved)).model_dump(mode="json")

    found = await scene.stage.step(f"read/{attempt}", read, effect=Effect.PURE)
    return ReadResult.model_validate(found)


def _resolved(scene: Scene, request: ReadRequest) -> ReadRequest:
    """Return the request with ids in the place of what only names them."""

    def change(text: str) -> Any:
        if SYMBOL.fullmatch(text) is None and not text.startswith("temp_"):
            return text
        ids = resolve_ids(scene.work, [text])
        if not ids:
            raise QueryError("bad_value", f"{text!r} leads nowhere", allowed=[])
        return ids if text.endswith(".ids") else ids[0]

    raw = request.model_dump(mode="json", by_alias=True)
    filters = rewrite_strings(raw["filters"], change)
    # Only the user's own words bring up what was put away, never a model's wish.
    is_asked = _PUT_AWAY.search(scene.work.message.casefold()) is not None
    include_archived = request.include_archived and is_asked
    return _checked({**raw, "filters": filters, "include_archived": include_archived})


async def _write_request(scene: Scene, attempt: int, errors: list[str]) -> ReadRequest:
    """Have a model write the request: it sees the schema and ids, and no results."""
    if not scene.can_ask:
        raise QueryError("bad_value", "Nobody can say what to read", allowed=[])
    work, step = scene.work, scene.step
    strategies = "\n".join(f"- {e.name}: {e.summary}" for e in work.domain.query_strategies())
    sections = [
        scene.persona_section(),
        PromptSection(SCHEMA, work.domain.schema(step.subdomain), is_pinned=True, is_trusted=True),
        PromptSection(
            SYNTAX,
            f"{scene.asker.paragraphs('act/query_syntax')}\n\n{strategies}".strip(),
            is_pinned=True,
            is_trusted=True,
        ),
        scene.asker.examples("act/query_examples", work.mode.examples),
        entity_section(scene.referenced(), work.mode.entities_in_context, REFERENCED),
        scene.problem_section("\n".join(errors[-1:])),
    ]
    said = await scene.asker.ask(
        f"ask/{attempt}",
        scene.node,
        sections,
        scene.message,
        schema=schema_of(ReadRequest, loosely=_CHECKED_LATER),
    )
    return _checked(cast("dict[str, Any]", said.data))


def _checked(data: dict[str, Any]) -> ReadRequest:
    try:
        return ReadRequest.model_validate(data)
    except ValidationError as error:
        raise QueryError(
            "bad_value", f"That is no request: {misfits(error, 'it')}", allowed=[]
        ) from None


def _result(scene: Scene, request: ReadRequest, found: ReadResult) -> StepResult:
    is_empty = found.total_count == 0
    return StepResult(
        step_id=scene.step.id,
        status=StepStatus.EMPTY if is_empty else StepStatus.OK,
        result={
            "table": request.table,
            "rows": found.rows,
            "total": found.total_count,
            "truncated": found.truncated,
            "is_count": request.count_only,
        },
        row_count=found.row_count,
        summary=words_for_read(
            table_words(scene.work.domain, request.table),
            found.row_count or found.total_count,
            found.total_count,
        ),
    )
