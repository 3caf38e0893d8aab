"""The manuscript: the approved outline, the scene files, their versions and their progress."""

from callboard.packs.writers_factory.manuscript.archive import ARCHIVE, Archive, Version
from callboard.packs.writers_factory.manuscript.errors import (
    NothingToUndo,
    OutlineInvalid,
    SceneUnknown,
    StatusRefused,
    VersionUnknown,
)
from callboard.packs.writers_factory.manuscript.facts import (
    meta_from_json,
    meta_to_json,
    parse_scene_id,
)
from callboard.packs.writers_factory.manuscript.manuscript import Manuscript
from callboard.packs.writers_factory.manuscript.outline import (
    in_story_order,
    outline_faults,
    outline_from_json,
    outline_to_json,
    planned_from_json,
    uncovered_beats,
)
from callboard.packs.writers_factory.manuscript.outlines import OutlineVersion
from callboard.packs.writers_factory.manuscript.progress import WRITTEN, advance
from callboard.packs.writers_factory.manuscript.sheet import (
    SceneSheet,
    body_as_kept,
    count_prose,
    read_sheet,
    write_sheet,
)
from callboard.packs.writers_factory.manuscript.shelf import MANUSCRIPT, scene_path

__all__ = [
    "ARCHIVE",
    "MANUSCRIPT",
    "WRITTEN",
    "Archive",
    "Manuscript",
    "NothingToUndo",
    "OutlineInvalid",
    "OutlineVersion",
    "SceneSheet",
    "SceneUnknown",
    "StatusRefused",
    "Version",
    "VersionUnknown",
    "advance",
    "body_as_kept",
    "count_prose",
    "in_story_order",
    "meta_from_json",
    "meta_to_json",
    "outline_faults",
    "outline_from_json",
    "outline_to_json",
    "parse_scene_id",
    "planned_from_json",
    "read_sheet",
    "scene_path",
    "uncovered_beats",
    "write_sheet",
]
