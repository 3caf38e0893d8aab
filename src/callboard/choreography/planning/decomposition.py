"""What the Chief made of a wish: tasks, checked before anything is believed."""

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from callboard.core.errors import CallboardError
from callboard.core.vocabulary import Task
from callboard.replies import JsonProblem, extract_json
from callboard.studio.plan_changes import find_cycle, in_dependency_order

MAX_TASKS: Final = 20


class DecompositionInvalid(CallboardError):
    """The Chief's reply is no list of tasks; it is kept, and nobody is asked again."""

    code = "decomposition_invalid"


class _TaskEntry(BaseModel):
    # A model may add fields of its own; what is not asked for is not read.
    model_config = ConfigDict(extra="ignore")

    id: int = Field(ge=1)
    description: str = Field(min_length=1)
    deps: list[int] = Field(default_factory=list[int])
    dod: str | None = None
    scoping_question: str | None = None


class _Tasks(BaseModel):
    tasks: list[_TaskEntry] = Field(min_length=1)


def read_tasks(reply: str, max_tasks: int = MAX_TASKS) -> tuple[Task, ...]:
    """Return the tasks of a reply in an order that can be worked through, or refuse it whole."""
    found = extract_json(reply, _Tasks)
    if isinstance(found, JsonProblem):
        raise _refused("; ".join(found.details[:3]), reply)
    entries = found.value.tasks
    problem = _problem([entry.id for entry in entries], entries, max_tasks)
    if problem:
        raise _refused(problem, reply)
    return in_dependency_order(
        Task(
            id=entry.id,
            description=" ".join(entry.description.split()),
            deps=tuple(dict.fromkeys(entry.deps)),
            dod=(entry.dod or "").strip(),
            scoping_question=(entry.scoping_question or "").strip() or None,
        )
        for entry in entries
    )


def _problem(ids: list[int], entries: list[_TaskEntry], max_tasks: int) -> str:
    if len(entries) > max_tasks:
        return f"{len(entries)} tasks are more than the {max_tasks} a plan may have"
    doubled = sorted({each for each in ids if ids.count(each) > 1})
    if doubled:
        return f"the id {doubled[0]} stands for more than one task"
    blank = [entry.id for entry in entries if not entry.description.strip()]
    if blank:
        return f"task {blank[0]} has no description"
    for entry in entries:
        unknown = [dep for dep in entry.deps if dep not in ids]
        if unknown:
            return f"task {entry.id} waits for task {unknown[0]}, which does not exist"
    ring = find_cycle({entry.id: tuple(entry.deps) for entry in entries})
    if ring:
        return f"tasks wait for each other in a ring: {' → '.join(str(each) for each in ring)}"
    return ""


def _refused(problem: str, reply: str) -> DecompositionInvalid:
    return DecompositionInvalid(
        f"The Chief's plan cannot be used: {problem}",
        fix="Say the wish in other words, or give the Chief a larger model; the reply is kept.",
        reply=reply[:20_000],
    )
