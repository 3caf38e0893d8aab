"""Scenes: from the outline to scaffolds, variants, hybrids and the accepted scene."""

from callboard.packs.writers_factory.scenes.hybrids import read_hybrid
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.scenes.variants import SceneVariant, read_order

__all__ = ["SceneVariant", "Scenes", "SmartScaffold", "read_hybrid", "read_order"]
