"""What a Showrunner decides: the shape of each decision, and the record it leaves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, Literal

from pydantic import Field

from callboard.choreography.answers import A, Answer, at_most, shortened
from callboard.choreography.questions import Question
from callboard.core.canonical import Json

_MOST: Final = 20
_LEAST_OPTIONS: Final = 2
_MOST_OPTIONS: Final = 4

Reason = Annotated[str, shortened(1_000)]


class DroppedStep(Answer):
    """An optional step that is left out, and why."""

    step: str
    reason: Reason


class DismissedRequest(Answer):
    """A request that is turned down, and why."""

    request: str
    reason: Reason


class HumanAsk(Answer):
    """Something only the human can know; the default is what is safe."""

    text: Reason
    options: Annotated[tuple[str, ...], Field(min_length=_LEAST_OPTIONS, max_length=_MOST_OPTIONS)]
    default: str


class StepDecision(Answer):
    """Which step is taken next, by whom, and what is put aside before."""

    step: str
    reason: Reason
    role: str | None = None
    instructions: Reason = ""
    adopt: bool = False
    drop: Annotated[tuple[DroppedStep, ...], at_most(_MOST)] = ()
    dismiss: Annotated[tuple[DismissedRequest, ...], at_most(_MOST)] = ()
    ask_human: HumanAsk | None = None


class CollabDecision(Answer):
    """Whether somebody may join in."""

    approved: bool
    reason: Reason = ""


class BlockDecision(Answer):
    """What is done about a gate that blocks."""

    action: Literal["revise", "escalate", "defer", "abort"]
    target_step: str | None = None
    instructions: Reason = ""


class StabilityVerdict(Answer):
    """Whether the goal of a loop is achieved, once code has nothing against it."""

    goal_achieved: bool
    missing: Annotated[tuple[Reason, ...], at_most(_MOST)] = ()
    reason: Reason = ""


class LoopDecision(Answer):
    """Which loop comes next, and why."""

    suggested_loop: str
    reasoning: Annotated[tuple[Reason, ...], at_most(_MOST)]
    alternatives: Annotated[tuple[str, ...], at_most(_MOST)] = ()
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.5


STEP: Final = Question("decide_step", StepDecision)
COLLABORATION: Final = Question("decide_collaboration", CollabDecision)
BLOCK: Final = Question("decide_block", BlockDecision)
STABILITY: Final = Question("judge_stability", StabilityVerdict)
LOOP: Final = Question("decide_loop", LoopDecision)


@dataclass(frozen=True, slots=True)
class MadeDecision(Generic[A]):
    """A decision with how it came about."""

    answer: A
    deviates: bool = False
    # Whether the playbook stands in for an answer that could not be used, and why.
    is_fallback: bool = False
    why: str = ""
    # When it was made.
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision as it is stored, with the size of what it was made from."""

    key: str
    kind: str
    decision: Mapping[str, Json]
    deviates: bool
    fallback: bool
    why: str
    model: str
    prompt_id: str
    # Lines and tokens of each component of the prompt.
    context: Mapping[str, Mapping[str, int]]
    at_ms: int

    def to_json(self, unit: str) -> dict[str, Json]:
        """Return the stored shape."""
        sizes = self.context.values()
        return {
            "id": self.key,
            "unit": unit,
            "kind": self.kind,
            "at": self.at_ms,
            "decision": dict(self.decision),
            "deviates_from_playbook": self.deviates,
            "fallback": self.fallback,
            "why": self.why,
            "model": self.model,
            "prompt_id": self.prompt_id,
            "context": {name: dict(each) for name, each in self.context.items()},
            "context_lines": sum(each["lines"] for each in sizes),
            "context_tokens": sum(each["tokens"] for each in sizes),
        }


def decided_from(question: Question[A], stored: Any) -> MadeDecision[A]:
    """Read a decision as it is journaled; a fork may have put another one in its place."""
    answer = question.answer.model_validate(stored["decision"])
    return MadeDecision(
        answer,
        bool(stored.get("deviates_from_playbook")),
        bool(stored.get("fallback")),
        str(stored.get("why", "")),
        int(stored.get("at", 0)),
    )
