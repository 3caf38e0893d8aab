"""What a pack brings so that its loops can be played, and how far they may go."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.ports import LoopCast, LoopChecks, LoopWorkspace
from callboard.choreography.loop.registry import LoopRegistry
from callboard.core.errors import CallboardError, InvalidInput
from callboard.studio.studio import Studio

DecisionPolicy = Literal["llm", "playbook"]
POLICIES: Final[tuple[DecisionPolicy, ...]] = ("llm", "playbook")
_ROUNDS_PER_STEP: Final = 3


class MissingLoopInput(InvalidInput):
    """A loop cannot start without an artifact that nobody has made."""

    code = "missing_loop_input"


class ScopeViolation(CallboardError):
    """A step made something that its loop may not store."""

    code = "scope_violation"


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """How loops of a pack are decided and bounded; a loop's own limits come first."""

    policy: DecisionPolicy = "llm"
    iterations: int | None = None
    attempts: int = 3
    repairs: int = 2
    revision_cycles: int = 3
    collaborators: int = 2
    timebox_minutes: float | None = None
    chain_loops: int = 6
    # How much of a role's session, of a list and of the state is shown or kept.
    history_turns: int = 20
    history_chars: int = 4_000
    most_entries: int = 200
    state_lines: int = 120


class Bounds:
    """The limits of one loop: its own, else what the settings say."""

    def __init__(self, loop: Loop, settings: LoopSettings) -> None:
        """Settle them."""
        own = loop.limits
        usual = settings.iterations or _ROUNDS_PER_STEP * len(loop.steps)
        minutes = own.timebox_minutes or settings.timebox_minutes
        helpers = settings.collaborators if own.collaborators is None else own.collaborators
        self.iterations = own.iterations or usual
        self.attempts = own.attempts or settings.attempts
        self.repairs = settings.repairs if own.repairs is None else own.repairs
        self.revision_cycles = own.revision_cycles or settings.revision_cycles
        self.collaborators = helpers
        self.timebox_ms = None if minutes is None else round(minutes * 60_000)


@dataclass(frozen=True, slots=True)
class LoopHouse:
    """The loops of a pack in one project, with everything they are played with."""

    pack: str
    registry: LoopRegistry
    workspace: LoopWorkspace
    cast: LoopCast
    checks: LoopChecks
    settings: LoopSettings = LoopSettings()


BringLoops = Callable[[Studio], LoopHouse]
"""Makes the house of a pack in a studio; called for every run, so it must be quick."""
