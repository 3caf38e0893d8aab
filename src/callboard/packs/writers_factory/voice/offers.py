"""What the pack offers to be run about the voice."""

from typing import Final

from callboard.packs.writers_factory.voice.bundle.making import BundleRun
from callboard.packs.writers_factory.voice.tournament.contest import TournamentRun

tournament: Final = TournamentRun()
bundle: Final = BundleRun()
