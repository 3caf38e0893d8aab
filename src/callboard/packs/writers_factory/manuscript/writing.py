"""Writing a scene: its file, the versions kept of it, and what is on record of it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.manuscript.archive import Archive, SceneVersion
from callboard.packs.writers_factory.manuscript.facts import meta_to_json
from callboard.packs.writers_factory.manuscript.proof import require_proven
from callboard.packs.writers_factory.manuscript.sheet import (
    SceneFile,
    SceneShelf,
    count_prose,
    scene_path,
    write_sheet,
)
from callboard.packs.writers_factory.model import SceneMeta, scene_id
from callboard.packs.writers_factory.workspace import Workspace

SCENE_KIND: Final = "scene"
_OUTSIDE: Final = "edited outside"


class SceneWriter:
    """Writes the files of scenes. Nothing is written over that is not in the archive."""

    def __init__(self, workspace: Workspace, shelf: SceneShelf, archive: Archive) -> None:
        """Take the project, its scene files, and what every scene was before."""
        self._workspace = workspace
        self._shelf = shelf
        self.archive = archive

    async def write(
        self,
        place: tuple[int, int],
        text: str,
        meta: SceneMeta,
        reason: str,
        extra: Mapping[str, Json] | None = None,
        against: tuple[str, ...] = (),
    ) -> SceneVersion:
        """Write a scene's file, with what it held in the archive first; no change, no version."""
        chapter, number = place
        scene = scene_id(chapter, number)
        before = self._shelf.read(chapter, number)
        words = count_prose(text)
        meta = replace(meta, scene_id=scene, chapter=chapter, scene=number, word_count=words)
        own = {**(before.sheet.extra if before else {}), **(extra or {})}
        content = write_sheet(meta, text, own)
        versions = self.archive.versions(scene)
        if before is not None and before.text == content and versions:
            return await self._on_record(versions[-1], before, reason)
        outside = self._outside(scene, before, versions)
        latest = outside.number if outside else max((each.number for each in versions), default=0)
        # Archived before the file is touched: whatever happens between, no text is lost.
        path = self.archive.keep(scene, latest + 1, content)
        written = self._workspace.files.write_text(
            scene_path(chapter, number), content, expected_sha256=before.sha256 if before else None
        )
        self._shelf.forget()
        new = SceneVersion(
            scene, latest + 1, path, reason, self._now(), written.sha256, words, against
        )
        await self.archive.record(*([outside] if outside else []), new)
        await self._workspace.records.put(SCENE_KIND, scene, meta_to_json(meta))
        return new

    async def prove(
        self,
        place: tuple[int, int],
        text: str,
        meta: SceneMeta,
        *,
        over_accepted: bool,
        force: bool,
    ) -> tuple[str, ...]:
        """Return what is held against a text that is to be accepted, or refuse it."""
        before = self._shelf.read(*place)
        return await require_proven(
            self._workspace.studio,
            scene_path(*place),
            write_sheet(meta, text, before.sheet.extra if before else {}),
            accepted=before.text if before is not None and over_accepted else None,
            force=force,
        )

    async def set_facts(self, old: SceneMeta, new: SceneMeta) -> None:
        """Change the facts of a scene, in the front matter of its file too if it has one."""
        before = self._shelf.read(old.chapter, old.scene)
        if before is not None and new != old:
            if before.sheet.problems:
                # The front matter is about to be put right: what the writer typed is kept.
                kept = self._outside(old.scene_id, before, self.archive.versions(old.scene_id))
                await self.archive.record(*([kept] if kept else []))
            content = write_sheet(new, before.sheet.body, before.sheet.extra)
            self._workspace.files.write_text(
                scene_path(old.chapter, old.scene), content, expected_sha256=before.sha256
            )
            self._shelf.forget()
        await self._workspace.records.put(SCENE_KIND, old.scene_id, meta_to_json(new))

    def _outside(
        self, scene: str, before: SceneFile | None, versions: tuple[SceneVersion, ...]
    ) -> SceneVersion | None:
        """Archive what somebody else made of a file since its last version, if anything."""
        if before is None:
            return None
        last = versions[-1] if versions else None
        is_known = last is not None and self._shelf.sheet_at(last.path).body == before.sheet.body
        if is_known and not before.sheet.problems:
            return None
        number = last.number + 1 if last else 1
        path = self.archive.keep(scene, number, before.text)
        words = before.sheet.word_count
        return SceneVersion(scene, number, path, _OUTSIDE, self._now(), before.sha256, words)

    async def _on_record(self, version: SceneVersion, file: SceneFile, reason: str) -> SceneVersion:
        """Return the version a file is; a crash may have come before it was on record."""
        if version.sha256 or self._shelf.sheet_at(version.path).body != file.sheet.body:
            return version
        words = file.sheet.word_count
        known = replace(
            version, reason=reason, created_at=self._now(), sha256=file.sha256, word_count=words
        )
        await self.archive.record(known)
        return known

    def _now(self) -> int:
        return self._workspace.studio.clock.now_ms()
