"""The shelf: the scene files as they lie in the project. Reads them; never writes.

A file is read again when it may have changed, and taken apart again when its hash has.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from callboard.core.clock import Clock
from callboard.packs.writers_factory.manuscript.sheet import SceneSheet, read_sheet
from callboard.tools import FileMissing, ProjectFiles, Unreadable

MANUSCRIPT: Final = "content/Manuscript"
_CHAPTER: Final = re.compile(r"Chapter_(\d{2,4})")
_SCENE: Final = re.compile(r"Scene_(\d{2,4})\.md")
# A file changed this recently may change again without its time of change showing it.
_SETTLED_MS: Final = 100

_Stat = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A scene file as it was read."""

    chapter: int
    scene: int
    path: str
    text: str
    sha256: str
    sheet: SceneSheet


class SceneShelf:
    """The scene files of a project."""

    def __init__(self, files: ProjectFiles, clock: Clock) -> None:
        """Take the writer's files and the time."""
        self._clock = clock
        self._files = files
        self._read: dict[str, tuple[_Stat, SceneFile]] = {}

    def files(self) -> tuple[SceneFile, ...]:
        """Return every scene file, in story order."""
        found = (self.read(chapter, scene) for chapter, scene in sorted(set(self._places())))
        return tuple(file for file in found if file is not None)

    def read(self, chapter: int, scene: int) -> SceneFile | None:
        """Return the file of a scene, if there is one."""
        path = scene_path(chapter, scene)
        try:
            status = (self._files.root / path).stat()
        except OSError:
            return None
        seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        cached = self._read.get(path)
        is_settled = self._clock.now_ms() - status.st_mtime_ns // 1_000_000 > _SETTLED_MS
        if cached is not None and cached[0] == seen and is_settled:
            return cached[1]
        try:
            held = self._files.read_text(path)
        except FileMissing:
            return None
        except Unreadable as error:
            sheet = SceneSheet("", 0, problems=(error.message,))
            return SceneFile(chapter, scene, path, "", "", sheet)
        file = SceneFile(chapter, scene, path, held.text, held.sha256, read_sheet(path, held.text))
        self._read[path] = (seen, file)
        return file

    def sheet_at(self, path: str) -> SceneSheet:
        """Take any scene file apart, an archived one too."""
        return read_sheet(path, self._files.read_text(path).text)

    def forget(self) -> None:
        """Read everything anew: something was written."""
        self._read.clear()

    def _places(self) -> Iterator[tuple[int, int]]:
        folder = self._files.root / MANUSCRIPT
        if not folder.is_dir():
            return
        for each in folder.iterdir():
            chapter = _CHAPTER.fullmatch(each.name)
            if chapter is None or not each.is_dir():
                continue
            for file in each.iterdir():
                scene = _SCENE.fullmatch(file.name)
                if scene is not None:
                    yield int(chapter[1]), int(scene[1])


def scene_path(chapter: int, scene: int) -> str:
    """Return where the file of a scene lies."""
    return f"{MANUSCRIPT}/Chapter_{chapter:02d}/Scene_{scene:02d}.md"
