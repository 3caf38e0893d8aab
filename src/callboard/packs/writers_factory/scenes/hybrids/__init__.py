"""Hybrids: one draft from the parts of several, with the origin of every paragraph."""

from callboard.packs.writers_factory.scenes.hybrids.parts import (
    HybridPart,
    assemble,
    read_parts,
    trace,
)
from callboard.packs.writers_factory.scenes.hybrids.run import HybridOrder, make_hybrid, read_hybrid

__all__ = [
    "HybridOrder",
    "HybridPart",
    "assemble",
    "make_hybrid",
    "read_hybrid",
    "read_parts",
    "trace",
]
