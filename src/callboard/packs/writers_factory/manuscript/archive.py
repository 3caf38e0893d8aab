"""The archive: what a scene was before each change, as files the writer can open.

Every version is a file beside the others of its scene; when and why it was made is on record. A
file without a record (a crash came between) is still listed.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.codec import Coded
from callboard.packs.writers_factory.manuscript.facts import VersionUnknown
from callboard.packs.writers_factory.workspace import Workspace

ARCHIVE: Final = "content/Archive"
VERSION_KIND: Final = "scene_version"
_VERSION_FILE: Final = re.compile(r"v(\d{3,})\.md")


@dataclass(frozen=True, slots=True)
class SceneVersion(Coded):
    """One state of a scene; `path` is where it is archived."""

    scene_id: str
    number: int
    path: str
    reason: str
    created_at: int
    sha256: str
    word_count: int = 0
    # What code held against it when the writer had it written all the same.
    against: tuple[str, ...] = ()


class Archive:
    """The versions of all scenes of a project."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the project."""
        self._workspace = workspace

    def folder(self, scene_id: str) -> str:
        """Return where everything archived of a scene lies."""
        return f"{ARCHIVE}/{scene_id}"

    def versions(self, scene_id: str) -> tuple[SceneVersion, ...]:
        """Return every version of a scene, oldest first; the last is the scene as it is."""
        known = {version.number: version for version in self._recorded(scene_id)}
        for number in self._filed(scene_id):
            path = self._path(scene_id, number)
            known.setdefault(
                number, SceneVersion(scene_id, number, path, "found in the archive", 0, "")
            )
        return tuple(known[number] for number in sorted(known))

    def find(self, scene_id: str, number: int) -> SceneVersion:
        """Return one version."""
        versions = self.versions(scene_id)
        for version in versions:
            if version.number == number:
                return version
        numbers = ", ".join(str(version.number) for version in versions) or "none"
        raise VersionUnknown(
            f"{scene_id} has no version {number}", fix=f"Versions: {numbers}.", scene_id=scene_id
        )

    def last_change_ms(self) -> int:
        """Return when the newest version of any scene was made; 0 before there is one."""
        stored = self._workspace.records.all(VERSION_KIND).values()
        return max((int(body.get("created_at") or 0) for body in stored), default=0)

    def keep(self, scene_id: str, number: int, text: str) -> str:
        """Put a text into the archive under a number; return its path."""
        path = self._path(scene_id, number)
        self._workspace.files.write_text(path, text)
        return path

    def put_file(self, scene_id: str, name: str, text: str) -> str:
        """Put something else that belongs to a scene beside its versions; return its path."""
        path = f"{self.folder(scene_id)}/{name}"
        self._workspace.files.write_text(path, text)
        return path

    async def record(self, *versions: SceneVersion) -> None:
        """Put versions on record, all or none."""
        records = self._workspace.records

        def act(connection: Any) -> None:
            for version in versions:
                name = f"{version.scene_id}/{version.number}"
                records.store(connection, VERSION_KIND, name, version.to_json())

        await self._workspace.studio.database.write(act)

    def _recorded(self, scene_id: str) -> list[SceneVersion]:
        stored = self._workspace.records.all(VERSION_KIND)
        return [
            SceneVersion.from_json(body)
            for name, body in stored.items()
            if name.rpartition("/")[0] == scene_id
        ]

    def _filed(self, scene_id: str) -> list[int]:
        folder = self._workspace.files.root / self.folder(scene_id)
        if not folder.is_dir():
            return []
        found = (_VERSION_FILE.fullmatch(each.name) for each in folder.iterdir())
        return [int(hit[1]) for hit in found if hit is not None]

    def _path(self, scene_id: str, number: int) -> str:
        return f"{self.folder(scene_id)}/v{number:03d}.md"
