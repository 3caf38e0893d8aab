"""Acceptance: the writer takes a text, and the book, the graph and the next step follow."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import meta_to_json
from callboard.packs.writers_factory.model import SceneMeta, SymbolUse
from callboard.packs.writers_factory.operations import in_run, keep_in_run
from callboard.packs.writers_factory.scenes.acceptance.extraction import digest_scene
from callboard.packs.writers_factory.scenes.acceptance.operations import (
    accept_text,
    grow_graph,
    note_judgement,
)
from callboard.packs.writers_factory.scenes.rooms import SceneRooms

NEXT = "scene.accepted"


class Judged(Protocol):
    """What a judge finds in an accepted scene."""

    @property
    def tension(self) -> float | None:
        """From 1 to 10; None if nobody could tell."""
        ...

    @property
    def symbols(self) -> tuple[SymbolUse, ...]:
        """The symbols in it, and what they do there."""
        ...


Judge = Callable[[Stage, str, SceneMeta], Awaitable[Judged | None]]
"""Judges a scene of the manuscript under a key, and keeps a challenge to the flaw by itself."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """What came of an acceptance."""

    meta: SceneMeta
    graph: Json
    extracted: Json
    next_scene: Json

    def to_json(self) -> dict[str, Json]:
        """Return what the doors show."""
        return {
            "scene": meta_to_json(self.meta),
            "graph": self.graph,
            "extracted": self.extracted,
            "next_scene": self.next_scene,
        }


async def accept_scene(stage: Stage, scene: str, variant: str, judge: Judge | None) -> Accepted:
    """Make a scene's text the draft of the book, and everything that follows from it."""
    rooms = SceneRooms(Ground(stage.studio))
    text = (await in_run(stage, "accept", accept_text, scene, variant)).text
    meta = rooms.manuscript.scene(scene)
    if judge is not None:
        meta = await _judged(stage, rooms, meta, judge)
    grown = await in_run(stage, "grow", grow_graph, scene, text)
    extracted = await digest_scene(stage, rooms, meta, text)
    following = await keep_in_run(
        stage, "go_on", "next scene", lambda: _next(rooms, scene), of=scene
    )
    await stage.emit(NEXT, {"scene_id": scene, "next_scene": following})
    return Accepted(meta, grown, extracted, following)


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
