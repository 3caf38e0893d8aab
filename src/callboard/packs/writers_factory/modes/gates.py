"""Where a book stands: its mode, what its gates ask, and which of them the writer overrode."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import Conflict
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta
from callboard.packs.writers_factory.modes.predicates import Unmet
from callboard.packs.writers_factory.voice import VoiceStatus
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection

_MODE_KIND: Final = "mode"
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

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def read(self) -> Position:
        """Return where the book stands."""
        return _read_position(self._workspace.records.get(_MODE_KIND, _RECORD))

    async def refuse(self, to: str, unmet: tuple[str, ...]) -> None:
        """Remember that the writer was told what is missing."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            known = body or {}
            return {**known, "refusals": {**known.get("refusals", {}), to: list(unmet)}}

        await self._workspace.records.change(_MODE_KIND, _RECORD, work)

    def move(
        self, connection: Connection, expected: str, to: str, *, by: str, is_marked: bool
    ) -> None:
        """Enter a mode within a unit of work, unless somebody else moved the book meanwhile."""
        body = self._workspace.records.load(connection, _MODE_KIND, _RECORD) or {}
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
            "at": self._workspace.studio.clock.now_ms(),
        }
        history = [*body.get("history", []), move][-_MOST_MOVES:]
        changed: dict[str, Json] = {
            "mode": to,
            "is_marked": is_marked,
            "refusals": {},
            "history": history,
        }
        self._workspace.records.store(connection, _MODE_KIND, _RECORD, changed)


def _read_position(body: dict[str, Any] | None) -> Position:
    if body is None:
        return Position()
    return Position(
        body.get("mode", ""),
        bool(body.get("is_marked")),
        dict(body.get("refusals", {})),
        tuple(body.get("history", [])),
    )


KIND: Final = "gate_override"
_LISTED: Final = 12
_ITEM_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class GateItem:
    """One unmet thing, and the mode whose gate asks for it."""

    mode: str
    unmet: Unmet


@dataclass(frozen=True, slots=True)
class GateOverride(Coded):
    """A gate that was passed although something was missing."""

    KEYS: ClassVar = {"from_mode": "from", "to_mode": "to"}

    id: str
    from_mode: str
    to_mode: str
    unmet: tuple[str, ...]
    risk_note: str
    ts: int
    # The mode and subject of every item it covers.
    covers: tuple[tuple[str, str], ...]
    # The one template it is restricted to, if it is.
    scope: str = ""
    # False once the writer went back behind the gate: then the gate counts again.
    is_active: bool = True
    # Whether the memory holds it as a constraint.
    is_noted: bool = False

    @property
    def line(self) -> str:
        """The override as every prompt and the memory are told it, however much was missing."""
        told = "; ".join(each[:_ITEM_CHARS] for each in self.unmet[:_LISTED])
        left = len(self.unmet) - _LISTED
        more = f"; and {left} more" if left > 0 else ""
        return f"{self.from_mode} to {self.to_mode} without: {told}{more}. {self.risk}"

    @property
    def risk(self) -> str:
        """What may come of it, in words."""
        return f"Risk: {self.risk_note}" if self.risk_note else "The writer took the risk."

    @property
    def key(self) -> str:
        """The key under which the memory holds it."""
        scoped = f"_{self.scope}" if self.scope else ""
        return f"gate_override_{self.from_mode}_{self.to_mode}{scoped}".lower()


class Overrides:
    """Keeps the overrides of a project."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._records = workspace.records

    def all(self) -> tuple[GateOverride, ...]:
        """Return every override there ever was, oldest first."""
        return tuple(map(GateOverride.from_json, self._records.all(KIND).values()))

    def active(self) -> tuple[GateOverride, ...]:
        """Return those that still hold a gate open."""
        return tuple(each for each in self.all() if each.is_active)

    def uncovered(self, items: Sequence[GateItem]) -> tuple[GateItem, ...]:
        """Return the items no override covers."""
        covered = {each for override in self.active() for each in override.covers}
        return tuple(each for each in items if (each.mode, each.unmet.subject) not in covered)

    def next_id(self, connection: Connection) -> str:
        """Return a new id within a unit of work."""
        return f"override-{len(self._records.load_all(connection, KIND)) + 1}"

    def store(self, connection: Connection, override: GateOverride) -> None:
        """Keep an override within a unit of work."""
        self._records.store(connection, KIND, override.id, override.to_json())

    def lapse(self, connection: Connection, modes: frozenset[str]) -> None:
        """Let the gates of some modes count again, within a unit of work."""
        for name, body in self._records.load_all(connection, KIND).items():
            if body["is_active"] and any(mode in modes for mode, _ in body["covers"]):
                self._records.store(connection, KIND, name, {**body, "is_active": False})

    async def note(self, override: GateOverride) -> None:
        """Record that the memory holds an override."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return {**(body or override.to_json()), "is_noted": True}

        await self._records.change(KIND, override.id, work)


Remember = Callable[[str, str, str, str], Awaitable[object]]


def _no_outline() -> Sequence[PlannedScene]:
    return ()


def _no_scenes() -> Sequence[SceneMeta]:
    return ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What modes need of other rooms, as functions: facts for the gates, and who acts on entering.

    `remember` takes category, key, value and source. An effect may be repeated without harm; it
    happens before the mode is entered.
    """

    voice: Callable[[], VoiceStatus] = VoiceStatus
    outline: Callable[[], Sequence[PlannedScene]] = _no_outline
    scenes: Callable[[], Sequence[SceneMeta]] = _no_scenes
    remember: Remember | None = None
    effects: Mapping[str, Callable[[], Awaitable[object]]] = field(
        default_factory=dict[str, Callable[[], Awaitable[object]]]
    )


@dataclass(frozen=True, slots=True)
class ModeGate:
    """What stands before a mode: nothing, if `unmet` is empty."""

    mode: str
    items: tuple[GateItem, ...]
    # What is missing too, but the writer has decided to go on without.
    overridden: tuple[str, ...] = ()

    @property
    def unmet(self) -> tuple[str, ...]:
        """Everything that is missing, in words."""
        return tuple(item.unmet.text for item in self.items)

    @property
    def is_open(self) -> bool:
        """Whether the mode may be entered."""
        return not self.items


@dataclass(frozen=True, slots=True)
class Transition(Coded):
    """A move from one mode to another."""

    KEYS: ClassVar = {"from_mode": "from", "to_mode": "to"}

    from_mode: str
    to_mode: str
    override: GateOverride | None = None
    # The action the Foreman proposes first.
    opens_with: str = ""
    # What was to happen on entering and nobody was there to do.
    left_undone: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the book moved at all."""
        return self.from_mode != self.to_mode

    def to_json(self) -> dict[str, Json]:
        """Return the shape shown at the doors."""
        override = None if self.override is None else self.override.to_json()
        return {**Coded.to_json(self), "override": override}
