"""The outlines of a book: the one in force, and every one the writer approved before it.

An outline that is replaced stays on record under its number; taking it back approves it anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.manuscript.errors import VersionUnknown
from callboard.packs.writers_factory.manuscript.outline import outline_from_json, outline_to_json
from callboard.packs.writers_factory.model import PlannedScene
from callboard.store.connection import Connection

OUTLINE_KIND: Final = "outline"
REPLACED_KIND: Final = "replaced_outline"
_IN_FORCE: Final = "outline"


@dataclass(frozen=True, slots=True)
class OutlineVersion:
    """An outline the writer approved, and why it came into force."""

    number: int
    scenes: tuple[PlannedScene, ...]
    approved_at: int
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape, which is also the one shown at the doors."""
        return {
            "number": self.number,
            "scenes": outline_to_json(self.scenes),
            "approved_at": self.approved_at,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "OutlineVersion":
        """Read the stored shape; one from before outlines were counted is the first."""
        return cls(
            int(stored.get("number", 1)),
            outline_from_json(stored["scenes"]),
            int(stored["approved_at"]),
            str(stored.get("reason", "")),
        )


class Outlines:
    """The outlines of one project."""

    def __init__(self, ground: Ground) -> None:
        """Take the project."""
        self._ground = ground

    def in_force(self) -> OutlineVersion | None:
        """Return the outline that holds now; None before the first was approved."""
        stored = self._ground.records.get(OUTLINE_KIND, _IN_FORCE)
        return None if stored is None else OutlineVersion.from_json(stored)

    def versions(self) -> tuple[OutlineVersion, ...]:
        """Return every outline, oldest first; the last is the one in force."""
        replaced = self._ground.records.all(REPLACED_KIND).values()
        found = [OutlineVersion.from_json(each) for each in replaced]
        now = self.in_force()
        return tuple(sorted([*found, *([now] if now else [])], key=lambda each: each.number))

    def find(self, number: int) -> OutlineVersion:
        """Return one outline by its number."""
        versions = self.versions()
        for version in versions:
            if version.number == number:
                return version
        numbers = ", ".join(str(version.number) for version in versions) or "none"
        raise VersionUnknown(
            f"There is no outline with the number {number}",
            fix=f"Outlines: {numbers}.",
            number=number,
        )

    async def put(self, scenes: Sequence[PlannedScene], reason: str) -> None:
        """Bring an outline into force and keep the one before; the same one changes nothing."""
        records, now = self._ground.records, self._ground.studio.clock.now_ms()

        def act(connection: Connection) -> None:
            stored = records.load(connection, OUTLINE_KIND, _IN_FORCE)
            number = 1
            if stored is not None:
                before = OutlineVersion.from_json(stored)
                if before.scenes == tuple(scenes):
                    return
                number = before.number + 1
                records.store(connection, REPLACED_KIND, str(before.number), before.to_json())
            new = OutlineVersion(number, tuple(scenes), now, reason)
            records.store(connection, OUTLINE_KIND, _IN_FORCE, new.to_json())

        await self._ground.studio.database.write(act)
