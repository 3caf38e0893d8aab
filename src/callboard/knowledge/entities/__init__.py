"""Entities: what a conversation is about, with a lifecycle that code alone decides."""

from callboard.knowledge.entities.content import (
    StoredContent,
    archive_content,
    find_content,
    link_content,
    load_content,
    save_content,
)
from callboard.knowledge.entities.errors import IllegalTransition, UnknownEntity
from callboard.knowledge.entities.matching import by_label, by_ordinal, of_class
from callboard.knowledge.entities.registry import Aged, EntityEvent, Lifetimes, Registry
from callboard.knowledge.entities.rows import list_events, load_registry, save_registry

__all__ = [
    "Aged",
    "EntityEvent",
    "IllegalTransition",
    "Lifetimes",
    "Registry",
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
