"""Voice: strategies, tournaments, the voice bundle and its lock."""

from callboard.packs.writers_factory.voice.bundle.evolution import Phase
from callboard.packs.writers_factory.voice.bundle.making import NoWinner, VoiceLocked
from callboard.packs.writers_factory.voice.bundle.reading import VoiceBundle
from callboard.packs.writers_factory.voice.strategies import (
    STRATEGIES,
    canonical_strategy,
    strategy_block,
)
from callboard.packs.writers_factory.voice.tournament.tournaments import (
    Pick,
    Tournament,
    TournamentState,
    tournament_id_of,
)
from callboard.packs.writers_factory.voice.tournament.variants import (
    DIMENSIONS,
    Variant,
    VariantState,
)
from callboard.packs.writers_factory.voice.voice import LockRefused, Voice, VoiceStatus

__all__ = [
    "DIMENSIONS",
    "STRATEGIES",
    "LockRefused",
    "NoWinner",
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
    "strategy_block",
    "tournament_id_of",
]
