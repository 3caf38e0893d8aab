"""How a scene enters the book: its text, what a judge found in it, and its place in the graph."""

from dataclasses import dataclass, replace

from callboard.core.canonical import Json
from callboard.operations import operation
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus, SymbolUse
from callboard.packs.writers_factory.scenes.acceptance.graph import (
    addition_of,
    store_addition,
    ties_of,
)
from callboard.packs.writers_factory.scenes.drafts import NoTextToAccept
from callboard.packs.writers_factory.scenes.rooms import SceneRooms
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.scaffolds.derivation import people_named
from callboard.packs.writers_factory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class AcceptedText:
    """The text of a scene as it entered the book, and the version it is."""

    text: str
    version: int
    # What code held against it when it was forced in.
    against: tuple[str, ...] = ()


@operation(undo="undo_scene")
async def accept_text(
    workspace: Workspace, scene_id: str, variant_id: str = "", force: bool = False
) -> AcceptedText:
    """Make a draft, or the text a scene has, part of the book.

    A text that contradicts a card or another scene is refused, unless the writer forces it.
    """
    rooms = SceneRooms(workspace)
    book = rooms.manuscript
    text = rooms.desk.variant(scene_id, variant_id).text if variant_id else book.text(scene_id)
    if not text.strip():
        raise NoTextToAccept(
            f"{scene_id} has no text to accept",
            fix="Select a variant or write the scene first.",
            scene_id=scene_id,
        )
    scaffold = rooms.desk.scaffold(scene_id)
    meta = _meta(rooms, scene_id, text, scaffold)
    version = await book.save(scene_id, text, meta, reason="accepted by the writer", force=force)
    return AcceptedText(book.text(scene_id), version.number, version.against)


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


@operation()
async def note_judgement(
    workspace: Workspace,
    scene_id: str,
    symbols: tuple[SymbolUse, ...],
    tension: float | None = None,
) -> None:
    """Keep with a scene what a judge found in it."""
    found: dict[str, Json] = {"symbols": symbols}
    if tension is not None:
        found["tension"] = tension
    await SceneRooms(workspace).manuscript.set_meta(scene_id, **found)


@operation()
async def grow_graph(workspace: Workspace, scene_id: str, text: str) -> dict[str, Json]:
    """Bring a scene into the graph, in place of what it added before."""
    rooms = SceneRooms(workspace)
    meta, scaffold = rooms.manuscript.scene(scene_id), rooms.desk.scaffold(scene_id)
    previous = rooms.manuscript.previous(scene_id)
    new = addition_of(
        rooms.graph,
        meta,
        scaffold,
        ties_of(text, scaffold),
        previous.scene_id if previous else None,
    )
    return await store_addition(workspace, rooms.graph, meta, new)
