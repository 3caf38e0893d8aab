"""Writing: a change, given or written by a model, expanded by code and done once.

What must be confirmed comes back as a preview, and nothing has changed.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import ValidationError

from callboard.choreography.answers import schema_of
from callboard.choreography.operating import operate_within
from callboard.choreography.turn.acting.handles import expand_write, resolve_ids
from callboard.choreography.turn.acting.steps import (
    REPAIRS,
    Scene,
    cause_of,
    failed,
    kind_of,
    named,
    own_words,
    table_words,
    told,
    words_for_write,
)
from callboard.choreography.turn.operations import operations_on, undo_rows, write_rows
from callboard.choreography.turn.requests import (
    UndoResult,
    WriteError,
    WriteKey,
    WriteOp,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.sections import (
    ENTITY_IDS,
    FOREIGN_KEYS,
    SCHEMA,
    PromptSection,
    entity_lines,
)
from callboard.choreography.turn.shapes import StepResult, StepStatus
from callboard.choreography.turn.thinking.references import must_confirm_rows
from callboard.choreography.turn.work import TurnWork
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.parsing import misfits
from callboard.core.vocabulary import Effect, EntitySource, EntityState
from callboard.engine.scope import StepScope
from callboard.operations import Operations

_CONSENTED = "confirmed"


async def perform_write(scene: Scene, confirmed: WritePreview | None = None) -> StepResult:
    """Change rows, or say what would be changed and that somebody must agree first."""
    errors: list[str] = []
    request = scene.step.write
    for attempt in range(1, REPAIRS + 2):
        try:
            if request is None:
                request = await write_request(scene, attempt, errors)
            expanded, saved = expand_write(scene.work, request)
            done = await _apply(scene, expanded, attempt, confirmed)
            return _result(scene, request, done, saved)
        except CallboardError as error:
            # That no model could mend it is not what went wrong.
            if kind_of(error) or not errors:
                errors.append(told(error))
            is_conflict = kind_of(error) == "conflict"
            if is_conflict and confirmed is None and attempt == 1 and request is not None:
                request = request.model_copy(update={"versions": {}})
                continue
            request = None
            if not scene.can_ask:
                break
    return failed(scene.step, errors[-1:])


async def preview_write(scene: Scene) -> tuple[WriteRequest, WritePreview]:
    """Return a change and what it would touch, for a proposal; nothing changes."""
    request = scene.step.write
    if request is None:
        request = await write_request(scene, 0, [])
    expanded, _ = expand_write(scene.work, request)

    async def look() -> Json:
        found = await scene.work.domain.preview(scene.work.who, expanded)
        return found.model_dump(mode="json")

    seen = await scene.stage.step("preview", look, effect=Effect.PURE)
    return request, WritePreview.model_validate(seen)


async def _apply(
    scene: Scene, request: WriteRequest, attempt: int, confirmed: WritePreview | None
) -> dict[str, Any]:
    """Do it in one journaled step; the key makes it happen once however often it is tried."""
    work, step = scene.work, scene.step
    key = WriteKey(session_id=work.who.session_id, turn=work.turn, step_id=step.id)
    is_bulk = must_confirm_rows(len(request.records), work.mode) and not scene.is_confirmed

    async def act(scope: StepScope) -> Json:
        looks_first = request.op in (WriteOp.UPDATE, WriteOp.DELETE) or step.requires_confirmation
        if confirmed is None and (looks_first or is_bulk):
            preview = await work.domain.preview(work.who, request)
            if preview.needs_confirmation or is_bulk:
                return {"preview": preview.model_dump(mode="json")}
            if must_confirm_rows(preview.match_count, work.mode) and not scene.is_confirmed:
                return {"preview": preview.model_dump(mode="json")}
        try:
            done = await operate_within(
                scene.stage, scope, _on_record(work), write_rows, work.who, request, key, confirmed
            )
        except WriteError as error:
            if error.kind != "needs_confirmation" and not (
                error.kind == "conflict" and confirmed is not None
            ):
                raise
            preview = await work.domain.preview(work.who, request)
            return {"preview": preview.model_dump(mode="json")}
        return {"done": done.model_dump(mode="json")}

    name = f"write/{attempt}" if confirmed is None else f"{_CONSENTED}/{attempt}"
    said = await scene.stage.run.step(name, act, inputs=[], effect=Effect.IDEMPOTENT)
    return cast("dict[str, Any]", said)


def _on_record(work: TurnWork) -> Operations:
    return operations_on(work.stage.studio, pack_of(work.stage.run), work.domain)


async def write_request(scene: Scene, attempt: int, errors: list[str]) -> WriteRequest:
    """Have a model write the change: it sees the schema and ids, and no results."""
    if not scene.can_ask:
        raise WriteError("validation", "Nobody can say what to write")
    work, step = scene.work, scene.step
    sections = [
        scene.persona_section(),
        PromptSection(SCHEMA, work.domain.schema(step.subdomain), is_pinned=True, is_trusted=True),
        PromptSection(
            FOREIGN_KEYS,
            scene.asker.paragraphs("act/foreign_keys"),
            is_pinned=True,
            is_trusted=True,
        ),
        PromptSection(ENTITY_IDS, _ids(scene), is_pinned=True),
        scene.problem_section("\n".join(errors[-1:])),
    ]
    schema = schema_of(WriteRequest, without=("versions",), loosely=("filters",))
    said = await scene.asker.ask(
        f"ask/{attempt}", scene.node, sections, scene.message, schema=schema
    )
    try:
        return WriteRequest.model_validate(cast("dict[str, Any]", said.data))
    except ValidationError as error:
        raise WriteError("validation", f"That is no change: {misfits(error, 'it')}") from None


def _ids(scene: Scene) -> str:
    """Return the ids a change may use: of what it names, and of what the group before brought."""
    lines = [entity_lines(scene.referenced() or scene.work.shown_entities()[:5])]
    for result in scene.inputs:
        found = resolve_ids(scene.work, [f"{result.step_id}.ids"])
        computed = cast("dict[str, Any]", result.result.get("computed") or {})
        lists = [name for name, value in computed.items() if isinstance(value, list)]
        for name in lists:
            lines.append(f"- rows of {result.step_id}.{name}: use from_result")
        if found:
            lines.append(f"- {result.step_id}.id = {found[0]} ({result.summary})")
    return "\n".join(each for each in lines if each)


def _result(
    scene: Scene, request: WriteRequest, said: dict[str, Any], saved: list[str]
) -> StepResult:
    if "preview" in said:
        preview = WritePreview.model_validate(said["preview"])
        return StepResult(
            step_id=scene.step.id,
            status=StepStatus.AWAITING_CONFIRMATION,
            result={
                "preview": said["preview"],
                "request": request.model_dump(mode="json", by_alias=True),
            },
            row_count=preview.match_count,
            summary=scene.step.description,
        )
    done = WriteResult.model_validate(said["done"])
    is_empty = done.created + done.updated + done.deleted == 0 and not done.ids
    return StepResult(
        step_id=scene.step.id,
        status=StepStatus.EMPTY if is_empty else StepStatus.OK,
        result={**done.model_dump(mode="json"), "saved": list(saved)},
        row_count=len(done.ids),
        summary=_told(scene, request, done) if not is_empty else "Nothing had to be changed",
    )


def _told(scene: Scene, request: WriteRequest, done: WriteResult) -> str:
    domain = scene.work.domain
    own = own_words(domain, request, done)
    return own or words_for_write(table_words(domain, done.table), done)


async def undo_turn(work: TurnWork, agreed: Sequence[str] | None = ()) -> str | list[str]:
    """Take back what the last turn wrote, and say so; or say why that is not possible.

    What the user must see first comes back as a question, unless they have agreed to just that;
    None is a no to it.
    """
    if agreed is None:
        return "All right, nothing was undone."
    said = await _undo(work, None)
    if isinstance(said, WritePreview):
        asked = f"{'. '.join(said.reasons)}. Shall I undo it all the same?"
        if list(agreed) != [asked]:
            return [asked]
        said = await _undo(work, said)
    if isinstance(said, str):
        return said
    if not isinstance(said, dict):
        return "It was undone."
    done = UndoResult.model_validate(cast("dict[str, Any]", said))
    drafts = _bring_back_drafts(work, done.removed_ids)
    parts = [f"{done.restored} restored"] if done.restored else []
    parts += [f"{done.removed} removed again"] if done.removed else []
    names = named(done.labels)
    lines = [f"Undone{': ' + names if names else ''} ({', '.join(parts) or 'nothing left'})."]
    again = [f"{named(drafts)} can be saved again."] if drafts else []
    return " ".join([*lines, *again, *done.notes])


async def _undo(work: TurnWork, confirmed: WritePreview | None) -> Json | WritePreview:
    async def act(scope: StepScope) -> Json:
        done = await operate_within(
            work.stage, scope, _on_record(work), undo_rows, work.who, confirmed
        )
        return done.model_dump(mode="json")

    try:
        # Once: undoing again would take back the turn before.
        key = "undo" if confirmed is None else "undo_agreed"
        return await work.stage.run.step(key, act, inputs=[], effect=Effect.ONCE)
    except CallboardError as error:
        if kind_of(error) == "needs_confirmation":
            return WritePreview.model_validate(cause_of(error).context["preview"])
        return f"I could not undo that: {told(error)}"


def _bring_back_drafts(work: TurnWork, gone: Sequence[str]) -> list[str]:
    """Forget things whose rows are gone; what had been a draft is one again. Return those."""
    labels: list[str] = []
    for row_id in gone:
        entity, content = work.registry.find(row_id), work.content(row_id)
        if entity is None:
            continue
        work.registry.forget(row_id, work.turn, "undone")
        if content is None:
            continue
        draft = replace(
            entity,
            id=content.temp_id,
            state=EntityState.PENDING,
            source=EntitySource.GENERATE,
            persisted=False,
            pinned=False,
        )
        work.registry.add(draft, work.turn)
        work.contents[content.temp_id] = replace(content, db_id=None)
        labels.append(entity.label)
    return labels
