"""Deciding: what is done about a message. The domain's router first, a planner if it must be."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, cast

from callboard.choreography.turn.asker import THINK
from callboard.choreography.turn.domain import AskedMessage, Routed
from callboard.choreography.turn.shapes import Option, StepType, ThinkOutput, ThinkStep
from callboard.choreography.turn.thinking.planning import PlanUnusable, make_plan
from callboard.choreography.turn.thinking.references import must_propose
from callboard.choreography.turn.thinking.validation import check_plan
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ErrorTier
from callboard.core.vocabulary import Effect

_SIMPLE_STEPS: Final = 2


class ModelUnavailable(CallboardError):
    """No model could be asked, and code alone cannot do what is wanted. Nothing has changed."""

    code = "model_unavailable"
    tier = ErrorTier.TRANSIENT


@dataclass(frozen=True, slots=True)
class TurnDecision:
    """What is done: a plan, or words, or a question."""

    plan: ThinkOutput | None = None
    reply: str = ""
    question: str = ""
    options: tuple[Option, ...] = ()
    pins: tuple[str, ...] = ()
    unpins: tuple[str, ...] = ()
    proposes: bool = False


async def route(work: TurnWork, message: str, referenced: Sequence[str], key: str) -> Routed | None:
    """Return what the domain's router makes of a message; journaled, since data may change."""
    asked = AskedMessage(
        message, work.mode.name, work.who, tuple(referenced), tuple(work.state.constraints)
    )

    async def ask() -> Json:
        routed = await work.domain.route(asked)
        if routed is None or (routed.weak and not work.asker.is_constrained(THINK)):
            return None
        steps: list[Json] = [s.model_dump(mode="json", by_alias=True) for s in routed.steps]
        options: list[Json] = [o.model_dump(mode="json") for o in routed.options]
        return {**asdict(replace(routed, steps=(), options=())), "steps": steps, "options": options}

    said = await work.stage.step(key, ask, effect=Effect.PURE)
    if said is None:
        return None
    data = cast("dict[str, Any]", said)
    return Routed(
        steps=tuple(ThinkStep.model_validate(each) for each in data["steps"]),
        reply=data["reply"],
        assumptions=tuple(data["assumptions"]),
        goal=data["goal"],
        question=data["question"],
        options=tuple(Option.model_validate(each) for each in data["options"]),
        pins=tuple(data["pins"]),
        unpins=tuple(data["unpins"]),
        unsure=data.get("unsure", False),
    )


def is_simple(routed: Routed) -> bool:
    """Say whether a router's steps need no planner in any mode: few, complete, nothing to make."""
    is_complete = all(
        (step.step_type is StepType.READ and step.query is not None)
        or (step.step_type is StepType.WRITE and step.write is not None)
        for step in routed.steps
    )
    return is_complete and len(routed.steps) <= _SIMPLE_STEPS


def decide_routed(work: TurnWork, routed: Routed, message: str) -> TurnDecision:
    """Return the decision a router made."""
    work.assumptions += routed.assumptions
    plan: ThinkOutput | None = None
    if routed.steps:
        goal = routed.goal or message
        plan = _checked(work, ThinkOutput(goal=goal, steps=list(routed.steps)), trust_size=True)
    return TurnDecision(
        plan,
        routed.reply,
        routed.question,
        routed.options,
        routed.pins,
        routed.unpins,
        plan is not None
        and (routed.unsure or (must_propose(plan, work.mode) and not is_simple(routed))),
    )


async def decide(
    work: TurnWork,
    message: str,
    referenced: Sequence[str],
    routed: Routed | None,
    change: str = "",
) -> TurnDecision:
    """Return what is done about a message where a planner may be asked."""
    is_constrained = work.asker.is_constrained(THINK)
    if routed is not None and (is_constrained or is_simple(routed)) and not change:
        return decide_routed(work, routed, message)
    if is_constrained:
        return TurnDecision() if routed is None else decide_routed(work, routed, message)
    work.show("node_started", node="think")
    try:
        checked = await make_plan(work, message, referenced, change)
    except PlanUnusable as error:
        return TurnDecision(reply=f"{error.message}. {error.fix or ''}".strip())
    except CallboardError as error:
        if routed is not None:
            return decide_routed(work, routed, message)
        record = error.record()
        if record.tier is not ErrorTier.PERMANENT:
            raise ModelUnavailable(record.message, fix=record.fix) from error
        return TurnDecision(reply=f"I could not work out what to do: {record.message}")
    work.assumptions += checked.plan.assumptions
    work.left_out += checked.notices
    proposes = must_propose(checked.plan, work.mode)
    return TurnDecision(checked.plan, proposes=proposes)


def decide_quick(work: TurnWork, steps: Sequence[ThinkStep], message: str) -> TurnDecision:
    """Return the decision of a quick call: its one or two steps, checked."""
    if not steps:
        return TurnDecision()
    plan = ThinkOutput(goal=message, steps=list(steps))
    return TurnDecision(_checked(work, plan, trust_size=False))


def _checked(work: TurnWork, plan: ThinkOutput, *, trust_size: bool) -> ThinkOutput:
    most = max(len(plan.steps), work.mode.max_steps) if trust_size else work.mode.max_steps
    checked = check_plan(plan, work.domain, most)
    work.left_out += checked.notices
    return checked.plan
