"""Claims: what is said about the story, of which thing, and in which scenes it holds."""

from callboard.packs.writers_factory.memory.claims.claim import (
    AnyClaim,
    Claim,
    EdgeClaim,
    Offer,
    Origin,
    OriginKind,
    claim_from_json,
)
from callboard.packs.writers_factory.memory.claims.names import Names, key_form
from callboard.packs.writers_factory.memory.claims.scope import (
    ALWAYS,
    ScenePoint,
    SceneRange,
    find_point,
    read_range,
    split_scope,
)
from callboard.packs.writers_factory.memory.claims.states import (
    STATES,
    State,
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
    "Claim",
    "EdgeClaim",
    "Names",
    "Offer",
    "Origin",
    "OriginKind",
    "ScenePoint",
    "SceneRange",
    "State",
    "claim_from_json",
    "find_point",
    "key_form",
    "read_range",
    "split_scope",
    "states_of",
    "value_at",
    "with_state",
    "with_states",
    "without_overlaps",
]
