"""The desk where plans are made: one call to the Chief, routing by code, and a stored draft.

What the project can do comes from the pack; nothing here knows a recipe by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from callboard.choreography.definition import StagedFunction
from callboard.choreography.planning.decomposition import MAX_TASKS, read_tasks
from callboard.choreography.planning.wishes import split_wish
from callboard.choreography.recipe.routing import Routing
from callboard.choreography.staffing import CHIEF, find_agent, tier_of
from callboard.choreography.stage import Stage
from callboard.choreography.values import pack_of
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import Content, Effect, ModelTier, Plan, Task, Trust
from callboard.studio.plan_changes import Routed, in_dependency_order, routed, unblocked
from callboard.studio.plans import plan_to_json
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class PlanDesk:
    """What planning needs to know of a project."""

    route: Callable[[str], Routing]
    kinds_of_work: Callable[[], str]
    project: Callable[[], str]
    # Whether tasks of a recipe write something that later tasks read.
    makes: Callable[[str], bool]

    def routed(self, description: str) -> Routed:
        """Return where a task's words lead, or what they lack."""
        found = self.route(description)
        if found.recipe_id is None:
            return Routed(None, reason=found.reason)
        reason = f"it needs {', '.join(found.missing_args)}" if found.missing_args else ""
        return Routed(found.recipe_id, found.initial_args, reason)

    def routed_with(self, description: str, answer: str) -> Routed:
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


Desks = Callable[[Studio], PlanDesk]


def check_wish(intent: str) -> None:
    """Refuse a wish that says nothing."""
    if not intent.strip():
        raise InvalidInput("A plan needs a wish", fix='Say it: `callboard plan new "…"`.')


def plan_choreography(desks: Desks, max_tasks: int = MAX_TASKS) -> StagedFunction:
    """Return the choreography that turns a wish into a draft of a plan."""

    async def plan(stage: Stage, intent: str) -> Any:
        """Split what you want into tasks, for you to approve."""
        check_wish(intent)
        desk = desks(stage.studio)
        tasks = await _tasks(stage, desk, intent, max_tasks)

        async def store() -> Json:
            return await _store(stage, desk, intent, tasks)

        return await stage.step("store", store, effect=Effect.IDEMPOTENT)

    return StagedFunction(plan)


async def _tasks(stage: Stage, desk: PlanDesk, intent: str, max_tasks: int) -> tuple[Task, ...]:
    given: dict[str, Any] = {
        "intent": stage.user(intent),
        "kinds_of_work": Content(desk.kinds_of_work(), "recipes", Trust.TRUSTED),
        "project": desk.project(),
    }
    chief = find_agent(stage.studio, CHIEF, pack_of(stage.run))
    if tier_of(stage.studio, chief) is not ModelTier.MINIMAL:
        reply = await stage.ask("decompose", CHIEF, **given)
        return read_tasks(reply.text, max_tasks)
    tasks = desk.split(intent)[:max_tasks]
    options = [task.description for task in tasks]
    first = await stage.choose("decompose", CHIEF, options, **given)
    chosen = tasks[options.index(first)]
    # The small model says what matters most; what waits for what is not its to decide.
    return in_dependency_order((chosen, *(task for task in tasks if task is not chosen)))


async def _store(stage: Stage, desk: PlanDesk, intent: str, tasks: tuple[Task, ...]) -> Json:
    """Store the draft once, even if the step is repeated after a crash."""
    plans = stage.studio.plans
    for known in plans.list(stage.run.session_id):
        if known.decomposed_by == stage.run.id:
            return plan_to_json(known)
    found = tuple(routed(task, desk.routed(task.description)) for task in tasks)
    draft = Plan("", stage.run.session_id, found, intent=intent, decomposed_by=stage.run.id)
    return plan_to_json(await plans.add(unblocked(replace(draft))))
