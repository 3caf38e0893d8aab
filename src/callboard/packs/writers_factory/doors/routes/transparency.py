"""Nothing hidden: settings in force, turns, jobs, and every prompt exactly as it was sent."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query

from callboard.api.project import (
    Entry,
    JobShape,
    OpenStudio,
    Paged,
    Shown,
    Wanted,
    job_shape,
    promise,
)
from callboard.core.errors import NotFound
from callboard.packs.writers_factory.doors.routes.request import (
    ModelName,
    SessionId,
    Text,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import Factory
from callboard.prompts import PromptRecord, PromptSummary, list_prompts, load_prompt, record_prompt
from callboard.store.journal.runs import list_runs, load_run

router = APIRouter(prefix="/factory", tags=["factory: transparency"])

_MOST: Final = 10_000
# When it was sent is told as `ts`.
_UNTOLD: Final = ("created_at", "step_key", "agent_id")

RunId = Annotated[str, Path(max_length=100)]


class SettingsShape(Shown):
    """The settings in force, and what is wrong in the writer's own files."""

    values: Entry
    warnings: list[str]


class TurnRecord(Shown):
    """What is on record about a turn."""

    run_id: str
    said: str
    mode: str
    model: str
    tier: str
    prompt_ids: list[str]
    warnings: list[str]


PromptLine = promise(
    "PromptLine",
    "A prompt as it stands in a list.",
    PromptSummary,
    leave=_UNTOLD,
    ts=int,
)


class LayerShape(Shown):
    """One layer of a prompt: how large it is, and whether less went out than was given."""

    name: str
    tokens: int
    trimmed: bool


class PromptShape(Shown):
    """A prompt exactly as it was sent, and what came back."""

    id: str
    project_id: str
    ts: int
    model_id: str
    tier: str
    mode: str
    total_tokens: int
    limit_tokens: int | None
    layers: list[LayerShape]
    prompt_text: str
    response_text: str | None
    parse_warnings: list[str]


class PreviewWanted(Wanted):
    """A message nobody sends: which prompt would it lead to?"""

    message: Text
    model: ModelName | None = None
    session_id: SessionId = None


@router.get("/settings")
async def show_settings(factory: WritersFactory) -> SettingsShape:
    """Show the settings in force, and everything in the writer's files that cannot be used."""
    values = factory.settings().values.model_dump()
    return SettingsShape(values=values, warnings=list(factory.problems()))


@router.get("/turns")
async def list_turns(factory: WritersFactory, page: Paged) -> list[TurnRecord]:
    """List the turns of all sessions, newest first."""
    found = list(reversed(factory.foreman.turns().items()))
    return [_turn(run_id, body) for run_id, body in page.cut(found)]


@router.get("/turns/{run_id}")
async def show_turn(factory: WritersFactory, run_id: RunId) -> TurnRecord:
    """Show what is on record about a turn: mode, model, why that model, prompts, warnings."""
    return _turn(run_id, _require_turn(factory, run_id))


@router.get("/turns/{run_id}/prompts")
async def show_turn_prompts(
    factory: WritersFactory, studio: OpenStudio, run_id: RunId
) -> list[PromptShape]:
    """Show the exact prompts of a turn, in the order in which they were sent."""
    ids = _require_turn(factory, run_id)["prompt_ids"]
    records = studio.database.read(lambda c: [load_prompt(c, str(each)) for each in ids])
    return [_prompt(factory, each) for each in records]


@router.get("/prompts", response_model=list[PromptLine])
async def list_all_prompts(
    studio: OpenStudio,
    page: Paged,
    run_id: Annotated[str | None, Query(max_length=100, description="Only of this run.")] = None,
) -> list[Entry]:
    """List every prompt that was sent, newest first, with its tier and size."""
    found = studio.database.read(lambda c: list_prompts(c, run_id=run_id, limit=_MOST))
    told = ((each.created_at, asdict(each)) for each in page.cut(found))
    return [{"ts": ts, **{k: v for k, v in row.items() if k not in _UNTOLD}} for ts, row in told]


@router.post("/prompts/preview")
async def preview_prompt(
    factory: WritersFactory, studio: OpenStudio, wanted: PreviewWanted
) -> PromptShape:
    """Show the prompt a message would lead to now, without asking anybody."""
    session = studio.sessions.get(wanted.session_id).id if wanted.session_id else None
    prompt = factory.foreman.preview(wanted.message, model=wanted.model, session_id=session)
    return _prompt(factory, record_prompt(prompt, "", factory.studio.clock.now_ms()))


@router.get("/prompts/{prompt_id}")
async def show_prompt(factory: WritersFactory, studio: OpenStudio, prompt_id: RunId) -> PromptShape:
    """Show a prompt exactly as it was sent, layer by layer, and the reply as it came."""
    return _prompt(factory, studio.database.read(lambda c: load_prompt(c, prompt_id)))


@router.get("/jobs")
async def list_jobs(studio: OpenStudio, factory: WritersFactory, page: Paged) -> list[JobShape]:
    """List the long work of the book, newest first."""
    runs = await asyncio.to_thread(studio.database.read, lambda c: list_runs(c))
    found = [run for run in runs if run.choreography.startswith(f"{factory.pack}/")]
    return [job_shape(run) for run in page.cut(found)]


@router.get("/jobs/{run_id}")
async def show_job(studio: OpenStudio, run_id: RunId) -> JobShape:
    """Show long work as it is now, with its result when it is done."""
    return job_shape(studio.database.read(lambda c: load_run(c, run_id)))


def _require_turn(factory: Factory, run_id: str) -> dict[str, Any]:
    found = factory.foreman.turn(run_id)
    if found is None:
        raise NotFound(
            f"No turn {run_id!r} is on record",
            fix="A turn has the id of its run; the conversation lists them.",
            run_id=run_id,
        )
    return found


def _turn(run_id: str, body: dict[str, Any]) -> TurnRecord:
    return TurnRecord.model_validate({**body, "run_id": run_id})


def _prompt(factory: Factory, record: PromptRecord) -> PromptShape:
    reply = record.reply
    told = {
        "id": record.id,
        "project_id": factory.rooms.bible.project().id,
        "ts": record.created_at,
        "model_id": record.model_id,
        "tier": record.tier.value if record.tier else "",
        "mode": record.mode,
        "total_tokens": record.total_tokens,
        "limit_tokens": record.limit_tokens,
        "layers": [{**each.to_json(), "trimmed": each.trimmed} for each in record.bill],
        "messages": [{"role": each.role, "content": each.content} for each in record.messages],
        "prompt_text": record.text,
        "response_text": None if reply is None else reply.text,
        "parse_warnings": [] if reply is None else list(reply.warnings),
        "usage": {} if reply is None else dict(reply.usage),
        "run_id": record.run_id,
        "agent_id": record.agent_id,
    }
    return PromptShape.model_validate(told)
