"""What the project remembers about its voice besides files: test passage, winner, bundle, lock."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "voice"
RECORD: Final = "voice"


@dataclass(frozen=True, slots=True)
class VoiceState:
    """How far the project has come with its voice."""

    test_passage: str = ""
    # The tournament that was started last, until one is won; then the one that was won.
    tournament_id: str = ""
    winner: str = ""
    bundle_path: str = ""
    bundle_version: int = 0
    locked: bool = False
    locked_at: int = 0


class VoiceRecord:
    """Keeps it in the project's database."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def read(self) -> VoiceState:
        """Return how things stand."""
        return _state(self._workspace.records.get(KIND, RECORD))

    async def change(self, **changes: Any) -> VoiceState:
        """Store what has changed."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return asdict(replace(_state(body), **changes))

        return _state(await self._workspace.records.change(KIND, RECORD, work))

    async def note_test_passage(self, text: str, tournament_id: str = "") -> None:
        """Store what the tournament's passages are to tell."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            known = _state(body)
            latest = known.tournament_id if known.winner else tournament_id or known.tournament_id
            return asdict(replace(known, test_passage=text, tournament_id=latest))

        await self._workspace.records.change(KIND, RECORD, work)


def _state(body: Mapping[str, Any] | None) -> VoiceState:
    names = {each.name for each in fields(VoiceState)}
    return VoiceState(**{name: value for name, value in (body or {}).items() if name in names})
