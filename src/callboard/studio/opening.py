"""How a studio is opened, and what is held open until it is closed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from callboard.core.canonical import Json
from callboard.core.clock import Clock, SystemClock
from callboard.core.vocabulary import RunRecord
from callboard.engine.engine import Companion
from callboard.models import Provider
from callboard.store.connection import Connection
from callboard.store.faults import FaultPoints, NoFaults
from callboard.studio.packs import Pack

K = TypeVar("K")


class HeldOpen:
    """What packs hold open for one project, each by its type."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._held: dict[type[Any], object] = {}

    def get(self, kind: type[K], make: Callable[[], K]) -> K:
        """Return what is held, made when it is first asked for."""
        found = self._held.get(kind)
        if not isinstance(found, kind):
            found = self._held[kind] = make()
        return found

    def close(self) -> None:
        """Close what is held."""
        while self._held:
            held = self._held.popitem()[1]
            if isinstance(held, Closable):
                held.close()


@runtime_checkable
class Closable(Protocol):
    """Something that is open and wants to be closed."""

    def close(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True, slots=True)
class Opening:
    """How a studio is opened; the defaults are what a user gets.

    `providers` replaces or adds model providers by name, `packs` adds packs to the installed ones.
    `models` are those the user named besides the settings: of models that are files, only what the
    user named is asked.
    """

    packs: tuple[Pack, ...] = ()
    providers: Mapping[str, Provider] = field(default_factory=dict[str, Provider])
    flags: Mapping[str, Json] = field(default_factory=dict[str, Json])
    models: tuple[str, ...] = ()
    # May hold keys: it must never be shown.
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    recover: bool = True
    clock: Clock = field(default_factory=SystemClock)
    faults: FaultPoints = field(default_factory=NoFaults)


def all_of(*companions: Companion | None) -> Companion | None:
    """Return one companion that does what several do."""
    chosen = [each for each in companions if each is not None]

    def together(connection: Connection, run: RunRecord) -> None:
        for each in chosen:
            each(connection, run)

    return together if chosen else None
