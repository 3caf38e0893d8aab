"""Voice: strategies, tournaments, the voice bundle and its lock."""

from callboard.packs.writers_factory.voice.bundle.evolution import ACTS, Phase
from callboard.packs.writers_factory.voice.bundle.making import NoWinner, VoiceLocked
from callboard.packs.writers_factory.voice.bundle.reading import DEFAULT_PATH, VoiceBundle
from callboard.packs.writers_factory.voice.strategies import (
    STRATEGIES,
    canonical_strategy,
    strategy_block,
)
from callboard.packs.writers_factory.voice.tournament.contest import PROGRESS, NotEnoughVariants
from callboard.packs.writers_factory.voice.tournament.contestants import Contestant, default_writer
from callboard.packs.writers_factory.voice.tournament.tournaments import (
    Pick,
    Tournament,
    TournamentState,
    tournament_id_of,
)
from callboard.packs.writers_factory.voice.tournament.variants import (
    DIMENSIONS,
    DimensionScore,
    Variant,
    VariantState,
)
from callboard.packs.writers_factory.voice.voice import LockRefused, Voice, VoiceStatus

__all__ = [
    "ACTS",
    "DEFAULT_PATH",
    "DIMENSIONS",
    "PROGRESS",
    "STRATEGIES",
    "Contestant",
    "DimensionScore",
    "LockRefused",
    "NoWinner",
    "NotEnoughVariants",
    "Phase",
    "Pick",
    "Tournament",
    "TournamentState",
    "Variant",
    "VariantState",
    "Voice",
    "VoiceBundle",
    "VoiceLocked",
    "VoiceStatus",
    "canonical_strategy",
    "default_writer",
    "strategy_block",
    "tournament_id_of",
]
