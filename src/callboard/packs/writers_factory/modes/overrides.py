"""Overrides: gates the writer went through with open eyes, and what was missing then."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.modes.predicates import Unmet
from callboard.store.connection import Connection

KIND: Final = "gate_override"
_LISTED: Final = 12
_ITEM_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class GateItem:
    """One unmet thing, and the mode whose gate asks for it."""

    mode: str
    unmet: Unmet


@dataclass(frozen=True, slots=True)
class GateOverride:
    """A gate that was passed although something was missing."""

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

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "id": self.id,
            "from": self.from_mode,
            "to": self.to_mode,
            "unmet": list(self.unmet),
            "risk_note": self.risk_note,
            "ts": self.ts,
            "covers": [list(each) for each in self.covers],
            "scope": self.scope,
            "is_active": self.is_active,
            "is_noted": self.is_noted,
        }


class Overrides:
    """Keeps the overrides of a project."""

    def __init__(self, ground: Ground) -> None:
        """Take the ground to stand on."""
        self._records = ground.records

    def all(self) -> tuple[GateOverride, ...]:
        """Return every override there ever was, oldest first."""
        return tuple(map(_read, self._records.all(KIND).values()))

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


def _read(body: dict[str, Any]) -> GateOverride:
    return GateOverride(
        id=body["id"],
        from_mode=body["from"],
        to_mode=body["to"],
        unmet=tuple(body["unmet"]),
        risk_note=body["risk_note"],
        ts=body["ts"],
        covers=tuple((str(mode), str(subject)) for mode, subject in body["covers"]),
        scope=body["scope"],
        is_active=body["is_active"],
        is_noted=body["is_noted"],
    )
