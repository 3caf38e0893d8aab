"""The runs of scenes, from the proposed outline to the accepted scene."""

from typing import Any, Final, cast

from callboard.choreography.definition import choreography
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.health import Health, judge_scene, start_after_chapter
from callboard.packs.writers_factory.model import SceneMeta, scene_id
from callboard.packs.writers_factory.modes.gates import Overrides
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.revision.revision import Revision
from callboard.packs.writers_factory.scenes.acceptance import SceneVerdict, accept_scene
from callboard.packs.writers_factory.scenes.briefing import brief_scene
from callboard.packs.writers_factory.scenes.hybrids import make_hybrid, read_hybrid
from callboard.packs.writers_factory.scenes.planning import propose_outline
from callboard.packs.writers_factory.scenes.rooms import SceneWish
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.scenes.variants import read_order, write_variants
from callboard.packs.writers_factory.workspace import Workspace

_VOICE_LOCK: Final = "voice_lock"
_MOST_NOTES: Final = 5


@choreography
async def plan_scenes(
    stage: Stage,
    scenes: int | None = None,
    words: int | None = None,
    chapters: int | None = None,
) -> Json:
    """Propose the scenes of the book from its beat sheet; you approve or change them."""
    return await propose_outline(stage, scenes, words, chapters)


@choreography
async def scaffold(
    stage: Stage,
    chapter: int,
    scene: int,
    title: str = "",
    enrichment: list[str] = [],  # noqa: B006 - read, never written
    flaw_gap: int | None = None,
    health_notes: list[str] = [],  # noqa: B006 - read, never written
) -> Json:
    """Make the structural brief of one scene from graph, beats and memory."""
    wanted = scene_id(chapter, scene)
    scenes = Scenes(Workspace(stage.studio))
    await stage.step("planned", lambda: scenes.require_planned(wanted, title))
    known = cast("dict[str, Any]", await stage.step("health", lambda: _health(stage)))
    wish = SceneWish(
        chapter,
        scene,
        title,
        known["flaw_gap"] if flaw_gap is None else flaw_gap,
        tuple(health_notes or known["notes"]),
    )
    return (await brief_scene(stage, wish, enrichment)).to_json()


@choreography
async def write_scene(
    stage: Stage,
    scaffold_id: str,
    strategies: list[str] = [],  # noqa: B006 - read, never written
    word_target: int | None = None,
    model: str | None = None,
) -> Json:
    """Draft an approved scene once per strategy, in the voice of the book."""
    order = read_order(scaffold_id, strategies, word_target, model)
    variants = await write_variants(stage, order, lambda: _has_override(stage))
    return {"scene_id": scaffold_id, "variants": [each.to_json() for each in variants]}


@choreography
async def hybrid(stage: Stage, scene_id: str, parts: Any = None, wishes: str = "") -> Json:
    """Join parts of variants into one draft; every paragraph remembers where it comes from."""
    return (await make_hybrid(stage, read_hybrid(scene_id, parts, wishes))).to_json()


@choreography
async def accept(stage: Stage, scene_id: str, variant_id: str = "", force: bool = False) -> Json:
    """Accept a scene: it enters the book and the graph, and the next one is proposed."""
    await stage.step(
        "unblocked", lambda: require_acceptable(Workspace(stage.studio), scene_id, variant_id)
    )
    accepted = await accept_scene(stage, scene_id, variant_id, _judge, force=force)

    async def look_after() -> Json:
        workspace, session = Workspace(stage.studio), stage.run.session_id
        return await start_after_chapter(workspace, scene_id, session_id=session)

    # Started once per text of a chapter, and nobody waits for it.
    checked_by = await keep_in_run(
        stage, "look_after", "health check of a chapter", look_after, of=scene_id
    )
    return {**accepted.to_json(), "health_run": checked_by}


def _has_override(stage: Stage) -> bool:
    """Say whether the writer went on without a locked voice, on record."""
    overrides = Overrides(Workspace(stage.studio)).active()
    return any(subject == _VOICE_LOCK for each in overrides for _, subject in each.covers)


def _health(stage: Stage) -> Json:
    """Return how long the flaw went unchallenged, and what a scene could put right."""
    health = Health(Workspace(stage.studio))
    notes = [f"{alert.finding} {alert.recommendation}".strip() for alert in health.open_alerts()]
    return {"flaw_gap": health.flaw_gap(), "notes": notes[:_MOST_NOTES]}


async def _judge(stage: Stage, key: str, meta: SceneMeta) -> SceneVerdict | None:
    return await judge_scene(stage, key, meta.scene_id)


class AcceptanceBlocked(Conflict):
    """A scene holds what no scene may hold, and the writer has not waived it."""

    code = "acceptance_blocked"


def require_acceptable(workspace: Workspace, scene_id: str, variant_id: str = "") -> None:
    """Refuse to accept a text with zero-tolerance phrases nobody waived."""
    text = Scenes(workspace).variant(scene_id, variant_id).text if variant_id else None
    hits = Revision(workspace).blocks(scene_id, text)
    if hits:
        raise AcceptanceBlocked(
            f"{scene_id} cannot be accepted: {'; '.join(hit.quote for hit in hits)}",
            fix="Rewrite these words, or waive each of them with a reason.",
            scene_id=scene_id,
            unmet=[f"{hit.pattern}: {hit.quote}" for hit in hits],
        )
