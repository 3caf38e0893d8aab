"""The story index: which files there are, what they are, in which order, and who is in them."""

from callboard.library.story.index.entities import Entities, Entity, EntityHit, Mention
from callboard.library.story.index.index import StoryIndex, story_index
from callboard.library.story.index.outline import Outline, OutlineEntry

__all__ = [
    "Entities",
    "Entity",
    "EntityHit",
    "Mention",
    "Outline",
    "OutlineEntry",
    "StoryIndex",
    "story_index",
]
