"""A plan is checked before anything of it runs, and mended where code can tell how.

What it cannot mend is told as a problem, for the planner to be asked once more. Whatever comes
back can be executed: known parts, groups without gaps, no write beside what it touches.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.choreography.turn.domain import Domain, Subdomain
from callboard.choreography.turn.requests import (
    MOST_ROWS,
    Condition,
    Operator,
    ReadRequest,
    WriteOp,
)
from callboard.choreography.turn.shapes import StepType, ThinkOutput, ThinkStep
from callboard.choreography.turn.thinking.references import (
    needed_steps,
    rename_steps,
    step_named,
    written_steps,
)

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


@dataclass
class _PlanDraft:
    """A plan while it is mended: its steps with the names they came with."""

    steps: list[tuple[str, ThinkStep]]
    problems: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])


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
    draft = _PlanDraft(_named(plan.steps))
    _drop_unknown(draft, domain)
    _limit(draft, min(max_steps, HARD_LIMIT_STEPS))
    _drop_orphans(draft, done)
    _close_gaps(draft)
    _read_what_is_needed(draft, domain)
    _separate(draft)
    _put_after_producers(draft, done)
    _close_gaps(draft)
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


def _drop_unknown(draft: _PlanDraft, domain: Domain) -> None:
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


def _limit(draft: _PlanDraft, most: int) -> None:
    if len(draft.steps) <= most:
        return
    draft.problems.append(f"{len(draft.steps)} steps are too many; at most {most} are possible")
    draft.notices += [step.description for _, step in draft.steps[most:]]
    draft.steps = draft.steps[:most]


def _drop_orphans(draft: _PlanDraft, done: Collection[str]) -> None:
    """Drop what names a step that is not there: by its new number it would name another one.

    A write goes as a whole, since it lacks what it was to write.
    """
    while True:
        known = {*done, *(name for name, _ in draft.steps)}
        lost = {name: written_steps(step) - known for name, step in draft.steps}
        if not any(lost.values()):
            break
        for name, step in draft.steps:
            if lost[name]:
                missing = ", ".join(sorted(lost[name]))
                draft.problems.append(f"{name}: it writes what {missing} brings; there is none")
                draft.notices.append(step.description)
        draft.steps = [each for each in draft.steps if not lost[each[0]]]
    draft.steps = [(name, _naming_only(step, known)) for name, step in draft.steps]


def _naming_only(step: ThinkStep, known: Collection[str]) -> ThinkStep:
    return step.model_copy(
        update={
            "inputs": [each for each in step.inputs if each in known],
            "referenced_entities": [
                each
                for each in step.referenced_entities
                if (named := step_named(each)) is None or named in known
            ],
        }
    )


def _read_what_is_needed(draft: _PlanDraft, domain: Domain) -> None:
    """Have read what a function computes with, if the plan forgot to."""
    functions = domain.compute_functions()
    owners = {table: sub.name for sub in reversed(domain.subdomains()) for table in sub.tables}
    starved = {
        name
        for name, step in draft.steps
        if step.group == 0 and step.compute is not None and functions[step.compute].needs
    }
    if starved:
        _shift(draft, starved)
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


def _separate(draft: _PlanDraft) -> None:
    """Move what would run beside what it needs, or beside a write of its table, behind that."""
    while (found := _first_clash(draft.steps)) is not None:
        moved, group = found
        _shift(draft, {moved}, group)


def _first_clash(steps: Sequence[tuple[str, ThinkStep]]) -> tuple[str, int] | None:
    for at, (name, step) in enumerate(steps):
        for before, other in steps[:at]:
            if other.group != step.group:
                continue
            if name in needed_steps(other):
                return before, step.group
            if before in needed_steps(step) or _clash(other, step):
                return name, step.group
    return None


def _clash(one: ThinkStep, other: ThinkStep) -> bool:
    kinds = {one.step_type, other.step_type}
    if StepType.WRITE not in kinds or not kinds <= {StepType.WRITE, StepType.READ}:
        return False
    tables = _table_of(one), _table_of(other)
    if None in tables:
        return one.subdomain == other.subdomain
    return tables[0] == tables[1]


def _table_of(step: ThinkStep) -> str | None:
    if step.query is not None:
        return step.query.table
    return step.write.table if step.write is not None and step.write.table else None


def _put_after_producers(draft: _PlanDraft, done: Collection[str]) -> None:
    """Have whoever reasons about data come after somebody who brings it.

    Only the first group has nothing before it; there, analysis moves behind the others, or goes.
    """
    while True:
        _close_gaps(draft)
        first = [(name, step) for name, step in draft.steps if step.group == 0]
        judging = {name for name, step in first if step.step_type is StepType.ANALYZE}
        if not judging:
            return
        if len(judging) < len(first):
            _shift(draft, judging)
            return
        for name, step in first:
            draft.problems.append(f"{name}: nothing is read before it that it could look at")
            draft.notices.append(step.description)
        draft.steps = [each for each in draft.steps if each[0] not in judging]
        _drop_orphans(draft, done)


def _shift(draft: _PlanDraft, moved: Collection[str], group: int = 0) -> None:
    """Move some steps of a group behind it, and everything after them by as much."""
    draft.steps = [
        (name, step.model_copy(update={"group": step.group + 1}))
        if name in moved or step.group > group
        else (name, step)
        for name, step in draft.steps
    ]
    draft.steps.sort(key=lambda each: each[1].group)


def _close_gaps(draft: _PlanDraft) -> None:
    """Number groups from 0 without gaps."""
    numbers = {
        group: place for place, group in enumerate(sorted({s.group for _, s in draft.steps}))
    }
    draft.steps = [
        (name, step.model_copy(update={"group": numbers[step.group]})) for name, step in draft.steps
    ]


def _finished(draft: _PlanDraft, first_group: int, done: Collection[str]) -> list[ThinkStep]:
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
