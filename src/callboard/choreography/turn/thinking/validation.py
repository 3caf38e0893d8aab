"""A plan is checked before anything of it runs, and mended where code can tell how.

What it cannot mend is told as a problem, for the planner to be asked once more. Whatever comes
back can be executed: known parts, groups without gaps, no write beside what it touches.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.choreography.turn.domain import Domain
from callboard.choreography.turn.domain_parts import Subdomain
from callboard.choreography.turn.requests import (
    MOST_ROWS,
    Condition,
    Operator,
    ReadRequest,
    WriteOp,
)
from callboard.choreography.turn.shapes import StepType, ThinkOutput, ThinkStep
from callboard.choreography.turn.thinking.order import (
    PlanDraft,
    close_gaps,
    drop_orphans,
    put_after_producers,
    separate_clashes,
    shift_groups,
)
from callboard.choreography.turn.thinking.references import rename_steps

HARD_LIMIT_STEPS: Final = 12
_BULK_RECORDS: Final = 3
_REMOVING: Final = re.compile(r"\b(?:delete|remove|clear|archive|drop|erase|discard|all)\b")


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan that can be executed; `problems` is what a planner could do better."""

    plan: ThinkOutput
    problems: tuple[str, ...] = ()
    # What of the plan was left out; the user is told.
    notices: tuple[str, ...] = ()


def check_plan(
    plan: ThinkOutput,
    domain: Domain,
    max_steps: int,
    *,
    first_group: int = 0,
    done: Collection[str] = (),
) -> CheckedPlan:
    """Return a plan that can be executed.

    A plan that goes on after some steps are `done` starts at `first_group` and may name them.
    """
    draft = PlanDraft(_named(plan.steps))
    _drop_unknown(draft, domain)
    _limit(draft, min(max_steps, HARD_LIMIT_STEPS))
    drop_orphans(draft, done)
    close_gaps(draft)
    _read_what_is_needed(draft, domain)
    separate_clashes(draft)
    put_after_producers(draft, done)
    close_gaps(draft)
    steps = [_guarded(step) for step in _finished(draft, first_group, done)]
    checked = plan.model_copy(update={"steps": steps})
    return CheckedPlan(checked, tuple(draft.problems), tuple(draft.notices))


def _named(steps: Sequence[ThinkStep]) -> list[tuple[str, ThinkStep]]:
    """Return steps with the names a planner would give them, in the order of their groups."""
    counts: dict[int, int] = {}
    named: list[tuple[str, ThinkStep]] = []
    for step in steps:
        place = counts.get(step.group, 0)
        counts[step.group] = place + 1
        named.append((f"g{step.group}.s{place}", step))
    return sorted(named, key=lambda each: each[1].group)


def _drop_unknown(draft: PlanDraft, domain: Domain) -> None:
    subdomains = {each.name: each for each in domain.subdomains()}
    functions = domain.compute_functions()
    kept: list[tuple[str, ThinkStep]] = []
    for name, step in draft.steps:
        subdomain = subdomains.get(step.subdomain)
        if subdomain is None:
            known = ", ".join(subdomains)
            draft.problems.append(f"{name}: unknown subdomain {step.subdomain!r}; use {known}")
            draft.notices.append(step.description)
            continue
        if step.step_type is not StepType.ANALYZE:
            step = step.model_copy(update={"compute": None})
        elif step.compute is not None and step.compute not in functions:
            known = ", ".join(functions) or "none"
            draft.problems.append(f"{name}: unknown function {step.compute!r}; use {known}")
            step = step.model_copy(update={"compute": None})
        if step.step_type is StepType.GENERATE and step.content_type is None:
            step = step.model_copy(update={"content_type": _usual_content(domain, subdomain)})
        kept.append((name, step))
    draft.steps = kept


def _usual_content(domain: Domain, subdomain: Subdomain) -> str | None:
    types = domain.entity_types()
    fitting = [each.name for each in types if each.table in subdomain.tables]
    return next(iter(fitting), None)


def _limit(draft: PlanDraft, most: int) -> None:
    if len(draft.steps) <= most:
        return
    draft.problems.append(f"{len(draft.steps)} steps are too many; at most {most} are possible")
    draft.notices += [step.description for _, step in draft.steps[most:]]
    draft.steps = draft.steps[:most]


def _read_what_is_needed(draft: PlanDraft, domain: Domain) -> None:
    """Have read what a function computes with, if the plan forgot to."""
    functions = domain.compute_functions()
    owners = {table: sub.name for sub in reversed(domain.subdomains()) for table in sub.tables}
    starved = {
        name
        for name, step in draft.steps
        if step.group == 0 and step.compute is not None and functions[step.compute].needs
    }
    if starved:
        shift_groups(draft, starved)
    added: list[tuple[str, ThinkStep]] = []
    changed: list[tuple[str, ThinkStep]] = []
    for name, step in draft.steps:
        needs = functions[step.compute].needs if step.compute is not None else ()
        earlier = [(n, s) for n, s in draft.steps if s.group < step.group]
        inputs = list(step.inputs)
        for table in needs:
            producers = [n for n, s in earlier if _reads(s, table, owners)]
            given = [each for each in producers if each in inputs]
            producer = next(reversed(given or producers), None)
            if producer is None and table in owners:
                producer = f"g0.s{100 + len(added)}"
                query = ReadRequest(table=table, limit=MOST_ROWS)
                added.append((producer, _reading(table, owners[table], query)))
            if producer is not None and producer not in inputs:
                inputs.append(producer)
        changed.append((name, step.model_copy(update={"inputs": inputs})))
    draft.steps = [*added, *changed]


def _reads(step: ThinkStep, table: str, owners: dict[str, str]) -> bool:
    if step.step_type is not StepType.READ:
        return False
    if step.query is not None:
        return step.query.table == table
    return owners.get(table) == step.subdomain


def _reading(table: str, subdomain: str, query: ReadRequest) -> ThinkStep:
    words = table.replace("_", " ")
    return ThinkStep(
        description=f"Read {words}", step_type=StepType.READ, subdomain=subdomain, query=query
    )


def _finished(draft: PlanDraft, first_group: int, done: Collection[str]) -> list[ThinkStep]:
    """Give steps their names, and have every reference follow."""
    counts: dict[int, int] = {}
    names: dict[str, str] = {}
    for old, step in draft.steps:
        place = counts.get(step.group, 0)
        counts[step.group] = place + 1
        names[old] = f"g{step.group + first_group}.s{place}"
    groups = {**dict.fromkeys(done, -1), **{names[old]: s.group for old, s in draft.steps}}
    finished: list[ThinkStep] = []
    for old, step in draft.steps:
        renamed = rename_steps(step, names)
        inputs = [
            each
            for each in dict.fromkeys(renamed.inputs)
            if groups.get(each, step.group) < step.group
        ]
        given = {"id": names[old], "inputs": inputs, "group": step.group + first_group}
        finished.append(renamed.model_copy(update=given))
    return finished


def _names_one(step: ThinkStep) -> bool:
    """Say whether a change is of one row, named by its id."""
    filters = step.write.filters if step.write is not None else []
    return any(
        isinstance(each, Condition) and each.field == "id" and each.op is Operator.EQ
        for each in filters
    )


def _guarded(step: ThinkStep) -> ThinkStep:
    """Mark what deletes or changes much: it is previewed, and asked about if it must be."""
    if step.step_type is not StepType.WRITE:
        return step.model_copy(update={"requires_confirmation": False})
    if step.write is None:
        is_risky = _REMOVING.search(step.description.casefold()) is not None
    else:
        is_risky = (
            step.write.op is WriteOp.DELETE
            or (step.write.op is WriteOp.UPDATE and not _names_one(step))
            or len(step.write.records) > _BULK_RECORDS
        )
    return step.model_copy(update={"requires_confirmation": step.requires_confirmation or is_risky})
