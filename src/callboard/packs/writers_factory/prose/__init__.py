"""Prose: the anti-pattern scanner, stylometry and tracked changes. Offline, without a model."""

from callboard.packs.writers_factory.prose.changes import (
    ChangesStale,
    TextChange,
    apply_changes,
    track_changes,
)
from callboard.packs.writers_factory.prose.expressions import UnsafeExpression, compile_safely
from callboard.packs.writers_factory.prose.patterns import (
    Pattern,
    PatternHit,
    PatternSeverity,
    PatternSheet,
    base_sheet,
    read_sheet,
    scan,
    write_table,
)
from callboard.packs.writers_factory.prose.stylometry import Stylometrics, distance, measure

__all__ = [
    "ChangesStale",
    "Pattern",
    "PatternHit",
    "PatternSeverity",
    "PatternSheet",
    "Stylometrics",
    "TextChange",
    "UnsafeExpression",
    "apply_changes",
    "base_sheet",
    "compile_safely",
    "distance",
    "measure",
    "read_sheet",
    "scan",
    "track_changes",
    "write_table",
]
