"""A scene: one step being carried out, with only what its kind of step may see."""

from dataclasses import dataclass
from typing import Any, cast

from callboard.choreography.stage import Stage
from callboard.choreography.turn.acting.handles import resolve_ids
from callboard.choreography.turn.prompting import ACT, Asker, Node, Section
from callboard.choreography.turn.prompting.sections import PERSONA, PROBLEM
from callboard.choreography.turn.shapes import StepResult, ThinkStep
from callboard.choreography.turn.work import Work
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.vocabulary import Entity, EntityState
from callboard.engine.errors import StepFailed

REPAIRS = 2


@dataclass(frozen=True, slots=True)
class Scene:
    """One step on its branch of the stage."""

    work: Work
    stage: Stage
    step: ThinkStep
    # Results it may look at: of the group before, or those it names.
    inputs: tuple[StepResult, ...] = ()
    is_confirmed: bool = False

    @property
    def asker(self) -> Asker:
        """Asks on this step's branch."""
        return self.work.asker.on(self.stage)

    @property
    def node(self) -> Node:
        """The kind of model call this step makes."""
        return ACT[self.step.step_type]

    @property
    def can_ask(self) -> bool:
        """Whether a model can be asked to reason about this step."""
        return not self.asker.is_constrained(self.node) and self.work.calls_left > 0

    @property
    def message(self) -> str:
        """The step as the model is asked to do it: the step and the user's words."""
        return f"Step: {self.step.description}\n\nThe user said: {self.work.message}"

    def persona_section(self) -> Section:
        """Return how to think about this step's part of the domain."""
        persona = self.work.domain.persona(self.step.subdomain)
        lines = [f"{persona.name}, {persona.tone}.", *(f"- {e}" for e in persona.guidelines)]
        return Section(PERSONA, "\n".join(lines), is_trusted=True, is_pinned=True)

    def problem_section(self, problem: str) -> Section:
        """Return why the last attempt did not work, without the names of what was put away."""
        return Section(PROBLEM, self.work.hidden.scrub(problem), is_pinned=True)

    def referenced(self) -> list[Entity]:
        """Return the things this step names, those in play only."""
        ids = resolve_ids(self.work, self.step.referenced_entities)
        found = [e for each in ids if (e := self.work.registry.find(each)) is not None]
        return [each for each in found if each.state is not EntityState.INACTIVE]


def told(error: CallboardError) -> str:
    """Return an error as a model or a person can act on it."""
    record = _cause(error)
    allowed = cast("list[Any]", record.context.get("allowed") or [])
    listed = f" Allowed: {', '.join(str(each) for each in allowed)}." if allowed else ""
    return f"{record.message}.{listed} {record.fix or ''}".strip().replace("..", ".")


def kind_of(error: CallboardError) -> str:
    """Return the kind of a refused request, such as `conflict`; empty for anything else."""
    return str(_cause(error).context.get("kind", ""))


def _cause(error: CallboardError) -> ErrorRecord:
    """Return what went wrong itself, without the step it went wrong in."""
    return error.error if isinstance(error, StepFailed) else error.record()
