"""Manuscript: the outline and the scenes of a book, read from the writer's own files.

A scene is its file; before there is one, what is known of it is on record. Nothing is written over
without the text before it being in the archive first.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from callboard.core.canonical import Json, digest_bytes
from callboard.packs.writers_factory.manuscript.archive import Archive, SceneVersion
from callboard.packs.writers_factory.manuscript.facts import (
    WRITTEN,
    BookScene,
    ChapterTitles,
    NothingToUndo,
    SceneUnknown,
    advance,
    meta_from_json,
    meta_to_json,
    parse_scene_id,
)
from callboard.packs.writers_factory.manuscript.outline import Outlines, OutlineVersion
from callboard.packs.writers_factory.manuscript.sheet import SceneFile, SceneShelf, scene_path
from callboard.packs.writers_factory.manuscript.writing import SCENE_KIND, SceneWriter
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta, SceneStatus, scene_id
from callboard.packs.writers_factory.workspace import Workspace


class Manuscript:
    """The book of one project: planned, and as far as it is written."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the project."""
        self._workspace = workspace

    @cached_property
    def archive(self) -> Archive:
        """What every scene was before."""
        return Archive(self._workspace)

    @cached_property
    def chapters(self) -> ChapterTitles:
        """What the chapters are called."""
        return ChapterTitles(self._workspace.files, self._shelf)

    @cached_property
    def _outlines(self) -> Outlines:
        return Outlines(self._workspace)

    @cached_property
    def _shelf(self) -> SceneShelf:
        return SceneShelf(self._workspace.files, self._workspace.studio.clock)

    @cached_property
    def _writer(self) -> SceneWriter:
        return SceneWriter(self._workspace, self._shelf, self.archive)

    # The outline

    def outline(self) -> tuple[PlannedScene, ...]:
        """Return the scenes the writer approved, in story order; none before that."""
        found = self._outlines.in_force()
        return () if found is None else found.scenes

    async def set_outline(
        self, scenes: Iterable[PlannedScene], *, reason: str = "approved by the writer"
    ) -> tuple[PlannedScene, ...]:
        """Take an outline the writer approved; the one it replaces is kept."""
        return await self._outlines.approve(scenes, reason)

    def outline_versions(self) -> tuple[OutlineVersion, ...]:
        """Return every outline there was, oldest first; the last is the one in force."""
        return self._outlines.versions()

    def outline_version(self, number: int) -> OutlineVersion:
        """Return one of them."""
        return self._outlines.find(number)

    async def restore_outline(self, number: int) -> tuple[PlannedScene, ...]:
        """Bring an outline back that was replaced; the one it replaces now is kept as well."""
        scenes = self._outlines.find(number).scenes
        return await self.set_outline(scenes, reason=f"outline {number} restored")

    def planned(self, scene: str) -> PlannedScene | None:
        """Return what the outline says of a scene."""
        return next((each for each in self.outline() if each.id == scene), None)

    def planned_words(self) -> int:
        """Return how long the book is to be: the outline's targets, else the setting."""
        return self._outlines.planned_words()

    def usual_scene_words(self) -> int:
        """Return how long a scene without a target of its own is to be."""
        return self._outlines.usual_scene_words()

    def word_target(self, scene: str) -> int:
        """Return how long a scene is to be."""
        planned = self.planned(scene)
        return (planned.word_target if planned else None) or self.usual_scene_words()

    def position(self, scene: str) -> float:
        """Return where in the planned book a scene begins, from 0 to 100 percent.

        Accepted scenes before it count as long as they are, others as long as they are to be.
        """
        targets = {each.id: each.word_target for each in self.outline()}
        usual = self.usual_scene_words()
        before = 0
        for meta in self.scenes():
            if meta.scene_id == scene:
                break
            is_written = meta.status in WRITTEN
            before += meta.word_count if is_written else (targets.get(meta.scene_id) or usual)
        return min(100.0, 100 * before / max(1, self.planned_words()))

    # The scenes

    def scenes(self) -> tuple[SceneMeta, ...]:
        """Return every scene in story order, planned ones too."""
        return tuple(meta for meta, _ in self._all())

    def scene(self, scene: str) -> SceneMeta:
        """Return what is known of one scene."""
        for meta in self.scenes():
            if meta.scene_id == scene:
                return meta
        raise self._unknown(scene)

    def has(self, scene: str) -> bool:
        """Say whether a scene is planned or written."""
        return any(meta.scene_id == scene for meta in self.scenes())

    def text(self, scene: str) -> str:
        """Return a scene's text without its front matter; empty while it is not written."""
        chapter, number = self._place(scene)
        file = self._shelf.read(chapter, number)
        if file is None and not self.has(scene):
            raise self._unknown(scene)
        return "" if file is None else file.sheet.body

    def texts(self) -> tuple[BookScene, ...]:
        """Return every scene with its text, in story order."""
        return tuple(
            BookScene(meta, "" if file is None else file.sheet.body) for meta, file in self._all()
        )

    def path(self, scene: str) -> str:
        """Return where a scene's file lies or will lie."""
        return scene_path(*self._place(scene))

    def problems(self) -> tuple[str, ...]:
        """Return what could not be understood in the scene files, in words."""
        return tuple(text for file in self._shelf.files() for text in file.sheet.problems)

    def content_hash(self, scene: str) -> str:
        """Return the hash of a scene's text alone, which its front matter does not change."""
        return digest_bytes(self.text(scene).encode())

    def drafted_words(self) -> int:
        """Return the words of all scenes the writer accepted."""
        return sum(meta.word_count for meta in self.scenes() if meta.status in WRITTEN)

    def previous(self, scene: str) -> SceneMeta | None:
        """Return the scene before one, if there is any."""
        at = self._place(scene)
        before = [meta for meta in self.scenes() if (meta.chapter, meta.scene) < at]
        return before[-1] if before else None

    def next_to_write(self, after: str | None = None) -> PlannedScene | None:
        """Return the first planned scene nobody accepted yet, from a scene on if one is named."""
        open_ids = {meta.scene_id for meta in self.scenes() if meta.status not in WRITTEN}
        waiting = [scene for scene in self.outline() if scene.id in open_ids]
        at = self._place(after) if after else (0, 0)
        later = [scene for scene in waiting if (scene.chapter, scene.scene) > at]
        return next(iter(later or waiting), None)

    async def save(
        self, scene: str, text: str, meta: SceneMeta, *, reason: str, force: bool = False
    ) -> SceneVersion:
        """Write a scene's text and facts; what the file held is archived first.

        Saving what is already there changes nothing and makes no version. What is to be an
        accepted text must hold against cards and scenes, unless the writer forces it; what comes
        back from the archive or in from outside is the writer's own word and is not asked.
        """
        known = next((each for each in self.scenes() if each.scene_id == scene), None)
        current = known.status if known else SceneStatus.PLANNED
        meta = replace(meta, status=advance(current, meta.status, scene))
        against = await self.prove(scene, text, meta, force=force)
        return await self._writer.write(self._place(scene), text, meta, reason, against=against)

    async def prove(
        self, scene: str, text: str, meta: SceneMeta, *, force: bool = False
    ) -> tuple[str, ...]:
        """Return what is held against a text that is to be accepted, or refuse it."""
        if meta.status not in WRITTEN:
            return ()
        is_accepted = self.has_file(scene) and self.scene(scene).status in WRITTEN
        return await self._writer.prove(
            self._place(scene), text, meta, over_accepted=is_accepted, force=force
        )

    async def take_in(
        self, scene: str, text: str, meta: SceneMeta, extra: Mapping[str, Json], *, reason: str
    ) -> SceneVersion:
        """Write a scene that was written elsewhere, whatever stood there before."""
        return await self._writer.write(self._place(scene), text, meta, reason, extra)

    def has_file(self, scene: str) -> bool:
        """Say whether a scene has a file."""
        return self._shelf.read(*self._place(scene)) is not None

    def forget(self) -> None:
        """Read the files anew: something was moved."""
        self._shelf.forget()

    async def open_scene(self, scene: str, title: str = "", beat_number: int | None = None) -> None:
        """Take note of a scene the outline does not have; one that is known is left alone."""
        chapter, number = self._place(scene)
        if not self.has(scene):
            meta = SceneMeta(scene, chapter, number, title=title, beat_number=beat_number)
            await self._workspace.records.put(SCENE_KIND, scene, meta_to_json(meta))

    async def set_meta(self, scene: str, **changes: Any) -> SceneMeta:
        """Change facts of a scene without touching its text; a status must be reachable."""
        old = self.scene(scene)
        if "status" in changes:
            changes["status"] = advance(old.status, SceneStatus(changes["status"]), scene)
        new = replace(old, **changes)
        await self._writer.set_facts(old, new)
        return self.scene(scene)

    # Versions

    def versions(self, scene: str) -> tuple[SceneVersion, ...]:
        """Return the versions of a scene, oldest first; the last is the scene as it is."""
        return self.archive.versions(scene)

    def version_text(self, scene: str, number: int) -> str:
        """Return the text of a version without its front matter."""
        return self._shelf.sheet_at(self.archive.find(scene, number).path).body

    async def restore(self, scene: str, number: int) -> SceneVersion:
        """Make an archived version the scene again; the one it replaces is archived."""
        sheet = self._shelf.sheet_at(self.archive.find(scene, number).path)
        # A version carries the status it had, on whichever side of today's that lies.
        meta = sheet.over(self.scene(scene))
        reason = f"version {number} restored"
        return await self._writer.write(self._place(scene), sheet.body, meta, reason)

    async def undo(self, scene: str) -> SceneVersion:
        """Take the last change back; done twice, it brings the change back."""
        versions = self.archive.versions(scene)
        last = self.version_text(scene, versions[-1].number) if versions else ""
        is_ours = last == self.text(scene)
        # A change somebody made outside is the last one, though it has no version yet.
        earlier = versions[:-1] if is_ours else versions
        if not earlier:
            raise NothingToUndo(
                f"No change of {scene} can be taken back",
                fix="It has no older version.",
                scene_id=scene,
            )
        return await self.restore(scene, earlier[-1].number)

    # Within

    def _all(self) -> Iterator[tuple[SceneMeta, SceneFile | None]]:
        outline = {scene.id: scene for scene in self.outline()}
        records = self._workspace.records.all(SCENE_KIND)
        files = {scene_id(file.chapter, file.scene): file for file in self._shelf.files()}
        places = {name: parse_scene_id(name) for name in {*outline, *records, *files}}
        known = sorted((place, name) for name, place in places.items() if place is not None)
        for (chapter, number), name in known:
            base = SceneMeta(name, chapter, number)
            if (planned := outline.get(name)) is not None:
                base = replace(base, title=planned.title, beat_number=planned.beat_number)
            if (stored := records.get(name)) is not None:
                base = meta_from_json(stored, base)
            file = files.get(name)
            if file is None and planned is None and base.status in WRITTEN:
                # The writer deleted the file of a scene no longer planned: it is gone.
                continue
            if file is None and base.status in WRITTEN:
                base = replace(base, status=SceneStatus.PLANNED, word_count=0)
            yield (base if file is None else file.sheet.over(base)), file

    def _place(self, scene: str) -> tuple[int, int]:
        place = parse_scene_id(scene)
        if place is None:
            raise self._unknown(scene)
        return place

    def _unknown(self, scene: str) -> SceneUnknown:
        known = ", ".join(meta.scene_id for meta in self.scenes()[:20]) or "none yet"
        return SceneUnknown(f"There is no scene {scene!r}", fix=f"Scenes: {known}.", scene_id=scene)
