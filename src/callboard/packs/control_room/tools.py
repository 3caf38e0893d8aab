"""The tools `pack.yaml` names, apart from the rest: they are imported when one is first used."""

from callboard.library.story.tools.canon.tool import canon_checker
from callboard.library.story.tools.consistency.tool import consistency_checker
from callboard.library.story.tools.draft.tool import scene_draft_validator
from callboard.library.story.tools.file_locator import file_locator
from callboard.library.story.tools.outline.tool import outline_analyzer
from callboard.library.story.tools.proof import proofreader
from callboard.library.story.tools.prose.tool import prose_analyzer
from callboard.library.story.tools.reader.tool import reader_experience_simulator
from callboard.library.story.tools.stakes.tool import stakes_mapper
from callboard.packs.control_room.requests import task_router

__all__ = [
    "canon_checker",
    "consistency_checker",
    "file_locator",
    "outline_analyzer",
    "proofreader",
    "prose_analyzer",
    "reader_experience_simulator",
    "scene_draft_validator",
    "stakes_mapper",
    "task_router",
]
