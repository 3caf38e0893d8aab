"""Targets: what an edit or a content update is aimed at, resolved to one file of the writer's.

A scene is named by its id or by its file. Any other target is a Markdown or text file below
`content/` that Callboard does not write itself; nothing outside can be named.
"""

from dataclasses import dataclass
from typing import Final

from callboard.core.errors import InvalidInput, NotFound
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.tools.errors import FileMissing
from callboard.tools.files import TEXT_SUFFIXES

CONTENT: Final = "content"
MANUSCRIPT: Final = "content/Manuscript"
# Kept by Callboard: versions of scenes, reports and exports are made, not edited.
_KEPT: Final = ("content/Archive", "content/Reports", "content/Export")


class TargetRefused(InvalidInput):
    """A target was named that cannot be edited."""

    code = "target_refused"


@dataclass(frozen=True, slots=True)
class Target:
    """A file that can be edited; `scene_id` is set for a scene."""

    path: str
    scene_id: str | None = None

    @property
    def name(self) -> str:
        """How the target is kept on record."""
        return self.scene_id or self.path

    @property
    def is_prose(self) -> bool:
        """Whether it is part of the novel's own text."""
        return self.scene_id is not None or self.path.startswith(f"{MANUSCRIPT}/")


def find_target(ground: Ground, manuscript: Manuscript, name: str) -> Target:
    """Return the target a name stands for, or refuse it."""
    wanted = name.strip()
    for meta in manuscript.scenes():
        if wanted in (meta.scene_id, manuscript.path(meta.scene_id)):
            return Target(manuscript.path(meta.scene_id), meta.scene_id)
    path = ground.files.resolve(wanted)
    below = path.startswith(f"{CONTENT}/") and path.lower().endswith(TEXT_SUFFIXES)
    if not below or any(path == kept or path.startswith(f"{kept}/") for kept in _KEPT):
        raise TargetRefused(
            f"{wanted!r} is no scene and no file that can be edited",
            fix="Name a scene such as ch4-sc2, or a Markdown file below content/.",
            target=wanted[:200],
        )
    return Target(path)


def read_target(ground: Ground, manuscript: Manuscript, target: Target) -> str:
    """Return the text of a target."""
    if target.scene_id is not None:
        return manuscript.text(target.scene_id)
    try:
        return ground.files.read_text(target.path).text
    except FileMissing as error:
        raise NotFound(
            f"There is no {target.path} yet", fix="Write it first.", target=target.path
        ) from error
