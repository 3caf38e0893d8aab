"""The runs of the voice: a tournament, and the bundle made of what won it."""

from typing import Final

from callboard.packs.writers_factory.voice.bundle.making import BundleRun
from callboard.packs.writers_factory.voice.tournament.contest import TournamentRun

tournament: Final = TournamentRun()
bundle: Final = BundleRun()
