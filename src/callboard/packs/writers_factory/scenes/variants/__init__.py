"""Variants: several drafts of one scene, written at once, checked, and kept."""

from callboard.packs.writers_factory.scenes.variant import (
    HYBRID,
    Flag,
    SceneVariant,
    paragraphs_of,
)
from callboard.packs.writers_factory.scenes.variants.inspection import (
    Standard,
    inspect,
    mentions,
    missing_callbacks,
)
from callboard.packs.writers_factory.scenes.variants.likeness import shared_runs, too_alike
from callboard.packs.writers_factory.scenes.variants.run import (
    DEFAULT_STRATEGIES,
    SceneOrder,
    read_order,
    write_variants,
)

__all__ = [
    "DEFAULT_STRATEGIES",
    "HYBRID",
    "Flag",
    "SceneOrder",
    "SceneVariant",
    "Standard",
    "inspect",
    "mentions",
    "missing_callbacks",
    "paragraphs_of",
    "read_order",
    "shared_runs",
    "too_alike",
    "write_variants",
]
