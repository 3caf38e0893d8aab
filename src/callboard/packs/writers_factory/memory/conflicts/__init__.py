"""Conflicts: what contradicts what, how it is found and how it is kept."""

from callboard.packs.writers_factory.memory.conflicts.detection import (
    ClashKind,
    GraphClash,
    GraphDraft,
    excludes,
    find_clash,
    rule_clash,
)
from callboard.packs.writers_factory.memory.conflicts.ledger import (
    ConflictLedger,
    ConflictRecord,
    Resolution,
    make_conflict,
)
from callboard.packs.writers_factory.memory.conflicts.rules import (
    ConflictRules,
    read_rules,
    words_of,
)

__all__ = [
    "ClashKind",
    "ConflictLedger",
    "ConflictRecord",
    "ConflictRules",
    "GraphClash",
    "GraphDraft",
    "Resolution",
    "excludes",
    "find_clash",
    "make_conflict",
    "read_rules",
    "rule_clash",
    "words_of",
]
