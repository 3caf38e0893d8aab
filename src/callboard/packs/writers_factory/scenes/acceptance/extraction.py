"""What a scene establishes, brought into the graph the way conversations are: no silent change.

A scene that no model can read now is left to the next consolidation; its acceptance stands.
"""

from collections.abc import Iterator
from typing import Final

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.memory.claims import Names, Offer, Origin, OriginKind
from callboard.packs.writers_factory.memory.conflicts import read_rules
from callboard.packs.writers_factory.memory.consolidation.merging import Digestion, Merger
from callboard.packs.writers_factory.memory.consolidation.report import Report
from callboard.packs.writers_factory.memory.consolidation.turns import open_scene, scene_turn
from callboard.packs.writers_factory.memory.extraction import (
    Claiming,
    find_in_text,
    interview_on,
    since_scene,
)
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.scenes.rooms import SceneRooms

_KNOWN_NAMES: Final = 60


async def digest_scene(stage: Stage, rooms: SceneRooms, meta: SceneMeta, text: str) -> Json:
    """Extract what a scene says and merge it; what contradicts the graph becomes a conflict.

    Without an answer the report says so in its warnings, and the scene waits to be read.
    """
    ground, graph = rooms.ground, rooms.graph
    names = await stage.step(
        "names", lambda: [each.name for each, _ in graph.central(_KNOWN_NAMES)]
    )
    turn = scene_turn(meta.scene_id, text)
    await keep_in_run(
        stage, "wait", "unread scene", lambda: open_scene(ground.records, turn), of=meta.scene_id
    )
    warnings: tuple[str, ...] = ()
    try:
        found = await find_in_text(stage, "extract", text, interview_on(ground, graph, names))
    except StepFailed as failed:
        found, warnings = None, (f"No model could be asked: {failed.error.message}",)
    if found is None:
        warnings = (*warnings, f"What {meta.scene_id} establishes waits for a consolidation.")
    rules = read_rules(stage.studio.project.folder)

    def offers(known: Names) -> Iterator[Offer]:
        if found is not None:
            dated = since_scene(found, meta.scene_id)
            claims = Claiming(known, rules).claims(dated, text, turn.source)
            yield Offer(Origin(OriginKind.TURN, turn.run_id), claims)

    async def merge() -> Json:
        studio = stage.studio
        merger = Merger(studio.database, ground.records, graph, rooms.memory.facts)
        digestion = Digestion(
            run_id=stage.run.id,
            entries={},
            # A turn that is merged is marked with it; one that is not stays for a consolidation.
            turn_ids=() if found is None else (turn.run_id,),
            offers=offers,
            rule_clashes={},
            seen=Report(events_seen=1, unread=int(found is None), warnings=warnings),
            started_ms=studio.clock.now_ms(),
        )
        return (await merger.merge(digestion, rules, studio.clock.now_ms)).to_json()

    return await keep_in_run(stage, "take_in", "facts of a scene", merge, of=meta.scene_id)
