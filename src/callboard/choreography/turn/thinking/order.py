"""The order of a plan's steps: none before what it needs, none beside what it touches."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.choreography.turn.thinking.references import needed_steps, step_named, written_steps


@dataclass
class PlanDraft:
    """A plan while it is mended: its steps with the names they came with."""

    steps: list[tuple[str, ThinkStep]]
    problems: list[str] = field(default_factory=list[str])
    notices: list[str] = field(default_factory=list[str])


def drop_orphans(draft: PlanDraft, done: Collection[str]) -> None:
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


def separate_clashes(draft: PlanDraft) -> None:
    """Move what would run beside what it needs, or beside a write of its table, behind that."""
    while (found := _first_clash(draft.steps)) is not None:
        moved, group = found
        shift_groups(draft, {moved}, group)


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


def put_after_producers(draft: PlanDraft, done: Collection[str]) -> None:
    """Have whoever reasons about data come after somebody who brings it.

    Only the first group has nothing before it; there, analysis moves behind the others, or goes.
    """
    while True:
        close_gaps(draft)
        first = [(name, step) for name, step in draft.steps if step.group == 0]
        judging = {name for name, step in first if step.step_type is StepType.ANALYZE}
        if not judging:
            return
        if len(judging) < len(first):
            shift_groups(draft, judging)
            return
        for name, step in first:
            draft.problems.append(f"{name}: nothing is read before it that it could look at")
            draft.notices.append(step.description)
        draft.steps = [each for each in draft.steps if each[0] not in judging]
        drop_orphans(draft, done)


def shift_groups(draft: PlanDraft, moved: Collection[str], group: int = 0) -> None:
    """Move some steps of a group behind it, and everything after them by as much."""
    draft.steps = [
        (name, step.model_copy(update={"group": step.group + 1}))
        if name in moved or step.group > group
        else (name, step)
        for name, step in draft.steps
    ]
    draft.steps.sort(key=lambda each: each[1].group)


def close_gaps(draft: PlanDraft) -> None:
    """Number groups from 0 without gaps."""
    numbers = {
        group: place for place, group in enumerate(sorted({s.group for _, s in draft.steps}))
    }
    draft.steps = [
        (name, step.model_copy(update={"group": numbers[step.group]})) for name, step in draft.steps
    ]
