"""The story index: which files there are, what they are, in which order, and who is in them."""

from callboard.library.story.index.entities import Entities, EntityHit, Mention, StoryEntity
from callboard.library.story.index.index import StoryIndex, story_index
from callboard.library.story.index.outline import Outline, OutlineEntry

__all__ = [
    "Entities",
    "EntityHit",
    "Mention",
    "Outline",
    "OutlineEntry",
    "StoryEntity",
    "StoryIndex",
    "story_index",
]
