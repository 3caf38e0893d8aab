"""Which steps need which: who is given whose results, and who is left out when one fails. Pure."""

from collections.abc import Mapping, Sequence

from callboard.choreography.turn.shapes import StepResult, StepStatus, StepType, ThinkStep
from callboard.choreography.turn.thinking import needed_steps

_BROKEN = (StepStatus.FAILED, StepStatus.SKIPPED)


def needs(step: ThinkStep, steps: Sequence[ThinkStep]) -> set[str]:
    """Return the steps one cannot do without: those it names, else those of the group before."""
    named = needed_steps(step)
    if named:
        return named
    is_open = step.step_type is StepType.WRITE and step.write is None
    if step.step_type in (StepType.ANALYZE, StepType.GENERATE) or is_open:
        return {each.id for each in steps if each.group == step.group - 1}
    return set()


def broken_need(
    step: ThinkStep, steps: Sequence[ThinkStep], results: Mapping[str, StepResult]
) -> str | None:
    """Return what keeps a step from being tried, in words; None if nothing does."""
    for name in sorted(needs(step, steps)):
        result = results.get(name)
        if result is not None and result.status in _BROKEN:
            return result.summary or name
    return None


def inputs_of(
    step: ThinkStep, steps: Sequence[ThinkStep], results: Mapping[str, StepResult]
) -> tuple[StepResult, ...]:
    """Return the results a step may look at."""
    if step.step_type is StepType.READ:
        return ()
    before = [each.id for each in steps if each.group == step.group - 1]
    names = dict.fromkeys(step.inputs or before)
    return tuple(results[name] for name in names if name in results)


def unmet(steps: Sequence[ThinkStep], results: Mapping[str, StepResult], group: int) -> list[str]:
    """Return what a group did not bring that it should have, in words."""
    found: list[str] = []
    for step in (each for each in steps if each.group == group):
        result = results.get(step.id)
        if result is None:
            continue
        is_needed = any(
            step.id in needed_steps(e) and _is_starved(e, results) for e in steps if e.group > group
        )
        if result.status is StepStatus.FAILED:
            found.append(f"{step.id} failed: {'; '.join(result.errors)}")
        elif result.status is StepStatus.EMPTY and is_needed and step.step_type is StepType.READ:
            found.append(f"{step.id} found nothing, and later steps need it")
        elif step.step_type is StepType.WRITE and _wrote_nothing(result):
            found.append(f"{step.id} wrote nothing")
    return found


def _is_starved(step: ThinkStep, results: Mapping[str, StepResult]) -> bool:
    """Say whether a step would have nothing at all to work on."""
    named = [results[each] for each in needed_steps(step) if each in results]
    return all(each.status is StepStatus.EMPTY for each in named)


def _wrote_nothing(result: StepResult) -> bool:
    return result.status is StepStatus.OK and not result.result.get("ids")
