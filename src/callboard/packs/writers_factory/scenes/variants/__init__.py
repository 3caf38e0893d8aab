"""Variants: several drafts of one scene, written at once, checked, and kept."""

from callboard.packs.writers_factory.scenes.drafts import SceneVariant
from callboard.packs.writers_factory.scenes.variants.run import (
    read_order,
    shared_runs,
    write_variants,
)

__all__ = ["SceneVariant", "read_order", "shared_runs", "write_variants"]
