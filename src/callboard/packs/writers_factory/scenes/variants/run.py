"""Writing a scene: one variant per strategy, all at once, each failing for itself."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.library.story.text import words_of
from callboard.packs.writers_factory.model import WRITER, SceneStatus
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.scenes.drafts import DraftFlag, SceneVariant
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.variants.drafting import DraftOrder, write_variant
from callboard.packs.writers_factory.scenes.variants.material import (
    SceneMaterial,
    gather,
    standard_of,
)
from callboard.packs.writers_factory.voice.strategies import (
    ACTION_EMPHASIS,
    BALANCED,
    CHARACTER_DEPTH,
    canonical_strategy,
)
from callboard.packs.writers_factory.workspace import Workspace, is_small, model_of

DEFAULT_STRATEGIES: Final = (ACTION_EMPHASIS, CHARACTER_DEPTH, BALANCED)
SMALL_WORDS: Final = 150


@dataclass(frozen=True, slots=True)
class SceneOrder:
    """Which scene is to be written, how, and on which model."""

    scaffold_id: str
    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    word_target: int | None = None
    model: str | None = None


def read_order(
    scaffold_id: str, strategies: Sequence[str], word_target: int | None, model: str | None
) -> SceneOrder:
    """Check what a door asks for; strategies are known by any of their names, each once."""
    names = tuple(dict.fromkeys(canonical_strategy(each) for each in strategies))
    return SceneOrder(scaffold_id, names or DEFAULT_STRATEGIES, word_target, model or None)


async def write_variants(
    stage: Stage, order: SceneOrder, may_write_unlocked: Callable[[], bool]
) -> tuple[SceneVariant, ...]:
    """Write the variants of a scene, keep them, and return them, flagged ones and failed ones too.

    At least one must have a text; otherwise the scene stays what it was.
    """
    rooms = SceneRooms(Workspace(stage.studio))

    def read() -> Json:
        material = gather(rooms, order.scaffold_id, order.word_target, may_write_unlocked)
        return {"material": material.to_json(), "round": rooms.desk.next_round(order.scaffold_id)}

    given = cast("dict[str, Any]", await stage.step("material", read))
    material = SceneMaterial.from_json(given["material"])
    model = model_of(rooms.workspace, WRITER, order.model or material.winner)
    if is_small(rooms.workspace, model):
        material = replace(material, word_target=min(material.word_target, SMALL_WORDS))
    drafts = _drafts(rooms, order, material, model, int(given["round"]))
    written = await _written(stage, rooms, drafts)
    guarded = await _unlike(stage, rooms, drafts, written)
    return await _kept(stage, rooms, order.scaffold_id, guarded)


def _drafts(
    rooms: SceneRooms, order: SceneOrder, material: SceneMaterial, model: str, number: int
) -> dict[str, DraftOrder]:
    standard = standard_of(rooms, material)
    return {
        strategy: DraftOrder(
            f"{order.scaffold_id}:{strategy}:{number}", strategy, model, material, standard
        )
        for strategy in order.strategies
    }


async def _written(
    stage: Stage, rooms: SceneRooms, drafts: Mapping[str, DraftOrder]
) -> dict[str, SceneVariant]:
    def branch(draft: DraftOrder) -> Callable[[Stage], Awaitable[SceneVariant]]:
        return lambda staged: write_variant(staged, draft)

    outcomes = await stage.collect(
        {strategy: branch(draft) for strategy, draft in drafts.items()},
        limit=rooms.workspace.settings.project.concurrency,
    )
    found: dict[str, SceneVariant] = {}
    for strategy, draft in drafts.items():
        outcome = outcomes[strategy]
        if outcome.value is not None:
            found[strategy] = outcome.value
            continue
        error = outcome.failed.error.message if outcome.failed else "It was not written."
        found[strategy] = SceneVariant(
            draft.variant_id, draft.scene_id, strategy, draft.model, error=error
        )
    return found


async def _unlike(
    stage: Stage,
    rooms: SceneRooms,
    drafts: Mapping[str, DraftOrder],
    written: Mapping[str, SceneVariant],
) -> tuple[SceneVariant, ...]:
    """Have one of each pair written again that reads too much like the other, once."""
    most = rooms.workspace.settings.analysis.shared_phrases
    found = dict(written)
    texts = {name: variant.text for name, variant in found.items() if variant.is_usable}
    again: set[str] = set()
    for one, other, _share in too_alike(texts, most):
        if other in again or is_small(rooms.workspace, drafts[other].model):
            continue
        again.add(other)
        unlike = found[one].text
        outcomes = await stage.collect({f"{other}-apart": _again(drafts[other], unlike)})
        new = outcomes[f"{other}-apart"].value
        if new is not None and new.is_usable:
            found[other] = new
    texts = {name: variant.text for name, variant in found.items() if variant.is_usable}
    for one, other, share in too_alike(texts, most):
        told = DraftFlag("alike", f"shares {share:.0%} of its phrases with {found[one].strategy}")
        found[other] = replace(found[other], flags=(*found[other].flags, told))
    return tuple(found.values())


def _again(draft: DraftOrder, unlike: str) -> Callable[[Stage], Awaitable[SceneVariant]]:
    return lambda staged: write_variant(staged, draft, unlike=unlike)


async def _kept(
    stage: Stage, rooms: SceneRooms, scene: str, variants: tuple[SceneVariant, ...]
) -> tuple[SceneVariant, ...]:
    now = cast(int, await stage.step("now", rooms.workspace.studio.clock.now_ms))
    dated = [replace(variant, created_at=now) for variant in variants]

    async def keep() -> Json:
        kept = await rooms.desk.put_variants(dated)
        if any(variant.is_usable for variant in kept):
            await rooms.manuscript.set_meta(scene, status=SceneStatus.VARIANTS_READY)
        return [variant.to_json() for variant in kept]

    stored = await keep_in_run(stage, "kept", "variants", keep, of=scene)
    return tuple(SceneVariant.from_json(each) for each in cast("list[Any]", stored))


_RUN_WORDS: Final = 5


def shared_runs(one: str, other: str) -> float:
    """Return which part of the shorter draft's five-word runs the other has too, from 0 to 1."""
    first, second = _runs(one), _runs(other)
    if not first or not second:
        return 0.0
    return len(first & second) / min(len(first), len(second))


def too_alike(texts: Mapping[str, str], most: float) -> tuple[tuple[str, str, float], ...]:
    """Return the pairs that share more than they may: the earlier, the later, and how much."""
    found = (
        (one, other, shared_runs(texts[one], texts[other])) for one, other in combinations(texts, 2)
    )
    return tuple((one, other, share) for one, other, share in found if share > most)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = words_of(text)
    return frozenset(words[at : at + _RUN_WORDS] for at in range(len(words) - _RUN_WORDS + 1))
