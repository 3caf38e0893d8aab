"""Planning: a planner is asked for steps; code checks them, and asks again once if it must."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from pydantic import ValidationError

from callboard.choreography.answers import schema_of, with_fields
from callboard.choreography.turn.asker import THINK
from callboard.choreography.turn.domain import Domain
from callboard.choreography.turn.domain_parts import TurnMode
from callboard.choreography.turn.requests import ReadRequest, WriteRequest
from callboard.choreography.turn.sections import (
    CATALOGUE,
    CHANGE,
    PRIOR,
    PROBLEM,
    REFERENCED,
    STYLE,
    PromptSection,
    entity_section,
)
from callboard.choreography.turn.shapes import ThinkOutput, ThinkStep
from callboard.choreography.turn.thinking.validation import CheckedPlan, check_plan
from callboard.choreography.turn.work import TurnWork
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError

_MOST_STEPS: Final = 12
_GIVEN_BY_CODE: Final = ("id", "requires_confirmation")


class PlanUnusable(CallboardError):
    """What the planner said is no plan."""

    code = "plan_unusable"


@dataclass(frozen=True, slots=True)
class Continued:
    """What a plan goes on from: steps that are done, and why the old plan did not do."""

    key: str = "think"
    first_group: int = 0
    done: tuple[str, ...] = ()


async def make_plan(
    work: TurnWork,
    message: str,
    referenced: Sequence[str],
    change: str = "",
    after: Continued = Continued(),  # noqa: B008 - a frozen value
) -> CheckedPlan:
    """Return a checked plan; a planner that says nothing usable twice raises."""
    sections = await _sections(work, referenced, change)
    problems: tuple[str, ...] = ()
    for attempt in (1, 2):
        told = PromptSection(PROBLEM, "\n".join(problems), is_pinned=True)
        said = await work.asker.ask(
            f"{after.key}/{attempt}",
            THINK,
            [*sections, told],
            message,
            schema=plan_schema(work.domain, work.mode),
        )
        try:
            checked = check_plan(
                read_plan(said.data, message),
                work.domain,
                work.mode.max_steps,
                first_group=after.first_group,
                done=after.done,
            )
        except (ValidationError, PlanUnusable) as error:
            problems = (f"That was no plan: {error}"[:300],)
            continue
        if not checked.problems or attempt == 2 or work.calls_left < 2:
            return checked
        problems = checked.problems
    raise PlanUnusable("No plan came of this request", fix="Say it in other words.")


async def _sections(work: TurnWork, referenced: Sequence[str], change: str) -> list[PromptSection]:
    registry, mode = work.registry, work.mode
    entities = [e for each in referenced if (e := registry.find(each)) is not None]
    counts = await work.domain.counts(work.who)
    known = "\n".join(work.state.summary.active_constraints)
    return [
        PromptSection(STYLE, _limits(mode), is_pinned=True, is_trusted=True),
        PromptSection(CATALOGUE, _catalogue(work.domain, counts), is_trusted=True),
        entity_section(entities, None, REFERENCED),
        *await work.preference_sections(),
        PromptSection(PRIOR, known if known not in "\n".join(work.state.constraints) else ""),
        PromptSection(CHANGE, work.hidden.scrub(change), is_pinned=True),
        work.asker.examples("think_examples", mode.examples),
    ]


def _limits(mode: TurnMode) -> str:
    asks = "may ask for consent" if mode.consent == "proposal" else "needs no consent"
    return f"Mode {mode.title}: at most {mode.max_steps} steps; {asks}."


def _catalogue(domain: Domain, counts: Mapping[str, int]) -> str:
    lines: list[str] = []
    for each in domain.subdomains():
        tables = [f"{t} ({counts[t]})" if t in counts else t for t in each.tables]
        lines.append(f"- {each.name}: {', '.join(tables)}")
    lines += [f"- function {f.name}: {f.summary}" for f in domain.compute_functions().values()]
    kinds = ", ".join(each.name for each in domain.entity_types())
    return "\n".join([*lines, f"- content that can be generated: {kinds}"])


def plan_schema(domain: Domain, mode: TurnMode) -> dict[str, Json]:
    """Return the JSON schema of a plan: only what exists can be named."""
    steps: Json = {"type": "array", "items": step_schema(domain), "maxItems": _MOST_STEPS}
    return with_fields(schema_of(ThinkOutput, loosely=("steps",)), steps=steps)


def step_schema(domain: Domain) -> dict[str, Json]:
    """Return the JSON schema of one step."""
    # Requests are checked where they are executed; a bad one is told back there.
    schema = schema_of(ThinkStep, without=_GIVEN_BY_CODE, loosely=("query", "write"))
    return with_fields(
        schema,
        group={"type": "integer", "minimum": 0, "maximum": _MOST_STEPS},
        content_type={"enum": [*(each.name for each in domain.entity_types()), None]},
    )


def read_plan(data: Any, goal: str) -> ThinkOutput:
    """Return a plan as a planner wrote it; requests that are none are left for the step to make."""
    if not isinstance(data, dict):
        raise PlanUnusable("The planner wrote no object")
    raw = cast("dict[str, Any]", data)
    steps = [read_step(each) for each in cast("list[Any]", raw.get("steps") or [])]
    return ThinkOutput(
        goal=str(raw.get("goal") or goal)[:300],
        steps=steps,
        needs_proposal=bool(raw.get("needs_proposal")),
        proposal_message=raw.get("proposal_message"),
        assumptions=[str(each) for each in cast("list[Any]", raw.get("assumptions") or [])],
    )


def read_step(data: Mapping[str, Any]) -> ThinkStep:
    """Return one step as a planner wrote it."""
    given = {name: value for name, value in data.items() if value is not None}
    query, write = given.pop("query", None), given.pop("write", None)
    return ThinkStep.model_validate(
        {**given, "query": _read_request(query), "write": _write_request(write)}
    )


def _read_request(data: Any) -> ReadRequest | None:
    try:
        return None if data is None else ReadRequest.model_validate(data)
    except ValidationError:
        return None


def _write_request(data: Any) -> WriteRequest | None:
    try:
        return None if data is None else WriteRequest.model_validate(data)
    except ValidationError:
        return None
