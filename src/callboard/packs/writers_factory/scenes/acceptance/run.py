"""Acceptance: the writer takes a text, and the book, the graph and the next step follow."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import meta_to_json
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse
from callboard.packs.writers_factory.scenes.acceptance.extraction import digest_scene
from callboard.packs.writers_factory.scenes.acceptance.graph import (
    addition_of,
    store_addition,
    ties_of,
)
from callboard.packs.writers_factory.scenes.errors import NothingToAccept
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.scaffolds.derivation import people_named

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
    saved = await stage.step("save", lambda: _save(rooms, scene, variant), effect=Effect.IDEMPOTENT)
    told = cast("dict[str, Any]", saved)
    meta, text = rooms.manuscript.scene(scene), str(told["text"])
    if judge is not None:
        meta = await _judged(stage, rooms, meta, judge)
    grown = await stage.step("graph", lambda: _grow(rooms, meta, text), effect=Effect.IDEMPOTENT)
    extracted = await digest_scene(stage, rooms, meta, text)
    following = await stage.step("next", lambda: _next(rooms, scene), effect=Effect.IDEMPOTENT)
    await stage.emit(NEXT, {"scene_id": scene, "next_scene": following})
    return Accepted(meta, grown, extracted, following)


async def _save(rooms: SceneRooms, scene: str, variant: str) -> Json:
    book = rooms.manuscript
    text = rooms.desk.variant(scene, variant).text if variant else book.text(scene)
    if not text.strip():
        raise NothingToAccept(
            f"{scene} has no text to accept",
            fix="Select a variant or write the scene first.",
            scene_id=scene,
        )
    scaffold = rooms.desk.scaffold(scene)
    meta = _meta(rooms, scene, text, scaffold)
    version = await book.save(scene, text, meta, reason="accepted by the writer")
    return {"text": book.text(scene), "version": version.number}


def _meta(rooms: SceneRooms, scene: str, text: str, scaffold: SmartScaffold | None) -> SceneMeta:
    known = rooms.manuscript.scene(scene)
    base = rooms.meta_of(scaffold) if scaffold is not None else known
    named = people_named([text], rooms.people(known.chapter, known.scene))
    ties = ties_of(text, scaffold)
    is_polished = known.status is SceneStatus.POLISHED
    return replace(
        base,
        status=SceneStatus.POLISHED if is_polished else SceneStatus.DRAFTED,
        characters=base.characters or tuple(person.name for person in named),
        callbacks=tuple(each.name for each in ties.paid) or known.callbacks,
        foreshadowing=tuple(each.name for each in ties.planted) or known.foreshadowing,
    )


async def _judged(stage: Stage, rooms: SceneRooms, meta: SceneMeta, judge: Judge) -> SceneMeta:
    found = await judge(stage, "judge", meta)
    if found is None:
        return meta
    tension, symbols = found.tension, found.symbols

    async def note() -> Json:
        changes: dict[str, Any] = {"symbols": symbols or meta.symbols}
        if tension is not None:
            changes["tension"] = tension
        await rooms.manuscript.set_meta(meta.scene_id, **changes)
        return None

    await stage.step("judged", note, effect=Effect.IDEMPOTENT)
    return rooms.manuscript.scene(meta.scene_id)


async def _grow(rooms: SceneRooms, meta: SceneMeta, text: str) -> Json:
    scaffold = rooms.desk.scaffold(meta.scene_id)
    previous = rooms.manuscript.previous(meta.scene_id)
    new = addition_of(
        rooms.graph,
        meta,
        scaffold,
        ties_of(text, scaffold),
        previous.scene_id if previous else None,
    )
    return await store_addition(rooms.ground, rooms.graph, meta, new)


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
