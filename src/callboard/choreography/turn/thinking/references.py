"""References between steps: which step needs which, and what must be asked before they run."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.turn.domain_parts import TurnMode
from callboard.choreography.turn.requests import WriteRequest
from callboard.choreography.turn.shapes import (
    StepResult,
    StepStatus,
    StepType,
    ThinkOutput,
    ThinkStep,
)

STEP_ID: Final = re.compile(r"g\d+\.s\d+")
SYMBOL: Final = re.compile(r"(?P<step>g\d+\.s\d+)(?P<path>(?:\.\w+)*)")


def step_named(text: str) -> str | None:
    """Return the step a reference names, or None if it names none."""
    found = SYMBOL.fullmatch(text)
    return None if found is None else found["step"]


def rewrite_strings(value: Any, change: Callable[[str], Any]) -> Any:
    """Return JSON with every string changed, at any depth."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [rewrite_strings(each, change) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {name: rewrite_strings(each, change) for name, each in pairs.items()}
    return value


def rename_steps(step: ThinkStep, names: Mapping[str, str]) -> ThinkStep:
    """Return a step whose references follow steps to their new names."""

    def change(text: str) -> str:
        found = SYMBOL.fullmatch(text)
        if found is None or found["step"] not in names:
            return text
        return f"{names[found['step']]}{found['path']}"

    write = step.write
    if write is not None:
        changed = rewrite_strings(write.model_dump(mode="json", by_alias=True), change)
        write = WriteRequest.model_validate(changed)
    return step.model_copy(
        update={
            "inputs": [change(each) for each in step.inputs],
            "referenced_entities": [change(each) for each in step.referenced_entities],
            "write": write,
        }
    )


def needed_steps(step: ThinkStep) -> set[str]:
    """Return the steps that one names: it cannot run without them."""
    named = {each for each in step.inputs if STEP_ID.fullmatch(each)}
    referenced = {step_named(each) for each in step.referenced_entities} - {None}
    return named | cast("set[str]", referenced) | written_steps(step)


def written_steps(step: ThinkStep) -> set[str]:
    """Return the steps whose results a write is made of."""
    if step.write is None:
        return set()
    texts = _strings(step.write.model_dump(mode="json", by_alias=True))
    return {found for each in texts if (found := step_named(each)) is not None}


def _strings(value: Any) -> list[str]:
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    rewrite_strings(value, keep)
    return found


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


_SIMPLE_STEPS: Final = 2
BULK_ROWS: Final = 3


def must_propose(plan: ThinkOutput, mode: TurnMode) -> bool:
    """Say whether a plan waits for the user's word; short plans never do."""
    writes = [step for step in plan.steps if step.step_type is StepType.WRITE]
    if not writes or len(plan.steps) <= _SIMPLE_STEPS:
        return False
    if mode.consent == "proposal":
        return True
    return mode.consent == "optional" and any(not _saves_draft(each) for each in writes)


def must_confirm_rows(count: int, mode: TurnMode) -> bool:
    """Say whether a write of so many rows waits for the user's word in a mode."""
    return mode.consent == "proposal" and count > BULK_ROWS


def _saves_draft(step: ThinkStep) -> bool:
    """Say whether a write only keeps what was generated."""
    return step.write is not None and step.write.from_content is not None
