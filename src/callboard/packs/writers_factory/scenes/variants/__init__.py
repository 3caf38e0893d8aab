"""Variants: several drafts of one scene, written at once, checked, and kept."""

from callboard.packs.writers_factory.scenes.variant import Flag, SceneVariant
from callboard.packs.writers_factory.scenes.variants.likeness import shared_runs
from callboard.packs.writers_factory.scenes.variants.run import (
    DEFAULT_STRATEGIES,
    SceneOrder,
    read_order,
    write_variants,
)

__all__ = [
    "DEFAULT_STRATEGIES",
    "Flag",
    "SceneOrder",
    "SceneVariant",
    "read_order",
    "shared_runs",
    "write_variants",
]
