"""Scenes: from the outline to scaffolds, variants, hybrids and the accepted scene."""

from callboard.packs.writers_factory.scenes.acceptance import (
    Accepted,
    Judge,
    Judged,
    accept_scene,
)
from callboard.packs.writers_factory.scenes.briefing import Request, brief_scene
from callboard.packs.writers_factory.scenes.hybrids import HybridOrder, make_hybrid, read_hybrid
from callboard.packs.writers_factory.scenes.planning import propose_outline, read_proposal
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold, Thread
from callboard.packs.writers_factory.scenes.scenes import Scenes
from callboard.packs.writers_factory.scenes.variants import (
    DEFAULT_STRATEGIES,
    Flag,
    SceneOrder,
    SceneVariant,
    read_order,
    write_variants,
)

__all__ = [
    "DEFAULT_STRATEGIES",
    "Accepted",
    "Flag",
    "HybridOrder",
    "Judge",
    "Judged",
    "Request",
    "SceneOrder",
    "SceneVariant",
    "Scenes",
    "SmartScaffold",
    "Thread",
    "accept_scene",
    "brief_scene",
    "make_hybrid",
    "propose_outline",
    "read_hybrid",
    "read_order",
    "read_proposal",
    "write_variants",
]
