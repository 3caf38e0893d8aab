"""From YAML to a sound loop: its shape, who may do what, and an order in which it can be done."""

from collections.abc import Collection, Iterator
from typing import Any

from pydantic import ValidationError

from callboard.choreography.loop.definition import (
    EVERYBODY,
    Loop,
    LoopInvalid,
    LoopStep,
    RaciRole,
    full_id,
)
from callboard.core.parsing import FileProblem, misfit, parse_yaml


def read_loop(text: str, file: str) -> Loop:
    """Read a loop from the text of its file; everything wrong with it is told at once."""
    try:
        data: Any = parse_yaml(text)
    except FileProblem as problem:
        raise LoopInvalid(problem.at(file), file=file) from problem
    try:
        loop = Loop.model_validate(data)
    except ValidationError as error:
        # Every problem stands by itself: who writes a loop corrects all of them at once.
        told = [f"{file}: {_place(each['loc'])}{misfit(each)}" for each in error.errors()]
        raise _invalid(file, told) from None
    told = [f"{file}: {each}" for each in problems_of(loop)]
    if told:
        raise _invalid(file, told)
    return loop


def _invalid(file: str, told: list[str]) -> LoopInvalid:
    return LoopInvalid(
        "; ".join(told),
        fix="Correct what is named.",
        file=file,
        problems=list(told),
    )


def _place(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(
        "."
    ) + (": " if loc else "")


def problems_of(loop: Loop) -> Iterator[str]:
    """Say what is wrong with a loop whose shape is right."""
    ids = [step.id for step in loop.steps]
    yield from (f"step {each} is there twice" for each in sorted(_twice(ids)))
    made = [kind for step in loop.steps for kind in step.produces]
    yield from (f"{each} is produced by two steps" for each in sorted(_twice(made)))
    yield from (
        f"typical_flow names {each}, which is no step"
        for each in loop.typical_flow
        if full_id(ids, each) is None
    )
    brought = {kind for need in loop.entry_inputs for kind in need.kinds}
    yield from (f"entry input {each} is produced by a step" for each in sorted(brought & {*made}))
    answerable = loop.roles_with(RaciRole.ACCOUNTABLE)
    if len(answerable) != 1 or EVERYBODY in answerable:
        yield f"raci needs exactly one role with A, and has {', '.join(answerable) or 'none'}"
    for step in loop.steps:
        yield from _step_problems(loop, step, frozenset(made))
    ring = _ring(loop)
    if ring:
        yield f"these steps need what each other makes: {', '.join(ring)}"


def _step_problems(loop: Loop, step: LoopStep, made: frozenset[str]) -> Iterator[str]:
    if bool(step.roles) == (step.code is not None):
        yield f"step {step.id} needs either roles or code"
    if step.least_roles is not None and step.least_roles > len(step.roles):
        yield f"step {step.id} asks for {step.least_roles} of {len(step.roles)} roles"
    if step.gate and len(step.produces) != 1:
        yield f"step {step.id} is a gate: it produces one report, not {len(step.produces)}"
    working = {RaciRole.RESPONSIBLE, RaciRole.ACCOUNTABLE, RaciRole.CONSULTED}
    for role in (*step.roles, *step.consults):
        if not loop.parts_of(role) & working:
            yield f"step {step.id} names {role}, who is neither R, A nor C in raci"
    outside = {kind for need in loop.entry_inputs for kind in need.kinds}
    for kind in sorted(step.needs - made - outside):
        yield f"step {step.id} requires {kind}, which no step produces and no entry input brings"


def _ring(loop: Loop) -> list[str]:
    """Return the steps that wait for each other, none if there is an order."""
    waiting = {step.id: step for step in loop.steps}
    missing = {kind for step in loop.steps for kind in step.produces}
    while ready := [step for step in waiting.values() if not step.needs & missing]:
        for step in ready:
            del waiting[step.id]
            missing -= set(step.produces)
    return sorted(waiting)


def _twice(names: Collection[str]) -> set[str]:
    seen: set[str] = set()
    return {each for each in names if each in seen or seen.add(each)}
