"""Position: which mode a book is in, since when, and which refusals the writer has seen."""

from dataclasses import dataclass, field
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.ground import Ground
from callboard.store.connection import Connection

_KIND: Final = "mode"
_RECORD: Final = "mode"
_MOST_MOVES: Final = 200


@dataclass(frozen=True, slots=True)
class Position:
    """Where a book stands; nowhere yet before its first move."""

    mode: str = ""
    is_marked_complete: bool = False
    # By the mode that was asked for: every unmet item the writer was told of.
    refusals: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    history: tuple[dict[str, Json], ...] = ()


class Positions:
    """Keeps the position in the project's database."""

    def __init__(self, ground: Ground) -> None:
        """Take the ground to stand on."""
        self._ground = ground

    def read(self) -> Position:
        """Return where the book stands."""
        return _read(self._ground.records.get(_KIND, _RECORD))

    async def refuse(self, to: str, unmet: tuple[str, ...]) -> None:
        """Remember that the writer was told what is missing."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            known = body or {}
            return {**known, "refusals": {**known.get("refusals", {}), to: list(unmet)}}

        await self._ground.records.change(_KIND, _RECORD, work)

    def move(
        self, connection: Connection, expected: str, to: str, *, by: str, is_marked: bool
    ) -> None:
        """Enter a mode within a unit of work, unless somebody else moved the book meanwhile."""
        body = self._ground.records.load(connection, _KIND, _RECORD) or {}
        if body.get("mode", "") != expected:
            raise Conflict(
                f"The book went to {body.get('mode')} meanwhile",
                fix="Look where it stands and ask again.",
                mode=body.get("mode"),
            )
        move: dict[str, Json] = {
            "from": expected,
            "to": to,
            "by": by,
            "at": self._ground.studio.clock.now_ms(),
        }
        history = [*body.get("history", []), move][-_MOST_MOVES:]
        changed: dict[str, Json] = {
            "mode": to,
            "is_marked": is_marked,
            "refusals": {},
            "history": history,
        }
        self._ground.records.store(connection, _KIND, _RECORD, changed)


def _read(body: dict[str, Any] | None) -> Position:
    if body is None:
        return Position()
    return Position(
        body.get("mode", ""),
        bool(body.get("is_marked")),
        dict(body.get("refusals", {})),
        tuple(body.get("history", [])),
    )
