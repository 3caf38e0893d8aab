"""Scenes: what the writer decides between an outline and an accepted scene."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.manuscript import SceneVersion, parse_scene_id
from callboard.packs.writers_factory.manuscript.writing import SCENE_KIND
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus
from callboard.packs.writers_factory.scenes.drafts import (
    NoOutlineProposed,
    ScaffoldInvalid,
    ScaffoldNotApproved,
    SceneNotPlanned,
    VariantUnknown,
)
from callboard.packs.writers_factory.scenes.planning import read_proposal
from callboard.packs.writers_factory.scenes.rooms import SceneRooms, SceneWish
from callboard.packs.writers_factory.scenes.scaffolds import (
    SceneThread,
    SmartScaffold,
    scaffold_faults,
)
from callboard.packs.writers_factory.scenes.variants import SceneVariant
from callboard.packs.writers_factory.workspace import Workspace

_TEXTS: Final = frozenset(
    {"title", "pov_character", "location", "time_of_day", "weather", "protagonist_constraint"}
    | {"scene_goal", "conflict", "outcome", "emotional_note", "beat_alignment", "summary"}
)
_LISTS: Final = frozenset({"characters_present", "world_rules"})
_NUMBERS: Final = frozenset({"word_target", "beat_number"})
_THREADS: Final = frozenset({"callbacks", "foreshadowing"})


class Scenes:
    """The scenes of a project on their way into the book."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the project; nothing is read yet."""
        self._rooms = SceneRooms(workspace)
        self._workspace = workspace

    def outline_proposal(self) -> tuple[tuple[PlannedScene, ...], tuple[str, ...]] | None:
        """Return the outline that waits for the writer, with what was put right in it."""
        return read_proposal(self._workspace)

    async def approve_outline(
        self, scenes: Iterable[PlannedScene] | None = None
    ) -> tuple[PlannedScene, ...]:
        """Take an outline: the proposed one, or the writer's own in its place."""
        reason = "the writer's own"
        if scenes is None:
            waiting = self.outline_proposal()
            if waiting is None:
                raise NoOutlineProposed(
                    "No outline was proposed", fix="Run plan_scenes, or send an outline."
                )
            scenes, reason = waiting[0], "proposed and approved"
        return await self._rooms.manuscript.set_outline(scenes, reason=reason)

    def scaffold(self, scaffold_id: str) -> SmartScaffold | None:
        """Return the scaffold of a scene, if there is one."""
        return self._rooms.desk.scaffold(scaffold_id)

    def active_scaffold(self) -> SmartScaffold | None:
        """Return the scaffold of the scene that is being written."""
        return self._rooms.desk.active()

    def scaffold_versions(self, scaffold_id: str) -> tuple[SmartScaffold, ...]:
        """Return every scaffold a scene had, oldest first; the last is the one it has."""
        return self._rooms.desk.scaffold_versions(scaffold_id)

    async def approve_scaffold(
        self,
        scaffold_id: str,
        changes: Mapping[str, Json] | None = None,
        *,
        version: int | None = None,
    ) -> SmartScaffold:
        """Approve a scaffold, with the writer's changes; it becomes the active one.

        A version that was replaced can be approved again.
        """
        known = self._rooms.desk.require_scaffold(scaffold_id, version)
        wanted = replace(known, **_read_changes(changes or {}))
        chapter, scene = cast("tuple[int, int]", parse_scene_id(scaffold_id))
        view = self._rooms.view(SceneWish(chapter, scene, wanted.title))
        faults = [f"{name}: {fault}" for name, fault in scaffold_faults(wanted, view)]
        if faults:
            raise ScaffoldInvalid(
                f"The scaffold {scaffold_id} cannot be approved: {'; '.join(faults)}",
                fix="Change what is named and approve again.",
                faults=list(faults),
            )
        approved = await self._rooms.desk.put_scaffold(replace(wanted, is_approved=True))
        book = self._rooms.manuscript
        await book.open_scene(scaffold_id, approved.title, approved.beat_number)
        if book.scene(scaffold_id).status is SceneStatus.PLANNED:
            await book.set_meta(scaffold_id, status=SceneStatus.SCAFFOLDED)
        await self._rooms.desk.activate(scaffold_id)
        return approved

    def require_planned(self, scene_id: str, title: str = "") -> None:
        """Refuse to brief a scene the outline does not have, if there is an outline.

        One that has a text is the book's all the same, and one with a title may follow a scene
        that is there: what it adds can be dropped again.
        """
        book = self._rooms.manuscript
        outline = book.outline()
        if not outline or book.planned(scene_id) or (book.has(scene_id) and book.text(scene_id)):
            return
        place = parse_scene_id(scene_id)
        if title and place is not None and self._follows(*place):
            return
        raise SceneNotPlanned(
            f"The outline has no scene {scene_id}; it ends with {outline[-1].id}",
            fix="Add it to the outline (`callboard factory outline --from FILE`), or name a title"
            " and the next number of a chapter.",
            scene_id=scene_id,
        )

    def _follows(self, chapter: int, scene: int) -> bool:
        known = [(each.chapter, each.scene) for each in self._rooms.manuscript.scenes()]
        if scene > 1:
            return (chapter, scene - 1) in known
        return chapter <= 1 + max((each for each, _ in known), default=0)

    async def drop(self, scene_id: str) -> SceneMeta:
        """Remove a scene that is neither planned nor written, with its scaffold."""
        book = self._rooms.manuscript
        known = book.scene(scene_id)
        if book.planned(scene_id) is not None or book.text(scene_id).strip():
            why = "has a text" if book.text(scene_id).strip() else "is in the outline"
            raise Conflict(
                f"{scene_id} {why} and is not dropped",
                fix="Take it out of the outline, or undo its text, first.",
                scene_id=scene_id,
            )
        await self._rooms.desk.drop(scene_id)
        await self._workspace.records.delete(SCENE_KIND, scene_id)
        return known

    def variants(self, scene_id: str) -> tuple[SceneVariant, ...]:
        """Return every variant of a scene, oldest first."""
        return self._rooms.desk.variants(scene_id)

    def variant(self, scene_id: str, name: str) -> SceneVariant:
        """Return a variant by its id, or the newest of a strategy."""
        return self._rooms.desk.variant(scene_id, name)

    def require_scaffold(
        self, scaffold_id: str, *, version: int | None = None, approved: bool = False
    ) -> SmartScaffold:
        """Return a scaffold that must be there, if wanted an approved one."""
        found = self._rooms.desk.require_scaffold(scaffold_id, version)
        if approved and not found.is_approved:
            raise ScaffoldNotApproved(
                f"The scaffold {scaffold_id} waits for the writer's approval",
                fix="Approve it, changed or not, and write then.",
                scaffold_id=scaffold_id,
            )
        return found

    async def require_proven(self, scene_id: str, variant_id: str = "") -> None:
        """Refuse a draft, or a scene's text, that could only be accepted by force."""
        book = self._rooms.manuscript
        text = self.variant(scene_id, variant_id).text if variant_id else book.text(scene_id)
        drafted = replace(book.scene(scene_id), status=SceneStatus.DRAFTED)
        await book.prove(scene_id, text, drafted)

    async def select(self, scene_id: str, variant_id: str) -> SceneVersion:
        """Take a variant, by id or strategy, as the scene's text; it is not accepted by that."""
        variant = self._rooms.desk.variant(scene_id, variant_id)
        if not variant.is_usable:
            raise VariantUnknown(
                f"{variant.id} has no text: {variant.error}", fix="Select another one."
            )
        book = self._rooms.manuscript
        scaffold = self._rooms.desk.scaffold(scene_id)
        meta = self._rooms.meta_of(scaffold) if scaffold is not None else book.scene(scene_id)
        selected = replace(meta, status=SceneStatus.SELECTED)
        return await book.save(scene_id, variant.text, selected, reason=f"{variant.id} selected")


def _read_changes(changes: Mapping[str, Json]) -> dict[str, Any]:
    """Read what the writer changed in a scaffold; ids and versions are nobody's to change."""
    known = _TEXTS | _LISTS | _NUMBERS | _THREADS
    unknown = sorted(set(changes) - known)
    if unknown:
        raise ScaffoldInvalid(
            f"A scaffold has no {', '.join(unknown)} to change",
            fix=f"It has: {', '.join(sorted(known))}.",
        )
    return {name: _read_change(name, value) for name, value in changes.items()}


def _read_change(name: str, value: Json) -> Any:
    try:
        if name in _NUMBERS:
            return int(value)
        if name in _LISTS:
            return tuple(str(each).strip() for each in value if str(each).strip())
        if name in _THREADS:
            return tuple(SceneThread.from_json(each) for each in value)
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ScaffoldInvalid(
            f"{name} cannot be {value!r}", fix="Look at the scaffold for its shape."
        ) from None
    return str(value).strip()
