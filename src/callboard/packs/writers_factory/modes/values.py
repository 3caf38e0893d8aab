"""What modes are asked with and answer with: neighbours, gates, transitions."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from callboard.core.canonical import Json
from callboard.packs.writers_factory.model import PlannedScene, SceneMeta
from callboard.packs.writers_factory.modes.overrides import GateItem, GateOverride
from callboard.packs.writers_factory.modes.predicates import NoVoice, VoiceFacts

Remember = Callable[[str, str, str, str], Awaitable[object]]


def _nobody() -> VoiceFacts:
    return NoVoice()


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

    voice: Callable[[], VoiceFacts] = _nobody
    outline: Callable[[], Sequence[PlannedScene]] = _no_outline
    scenes: Callable[[], Sequence[SceneMeta]] = _no_scenes
    remember: Remember | None = None
    effects: Mapping[str, Callable[[], Awaitable[object]]] = field(
        default_factory=dict[str, Callable[[], Awaitable[object]]]
    )


@dataclass(frozen=True, slots=True)
class Gate:
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
class Transition:
    """A move from one mode to another."""

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
        return {
            "from": self.from_mode,
            "to": self.to_mode,
            "override": None if self.override is None else self.override.to_json(),
            "opens_with": self.opens_with,
            "left_undone": list(self.left_undone),
        }
