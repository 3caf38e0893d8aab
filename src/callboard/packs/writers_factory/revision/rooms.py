"""The rooms revision reads from, opened on a project."""

from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.health import Health
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.memory.conflicts import ConflictLedger
from callboard.packs.writers_factory.memory.recall import Memory
from callboard.packs.writers_factory.revision.gathering import Rooms
from callboard.packs.writers_factory.voice import Voice


def open_rooms(ground: Ground) -> Rooms:
    """Return the rooms of a project."""
    ledger = ConflictLedger(ground.records)
    return Rooms(
        bible=Bible(ground),
        manuscript=Manuscript(ground),
        memory=Memory(ground),
        voice=Voice(ground),
        health=Health(ground),
        conflicts=lambda: [each.told for each in ledger.all(only_open=True)],
    )
