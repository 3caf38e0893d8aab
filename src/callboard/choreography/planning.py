"""Planning: a wish becomes tasks, by one call to the Chief or by code, and a stored draft.

What the Chief made of it is checked before anything is believed.

What the project can do comes from the pack; nothing here knows a recipe by name.

Splits at commas and conjunctions where each side can be routed; one task per scene that is named.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from callboard.choreography.definition import StagedFunction
from callboard.choreography.recipe.routing import Routing
from callboard.choreography.staffing import CHIEF, find_agent, tier_of
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.vocabulary import Content, Effect, ModelTier, Plan, Task, Trust
from callboard.replies import JsonProblem, extract_json
from callboard.studio.plan_changes import (
    RoutedTask,
    find_cycle,
    in_dependency_order,
    routed,
    unblocked,
)
from callboard.studio.plans import plan_to_json
from callboard.studio.studio import Studio

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


_BREAKS: Final = re.compile(
    r"(?:(?<!\s)\s++)?+[,;.]\s++(?:(?:and|then)\s++)*+|(?<!\s)\s++(?:and\s++then|then|and)\s++"
)
_SCENES: Final = re.compile(
    r"\bscenes?\s+(\d+(?:\s*(?:,|and|&|,\s*and)\s*\d+)+|\d+\s*(?:-|–|to)\s*\d+)", re.IGNORECASE
)
_RANGE: Final = re.compile(r"(\d+)\s*(?:-|–|to)\s*(\d+)")
_MAX_RANGE: Final = 20

IsRoutable = Callable[[str], bool]


def split_wish(wish: str, is_routable: IsRoutable, makes: IsRoutable) -> tuple[Task, ...]:
    """Return the tasks of a wish; those that read wait for those that make, in order.

    `makes` says whether a task writes something that later tasks read.
    """
    clauses = [one for clause in _clauses(wish, is_routable) for one in _per_scene(clause, makes)]
    tasks: list[Task] = []
    makers: list[int] = []
    for number, clause in enumerate(clauses, start=1):
        does_make = makes(clause)
        deps = tuple(makers[-1:] if does_make else makers)
        tasks.append(Task(number, clause, deps=deps))
        if does_make:
            makers.append(number)
    return tuple(tasks)


def _clauses(wish: str, is_routable: IsRoutable) -> list[str]:
    """Split where a piece can stand alone; a piece that cannot belongs to the one before it."""
    text = " ".join(wish.split()).rstrip(".!")
    pieces = [piece for piece in _BREAKS.split(text) if piece]
    clauses: list[str] = []
    position = 0
    for piece in pieces:
        start = text.index(piece, position)
        gap, position = text[position:start], start + len(piece)
        if clauses and not is_routable(piece):
            clauses[-1] += gap + piece
        else:
            clauses.append(piece)
    return clauses or [text]


def _per_scene(clause: str, makes: IsRoutable) -> list[str]:
    found = _SCENES.search(clause)
    if found is None or not makes(clause):
        return [clause]
    numbers = _numbers(found[1])
    return [f"{clause[: found.start()]}scene {number}{clause[found.end() :]}" for number in numbers]


def _numbers(text: str) -> list[int]:
    span = _RANGE.fullmatch(text)
    if span is not None:
        first, last = int(span[1]), int(span[2])
        return list(range(first, min(last, first + _MAX_RANGE - 1) + 1))
    return [int(number) for number in re.findall(r"\d+", text)]


@dataclass(frozen=True, slots=True)
class PlanMaker:
    """What planning needs to know of a project."""

    route: Callable[[str], Routing]
    kinds_of_work: Callable[[], str]
    project: Callable[[], str]
    # Whether tasks of a recipe write something that later tasks read.
    makes: Callable[[str], bool]

    def routed(self, description: str) -> RoutedTask:
        """Return where a task's words lead, or what they lack."""
        found = self.route(description)
        if found.recipe_id is None:
            return RoutedTask(None, reason=found.reason)
        reason = f"it needs {', '.join(found.missing_args)}" if found.missing_args else ""
        return RoutedTask(found.recipe_id, found.initial_args, reason)

    def routed_with(self, description: str, answer: str) -> RoutedTask:
        """Return where a task leads once its question is answered."""
        # An answer may be a whole sentence or just the thing that was asked for.
        found = self.routed(f"{description}: {answer}")
        return found if not found.needs_scoping else self.routed(f"{description} about {answer}")

    def split(self, wish: str) -> tuple[Task, ...]:
        """Return the tasks of a wish without asking anybody."""

        def makes(text: str) -> bool:
            recipe_id = self.route(text).recipe_id
            return recipe_id is not None and self.makes(recipe_id)

        return split_wish(wish, lambda text: self.route(text).routable, makes)


MakerOf = Callable[[Studio], PlanMaker]


def check_wish(intent: str) -> None:
    """Refuse a wish that says nothing."""
    if not intent.strip():
        raise InvalidInput("A plan needs a wish", fix='Say it: `callboard plan new "…"`.')


def plan_choreography(maker_of: MakerOf, max_tasks: int = MAX_TASKS) -> StagedFunction:
    """Return the choreography that turns a wish into a draft of a plan."""

    async def plan(stage: Stage, intent: str) -> Any:
        """Split what you want into tasks, for you to approve."""
        check_wish(intent)
        maker = maker_of(stage.studio)
        tasks = await _tasks(stage, maker, intent, max_tasks)

        async def store() -> Json:
            return await _store(stage, maker, intent, tasks)

        return await stage.step("store", store, effect=Effect.IDEMPOTENT)

    return StagedFunction(plan)


async def _tasks(stage: Stage, maker: PlanMaker, intent: str, max_tasks: int) -> tuple[Task, ...]:
    given: dict[str, Any] = {
        "intent": stage.user(intent),
        "kinds_of_work": Content(maker.kinds_of_work(), "recipes", Trust.TRUSTED),
        "project": maker.project(),
    }
    chief = find_agent(stage.studio, CHIEF, pack_of(stage.run))
    if tier_of(stage.studio, chief) is not ModelTier.MINIMAL:
        reply = await stage.ask("decompose", CHIEF, **given)
        return read_tasks(reply.text, max_tasks)
    tasks = maker.split(intent)[:max_tasks]
    options = [task.description for task in tasks]
    first = await stage.choose("decompose", CHIEF, options, **given)
    chosen = tasks[options.index(first)]
    # The small model says what matters most; what waits for what is not its to decide.
    return in_dependency_order((chosen, *(task for task in tasks if task is not chosen)))


async def _store(stage: Stage, maker: PlanMaker, intent: str, tasks: tuple[Task, ...]) -> Json:
    """Store the draft once, even if the step is repeated after a crash."""
    plans = stage.studio.plans
    for known in plans.list(stage.run.session_id):
        if known.decomposed_by == stage.run.id:
            return plan_to_json(known)
    found = tuple(routed(task, maker.routed(task.description)) for task in tasks)
    draft = Plan("", stage.run.session_id, found, intent=intent, decomposed_by=stage.run.id)
    return plan_to_json(await plans.add(unblocked(replace(draft))))
