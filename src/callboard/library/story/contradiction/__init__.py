"""Contradiction: what is claimed of a story, when it holds, and what cannot both be true."""

from callboard.library.story.contradiction.claim import (
    AnyClaim,
    EdgeClaim,
    GraphClaim,
    Names,
    claim_from_json,
    key_form,
)
from callboard.library.story.contradiction.detection import (
    ClashKind,
    GraphClash,
    GraphDraft,
    excludes,
    find_clash,
    rule_clash,
)
from callboard.library.story.contradiction.rules import (
    ConflictRules,
    read_rules,
    words_of,
)
from callboard.library.story.contradiction.scope import (
    ALWAYS,
    STATES,
    ScenePoint,
    SceneRange,
    ScopedValue,
    find_point,
    read_range,
    split_scope,
    states_of,
    value_at,
    with_state,
    with_states,
    without_overlaps,
)

__all__ = [
    "ALWAYS",
    "STATES",
    "AnyClaim",
    "ClashKind",
    "ConflictRules",
    "EdgeClaim",
    "GraphClaim",
    "GraphClash",
    "GraphDraft",
    "Names",
    "ScenePoint",
    "SceneRange",
    "ScopedValue",
    "claim_from_json",
    "excludes",
    "find_clash",
    "find_point",
    "key_form",
    "read_range",
    "read_rules",
    "rule_clash",
    "split_scope",
    "states_of",
    "value_at",
    "with_state",
    "with_states",
    "without_overlaps",
    "words_of",
]
