"""The eight story tools, all of them, ready to be registered."""

from callboard.library.story.tools.canon.tool import canon_checker
from callboard.library.story.tools.consistency.tool import consistency_checker
from callboard.library.story.tools.draft.tool import scene_draft_validator
from callboard.library.story.tools.file_locator import file_locator
from callboard.library.story.tools.outline.tool import outline_analyzer
from callboard.library.story.tools.prose.tool import prose_analyzer
from callboard.library.story.tools.reader.tool import reader_experience_simulator
from callboard.library.story.tools.stakes.tool import stakes_mapper
from callboard.tools import Tool


def story_tools() -> tuple[Tool, ...]:
    """Return the tools in the order in which a staff would use them."""
    return (
        file_locator,
        outline_analyzer,
        canon_checker,
        consistency_checker,
        prose_analyzer,
        stakes_mapper,
        reader_experience_simulator,
        scene_draft_validator,
    )
