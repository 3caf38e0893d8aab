"""References between steps: `g0.s0.id` names what a step will bring. Pure.

When steps are moved their names change, so everything that names them is rewritten with them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from callboard.choreography.turn.requests import WriteRequest
from callboard.choreography.turn.shapes import ThinkStep

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
