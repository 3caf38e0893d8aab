"""The manuscript: the approved outline, the scene files, their versions and their progress."""

from callboard.packs.writers_factory.manuscript.archive import SceneVersion
from callboard.packs.writers_factory.manuscript.facts import (
    WRITTEN,
    BookScene,
    NothingToUndo,
    OutlineInvalid,
    SceneUnknown,
    StatusRefused,
    VersionUnknown,
    advance,
    meta_from_json,
    meta_to_json,
    parse_scene_id,
)
from callboard.packs.writers_factory.manuscript.manuscript import Manuscript
from callboard.packs.writers_factory.manuscript.outline import (
    OutlineVersion,
    outline_faults,
    outline_from_json,
    outline_to_json,
    uncovered_beats,
)
from callboard.packs.writers_factory.manuscript.proof import TextUnproven, require_proven
from callboard.packs.writers_factory.manuscript.sheet import (
    body_as_kept,
    count_prose,
    read_sheet,
    write_sheet,
)

__all__ = [
    "WRITTEN",
    "BookScene",
    "Manuscript",
    "NothingToUndo",
    "OutlineInvalid",
    "OutlineVersion",
    "SceneUnknown",
    "SceneVersion",
    "StatusRefused",
    "TextUnproven",
    "VersionUnknown",
    "advance",
    "body_as_kept",
    "count_prose",
    "meta_from_json",
    "meta_to_json",
    "outline_faults",
    "outline_from_json",
    "outline_to_json",
    "parse_scene_id",
    "read_sheet",
    "require_proven",
    "uncovered_beats",
    "write_sheet",
]
