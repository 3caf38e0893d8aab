"""What a scene establishes, brought into the graph the way conversations are: no silent change."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect, ModelTier
from callboard.packs.writers_factory.memory.claims import Names, Offer, Origin, OriginKind
from callboard.packs.writers_factory.memory.conflicts import read_rules
from callboard.packs.writers_factory.memory.consolidation.merging import Digestion, Merger
from callboard.packs.writers_factory.memory.consolidation.report import Report
from callboard.packs.writers_factory.memory.extraction import (
    Claiming,
    Found,
    FoundNode,
    Interview,
    find_in_text,
    tier_of_model,
)
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.scenes.acceptance.graph import scene_source
from callboard.packs.writers_factory.scenes.rooms import SceneRooms

_KNOWN_NAMES: Final = 60
_STATES: Final = frozenset({"alive", "status", "life", "injured", "location", "whereabouts"})


async def digest_scene(stage: Stage, rooms: SceneRooms, meta: SceneMeta, text: str) -> Json:
    """Extract what a scene says and merge it; what contradicts the graph becomes a conflict."""
    ground, graph = rooms.ground, rooms.graph
    names = await stage.step(
        "names", lambda: [each.name for each, _ in graph.central(_KNOWN_NAMES)]
    )
    interview = _interview(stage, rooms, tuple(names))
    found = await find_in_text(stage, "extract", text, interview)
    rules = read_rules(stage.studio.project.root)
    source = scene_source(meta.scene_id)
    origin = Origin(OriginKind.TEMPLATE, rooms.manuscript.path(meta.scene_id))

    def offers(known: Names) -> Iterator[Offer]:
        if found is not None:
            claims = Claiming(known, rules).claims(_dated(found, meta), text, source)
            yield Offer(origin, claims)

    async def merge() -> Json:
        studio = stage.studio
        merger = Merger(studio.database, ground.records, graph, rooms.memory.facts)
        digestion = Digestion(
            run_id=stage.run.id,
            entry_ids=frozenset(),
            turn_ids=(),
            offers=offers,
            rule_clashes={},
            seen=Report(events_seen=1, unread=0 if found is not None else 1),
            started_ms=studio.clock.now_ms(),
        )
        return (await merger.merge(digestion, rules, studio.clock.now_ms)).to_json()

    return await stage.step("merge", merge, effect=Effect.IDEMPOTENT)


def _interview(stage: Stage, rooms: SceneRooms, names: tuple[str, ...]) -> Interview:
    settings = rooms.ground.settings
    model = settings.models.routes.get("extraction")
    vocabulary = rooms.graph.vocabulary()
    return Interview(
        node_types=vocabulary.nodes,
        edge_types=vocabulary.edges,
        known_names=names,
        model=model,
        temperature=settings.consolidation.temperature,
        is_constrained=tier_of_model(stage, model) is ModelTier.MINIMAL,
    )


def _dated(found: Found, meta: SceneMeta) -> Found:
    """Return findings whose states begin with the scene: who dies in it lived before."""

    def dated(node: FoundNode) -> FoundNode:
        if not node.attrs or not _STATES.issuperset(node.attrs):
            return node
        return replace(node, attrs={"since_scene": meta.scene_id, **node.attrs})

    return replace(found, nodes=tuple(dated(node) for node in found.nodes))
