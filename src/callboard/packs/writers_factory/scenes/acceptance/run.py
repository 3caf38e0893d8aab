"""Acceptance: the writer takes a text, and the book, the graph and the next step follow."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Final, Protocol

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.engine.errors import StepFailed
from callboard.library.story.contradiction import Names, read_rules
from callboard.packs.writers_factory.manuscript import meta_to_json
from callboard.packs.writers_factory.memory.consolidation.merging import Digestion, Merger, Report
from callboard.packs.writers_factory.memory.consolidation.turns import open_scene, scene_turn
from callboard.packs.writers_factory.memory.extraction import Claiming, find_in_text, interview_on
from callboard.packs.writers_factory.memory.found import since_scene
from callboard.packs.writers_factory.memory.mapping import Offer, Origin, OriginKind
from callboard.packs.writers_factory.model import SceneMeta, SymbolUse
from callboard.packs.writers_factory.operations import in_run, keep_in_run
from callboard.packs.writers_factory.scenes.acceptance.operations import (
    accept_text,
    grow_graph,
    note_judgement,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.variants.inspection import Standard, inspect
from callboard.packs.writers_factory.workspace import Workspace

_KNOWN_NAMES: Final = 60


async def digest_scene(stage: Stage, rooms: SceneRooms, meta: SceneMeta, text: str) -> Json:
    """Extract what a scene says and merge it; what contradicts the graph becomes a conflict.

    Without an answer the report says so in its warnings, and the scene waits to be read.
    """
    workspace, graph = rooms.workspace, rooms.graph
    names = await stage.step(
        "names", lambda: [each.name for each, _ in graph.central(_KNOWN_NAMES)]
    )
    turn = scene_turn(meta.scene_id, text)
    await keep_in_run(
        stage, "wait", "unread scene", lambda: open_scene(workspace.records, turn), of=meta.scene_id
    )
    warnings: tuple[str, ...] = ()
    try:
        found = await find_in_text(stage, "extract", text, interview_on(workspace, graph, names))
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
        merger = Merger(studio.database, workspace.records, graph, rooms.memory.facts)
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


NEXT = "scene.accepted"


class SceneVerdict(Protocol):
    """What a judge finds in an accepted scene."""

    @property
    def tension(self) -> float | None:
        """From 1 to 10; None if nobody could tell."""
        ...

    @property
    def symbols(self) -> tuple[SymbolUse, ...]:
        """The symbols in it, and what they do there."""
        ...


Judge = Callable[[Stage, str, SceneMeta], Awaitable[SceneVerdict | None]]
"""Judges a scene of the manuscript under a key, and keeps a challenge to the flaw by itself."""


@dataclass(frozen=True, slots=True)
class AcceptedScene:
    """What came of an acceptance."""

    meta: SceneMeta
    graph: Json
    extracted: Json
    next_scene: Json
    # What code finds in the text that was taken, whoever wrote it and whatever a judge says.
    flags: Json = ()
    # What it contradicts, if the writer had it accepted all the same.
    against: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what the doors show."""
        return {
            "scene": meta_to_json(self.meta),
            "graph": self.graph,
            "extracted": self.extracted,
            "next_scene": self.next_scene,
            "flags": self.flags,
            "against": list(self.against),
        }


async def accept_scene(
    stage: Stage, scene: str, variant: str, judge: Judge | None, *, force: bool = False
) -> AcceptedScene:
    """Make a scene's text the draft of the book, and everything that follows from it."""
    rooms = SceneRooms(Workspace(stage.studio))
    if force:
        taken = await in_run(stage, "accept", accept_text, scene, variant, force=True)
    else:
        taken = await in_run(stage, "accept", accept_text, scene, variant)
    text = taken.text
    meta = rooms.manuscript.scene(scene)
    flags = await stage.step("look", lambda: _flags(rooms, meta, text))
    if judge is not None:
        meta = await _judged(stage, rooms, meta, judge)
    grown = await in_run(stage, "grow", grow_graph, scene, text)
    extracted = await digest_scene(stage, rooms, meta, text)
    following = await keep_in_run(
        stage, "go_on", "next scene", lambda: _next(rooms, scene), of=scene
    )
    await stage.emit(NEXT, {"scene_id": scene, "next_scene": following})
    return AcceptedScene(meta, grown, extracted, following, flags, taken.against)


def _flags(rooms: SceneRooms, meta: SceneMeta, text: str) -> Json:
    """Return what code finds in a text; no model can make it less."""
    analysis, scaffold = rooms.workspace.settings.analysis, rooms.desk.scaffold(meta.scene_id)
    standard = Standard(
        word_target=rooms.manuscript.word_target(meta.scene_id),
        tolerance=analysis.length_tolerance,
        retry=analysis.length_retry,
        callbacks=scaffold.callbacks if scaffold is not None else (),
        corrections=rooms.corrections(),
        chapter=meta.chapter,
    )
    return [asdict(each) for each in inspect(text, standard)]


async def _judged(stage: Stage, rooms: SceneRooms, meta: SceneMeta, judge: Judge) -> SceneMeta:
    found = await judge(stage, "judge", meta)
    if found is None:
        return meta
    symbols = found.symbols or meta.symbols
    await in_run(stage, "note", note_judgement, meta.scene_id, symbols, found.tension)
    return rooms.manuscript.scene(meta.scene_id)


async def _next(rooms: SceneRooms, scene: str) -> Json:
    active = rooms.desk.active()
    if active is not None and active.scaffold_id == scene:
        await rooms.desk.activate(None)
    planned = rooms.manuscript.next_to_write(scene)
    if planned is None:
        return None
    return {
        "scene_id": planned.id,
        "chapter": planned.chapter,
        "scene": planned.scene,
        "title": planned.title,
        "beat_number": planned.beat_number,
        "summary": planned.summary,
    }
