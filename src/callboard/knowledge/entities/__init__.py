"""Entities: what a conversation is about, with a lifecycle that code alone decides."""

from callboard.knowledge.entities.matching import by_label, by_ordinal, of_class
from callboard.knowledge.entities.registry import (
    Aged,
    EntityEvent,
    EntityRegistry,
    IllegalTransition,
    Lifetimes,
    UnknownEntity,
)
from callboard.knowledge.entities.rows import (
    StoredContent,
    archive_content,
    find_content,
    link_content,
    list_events,
    load_content,
    load_registry,
    save_content,
    save_registry,
)

__all__ = [
    "Aged",
    "EntityEvent",
    "EntityRegistry",
    "IllegalTransition",
    "Lifetimes",
    "StoredContent",
    "UnknownEntity",
    "archive_content",
    "by_label",
    "by_ordinal",
    "find_content",
    "link_content",
    "list_events",
    "load_content",
    "load_registry",
    "of_class",
    "save_content",
    "save_registry",
]
