"""Revising a scene: what it is worth, what would better it, and what the writer takes of that."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Response
from pydantic import Field

from callboard.api.project import Entry, Paged, Shown, StartedJob, Wanted, started
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.doors.routes.request import (
    ModelName,
    Name,
    Note,
    Prose,
    SceneId,
    SessionId,
    WritersFactory,
)
from callboard.packs.writers_factory.factory import Factory
from callboard.packs.writers_factory.revision import operations
from callboard.tools import off_loop

router = APIRouter(prefix="/factory", tags=["factory: revision"])

EnhancementId = Annotated[str, Path(max_length=100)]


class AnalysisWanted(Wanted):
    """How a scene is to be scored; fast asks no model and answers at once."""

    fast: bool = False
    text: Prose | None = Field(default=None, description="Score this instead; only with `fast`.")
    session_id: SessionId = None


class AnalysisShape(Shown):
    """What a scene is worth in five categories, and what keeps it from being accepted."""

    scene_id: str
    total: float
    band: str
    blocked_by: list[Entry]
    may_accept: bool


class Verdict(Shown):
    """The last analysis, what the writer waived, and what still stands in the way."""

    scene_id: str
    analysis: Entry | None
    waivers: list[Entry]
    blocked_by: list[Entry]


class ComparisonWanted(Wanted):
    """Texts to be ranked, by name; without any, the drafts of the scene."""

    texts: dict[str, Prose] = Field(default_factory=dict[str, str], max_length=20)
    fast: bool = True
    session_id: SessionId = None


class Ranking(Shown):
    """Texts by what they are worth, the best first."""

    scene_id: str
    ranking: list[Entry]


class WaiverWanted(Wanted):
    """A zero-tolerance phrase the writer wants as it is."""

    pattern: Name
    quote: Note
    reason: Annotated[str, Field(min_length=1, max_length=5_000)]


class EnhancementWanted(Wanted):
    """How a scene is to be bettered: fixes for its issues, or six passes over all of it."""

    mode: Literal["action_prompt", "six_pass"] = "action_prompt"
    fast: bool = False
    model: ModelName | None = None
    session_id: SessionId = None


class EnhancementShape(Shown):
    """Proposed changes, each to be taken or refused."""

    id: str
    scene_id: str
    mode: str
    changes: list[Entry]
    preview: str


class DecisionWanted(Wanted):
    """Which changes are taken and which refused, by their ids."""

    accept: list[Name] = Field(default_factory=list[str], max_length=5_000)
    reject: list[Name] = Field(default_factory=list[str], max_length=5_000)
    force: bool = Field(default=False, description="Even if it then contradicts cards or scenes.")


@router.post(
    "/scenes/{scene_id}/analyze",
    responses={202: {"model": StartedJob, "description": "The run that analyses."}},
)
async def analyze(
    factory: WritersFactory,
    response: Response,
    scene_id: SceneId,
    wanted: AnalysisWanted | None = None,
) -> AnalysisShape | StartedJob:
    """Score a scene: at once without a model, or by a run that asks the judge."""
    factory.require("analyze_scene")
    chosen = wanted or AnalysisWanted()
    factory.rooms.manuscript.scene(scene_id)
    if chosen.fast:
        return await _fast(factory, scene_id, chosen.text)
    if chosen.text is not None:
        raise InvalidInput(
            "A text of its own is only scored fast", fix="Set `fast`, or use compare."
        )
    args, session = {"scene_id": scene_id}, chosen.session_id
    run = await factory.start("analyze", args, session_id=session, is_sure=True)
    response.status_code = 202
    return started(run)


@router.get("/scenes/{scene_id}/analysis")
async def show_analysis(factory: WritersFactory, scene_id: SceneId) -> Verdict:
    """Show the last analysis of a scene and what keeps it from being accepted."""
    revision = factory.rooms.revision
    factory.rooms.manuscript.scene(scene_id)
    known = revision.analysis(scene_id)
    waivers = revision.waivers(scene_id)
    return Verdict(
        scene_id=scene_id,
        analysis=None if known is None else known.to_json(),
        waivers=[
            {"pattern": each.pattern, "quote": each.quote, "reason": each.reason}
            for each in waivers
        ],
        blocked_by=[each.to_json() for each in revision.blocks(scene_id)],
    )


@router.post(
    "/scenes/{scene_id}/compare",
    responses={202: {"model": StartedJob, "description": "The run that compares."}},
)
async def compare(
    factory: WritersFactory,
    response: Response,
    scene_id: SceneId,
    wanted: ComparisonWanted | None = None,
) -> Ranking | StartedJob:
    """Rank texts for a scene, or its drafts."""
    factory.require("analyze_scene")
    chosen = wanted or ComparisonWanted()
    factory.rooms.manuscript.scene(scene_id)
    texts = dict(chosen.texts) or {
        each.id: each.text for each in factory.rooms.scenes.variants(scene_id) if each.is_usable
    }
    if not texts:
        raise InvalidInput(f"{scene_id} has no drafts to compare", fix="Send `texts` by name.")
    if chosen.fast:
        ranking = factory.rooms.revision.ranking(scene_id, texts)
        return Ranking(scene_id=scene_id, ranking=await off_loop(ranking))
    args = {"scene_id": scene_id, "texts": texts}
    run = await factory.start("analyze", args, session_id=chosen.session_id)
    response.status_code = 202
    return started(run)


@router.post("/scenes/{scene_id}/waive", status_code=201)
async def waive(factory: WritersFactory, scene_id: SceneId, wanted: WaiverWanted) -> Entry:
    """Let one zero-tolerance phrase stand, because the writer wants it."""
    made = await factory.perform(
        operations.waive_phrase, scene_id, wanted.pattern, wanted.quote, wanted.reason
    )
    return {"pattern": made.pattern, "quote": made.quote, "reason": made.reason}


@router.post("/scenes/{scene_id}/enhance", status_code=202)
async def enhance(
    factory: WritersFactory, scene_id: SceneId, wanted: EnhancementWanted | None = None
) -> StartedJob:
    """Have changes proposed to a scene; its id is that of the run, and nothing changes by it."""
    chosen = wanted or EnhancementWanted()
    args = {**chosen.model_dump(exclude={"session_id"}), "scene_id": scene_id}
    run = await factory.start("enhance", args, session_id=chosen.session_id, is_sure=True)
    return started(run, enhancement_id=run.id)


@router.get("/scenes/{scene_id}/enhancements")
async def list_enhancements(
    factory: WritersFactory, scene_id: SceneId, page: Paged
) -> list[EnhancementShape]:
    """List what was proposed for a scene, oldest first."""
    factory.rooms.manuscript.scene(scene_id)
    found = page.cut(factory.rooms.revision.enhancements(scene_id))
    return [EnhancementShape.model_validate(each.shown()) for each in found]


@router.get("/enhancements/{enhancement_id}")
async def show_enhancement(
    factory: WritersFactory, enhancement_id: EnhancementId
) -> EnhancementShape:
    """Show proposed changes with the scores before and after."""
    found = factory.rooms.revision.enhancement(enhancement_id)
    return EnhancementShape.model_validate(found.shown())


@router.post("/enhancements/{enhancement_id}/decide")
async def decide(
    factory: WritersFactory, enhancement_id: EnhancementId, wanted: DecisionWanted
) -> EnhancementShape:
    """Take or refuse changes; the scene then holds what is taken, and nothing else of it."""
    decided = await factory.perform(
        operations.decide_changes, enhancement_id, wanted.accept, wanted.reject, wanted.force
    )
    return EnhancementShape.model_validate(decided.shown())


async def _fast(factory: Factory, scene_id: str, text: str | None) -> AnalysisShape:
    revision = factory.rooms.revision
    analysis = await off_loop(revision.scoring(scene_id, text))
    blocked = [each.to_json() for each in revision.not_waived(analysis)]
    told = {**analysis.to_json(), "blocked_by": blocked, "may_accept": not blocked}
    return AnalysisShape.model_validate(told)
