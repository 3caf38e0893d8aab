"""What the tests of this room share: a clock by hand and an open project."""

from dataclasses import dataclass
from pathlib import Path

from callboard.core.ids import IdMaker
from callboard.store.database import Database
from callboard.tools import ToolRegistry, ToolService
from callboard.tools.audit import Trail
from callboard.tools.builtin import BUILTIN_TOOLS


class HandClock:
    """A clock that moves by one millisecond whenever somebody looks."""

    def __init__(self) -> None:
        self.ms = 1_700_000_000_000

    def now_ms(self) -> int:
        self.ms += 1
        return self.ms

    def monotonic(self) -> float:
        return self.now_ms() / 1000


def trail_of(root: Path) -> Trail:
    """The trail of a project whose key lies beside the project's folder."""
    return Trail(root / ".callboard/audit", root.parent / "keys" / root.name)


def open_service(
    database: Database, root: Path, registry: ToolRegistry, clock: HandClock
) -> ToolService:
    return ToolService(
        database,
        root,
        registry,
        trail=trail_of(root),
        kept=root / ".callboard",
        ids=IdMaker(clock),
        clock=clock,
    )


@dataclass
class House:
    root: Path
    database: Database
    service: ToolService
    clock: HandClock

    @property
    def mirror(self) -> Path:
        return self.mirror_of("sess_one")

    def mirror_of(self, session_id: str) -> Path:
        return self.root / ".callboard/audit/sessions" / session_id / "tool_receipts.jsonl"

    @property
    def trail(self) -> Trail:
        return trail_of(self.root)

    def reopened(self) -> ToolService:
        """The same project as another process, or the same one after a restart, sees it."""
        clock = HandClock()
        registry = ToolRegistry(BUILTIN_TOOLS)
        return open_service(self.database, self.root, registry, clock)
