"""Scaffolds: the brief of one scene, derived from the story, worded by a model, checked."""

from callboard.packs.writers_factory.scenes.scaffolds.derivation import (
    derive,
    read_enrichment,
    with_threads,
)
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import (
    ESSENTIAL_FIELDS,
    FREE_FIELDS,
    BeatNote,
    Person,
    SceneThread,
    SmartScaffold,
    StoryView,
    TiedThread,
)
from callboard.packs.writers_factory.scenes.scaffolds.validation import (
    breaches,
    mended,
    scaffold_faults,
)

__all__ = [
    "ESSENTIAL_FIELDS",
    "FREE_FIELDS",
    "BeatNote",
    "Person",
    "SceneThread",
    "SmartScaffold",
    "StoryView",
    "TiedThread",
    "breaches",
    "derive",
    "mended",
    "read_enrichment",
    "scaffold_faults",
    "with_threads",
]
