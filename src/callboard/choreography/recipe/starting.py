"""Starting a run of a recipe: words, arguments, agents, and what may keep it from starting."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, cast

from pydantic import Field

from callboard.choreography.guards import is_interrupted, only_one
from callboard.choreography.recipe.definition import CommitAction, Problem, Recipe, resolve
from callboard.choreography.recipe.definition.wiring import template_problems
from callboard.choreography.recipe.errors import (
    MissingArgs,
    RecipeRunning,
    RefResolutionError,
    invalid,
)
from callboard.choreography.recipe.running.play import RecipeHouse
from callboard.choreography.recipe.running.writing import check_path
from callboard.choreography.recipe.task import Assignment, RecipeTask
from callboard.choreography.staffing import AgentUnavailable, find_agent, tier_of
from callboard.core.canonical import Json
from callboard.core.codec import Closed
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import RunRecord, RunState
from callboard.store.connection import Connection
from callboard.studio.studio import Studio

_OWN: Final = frozenset({"description", "args", "agents", "session_plan_task_id"})


@dataclass(frozen=True, slots=True)
class RecipeRequest(Closed):
    """What somebody wants to have done, before it is completed."""

    description: Annotated[str | None, Field(max_length=20_000)] = None
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    agents: dict[str, str] = field(default_factory=dict[str, str])
    session_plan_task_id: str | int | None = None

    @classmethod
    def read(cls, raw: Mapping[str, Json]) -> "RecipeRequest":
        """Read what `studio.start` was given: a task's arguments may stand beside or in `args`."""
        description = raw.get("description") or ""
        if not isinstance(description, str):
            raise InvalidInput("The description of a task is text", arg="description")
        args = {name: value for name, value in raw.items() if name not in _OWN}
        return cls(
            description=description.strip(),
            args={**args, **_mapping(raw, "args")},
            agents={name: str(each) for name, each in _mapping(raw, "agents").items()},
            session_plan_task_id=raw.get("session_plan_task_id"),
        )


async def complete(
    studio: Studio, house: RecipeHouse, recipe: Recipe, request: RecipeRequest
) -> Assignment:
    """Return what a run is started with, or say what is missing."""
    agents = _cast(studio, house.pack, recipe, request.agents)
    _check_templates(studio, house.pack, recipe, agents)
    task = await asyncio.to_thread(_task, studio, house, recipe, request)
    seen = await asyncio.to_thread(_look, studio, recipe, task)
    return Assignment(recipe, task, agents, seen)


_UNDER_WAY: Final = {
    RunState.WAITING: ("waits for your answer", "Answer it (`callboard answer`)"),
    RunState.PAUSED: ("is paused", "Let it go on (`callboard runs resume {run}`)"),
}


def single_flight(
    studio: Studio, choreography: str, label: str
) -> Callable[[Connection], None] | None:
    """Return what objects to a second run of a recipe while one is under way.

    One that was interrupted is not under way; one that waits for the user, or is paused, is.
    """
    if studio.settings.pipeline.single_flight == "off":
        return None

    def refusal(run: RunRecord) -> RecipeRunning:
        told, fix = _UNDER_WAY.get(run.state, ("is already running", "Wait for it"))
        return RecipeRunning(
            f"{label!r} {told} as {run.id}",
            fix=f"{fix.format(run=run.id)}, cancel it (`callboard runs cancel {run.id}`), or set"
            " pipeline.single_flight to off.",
            run_id=run.id,
        )

    return only_one(choreography, refusal, lambda run: not is_interrupted(studio, run))


def _task(studio: Studio, house: RecipeHouse, recipe: Recipe, request: RecipeRequest) -> RecipeTask:
    args = {name: value for name, value in request.args.items() if value is not None}
    description = request.description
    if not description and house.describe is not None:
        description = house.describe(studio, recipe, args)
    description = description or recipe.label
    missing = [name for name in recipe.required_args if name not in args]
    if missing and house.seeds is not None:
        seeds = house.seeds(studio, description, recipe)
        args.update({name: seeds[name] for name in missing if name in seeds})
        missing = [name for name in missing if name not in args]
    if missing:
        raise MissingArgs(
            f"{recipe.recipe_id} needs {', '.join(missing)}, and the task does not say it:"
            f" {description!r}",
            fix="Give it as an argument, or name the scene, card or theme in the task.",
            missing_args=missing,
            recipe_id=recipe.recipe_id,
        )
    return RecipeTask(description, args, request.session_plan_task_id)


def _cast(studio: Studio, pack: str, recipe: Recipe, wanted: Mapping[str, str]) -> dict[str, str]:
    """Find who plays each role: whom the user named, else the first of the staff."""
    unknown = sorted(set(wanted) - set(recipe.archetypes))
    if unknown:
        raise InvalidInput(
            f"{recipe.recipe_id} has no role {', '.join(unknown)}",
            fix=f"Its roles: {', '.join(recipe.archetypes)}.",
            agents=unknown,
        )
    staff = studio.repertoire.staff(pack)
    chosen: dict[str, str] = {}
    for archetype in recipe.archetypes:
        if archetype in wanted:
            chosen[archetype] = find_agent(studio, wanted[archetype], pack).id
            continue
        able = [agent.id for agent in staff if agent.contract.archetype == archetype]
        if not able:
            raise AgentUnavailable(
                f"{recipe.recipe_id} needs an enabled agent of archetype {archetype!r}",
                fix="Enable one in .callboard/agents.yaml.",
                archetype=archetype,
            )
        chosen[archetype] = able[0]
    return chosen


def _check_templates(studio: Studio, pack: str, recipe: Recipe, agents: Mapping[str, str]) -> None:
    """Refuse to start with a template that could not be filled when its turn comes."""
    prompts = studio.prompts(pack)
    for step in recipe.phase_b:
        tier = tier_of(studio, find_agent(studio, agents[step.agent_archetype], pack))
        for told in template_problems(step, prompts, (tier,)):
            raise invalid([Problem(recipe.recipe_id, step.step_id, told)])


def _look(studio: Studio, recipe: Recipe, task: RecipeTask) -> dict[str, str | None]:
    """Return the hashes of the files the recipe will write, as far as they are known by now."""
    files = studio.tools.files
    seen: dict[str, str | None] = {}
    for commit in recipe.commit:
        if commit.action is not CommitAction.WRITE_FILE:
            continue
        try:
            path = check_path(files, resolve(commit.path, {"task": task.root()}))
        except RefResolutionError:
            # It depends on what a tool will find; its receipt will tell the hash.
            continue
        seen[path] = files.sha256(path)
    return seen


def _mapping(raw: Mapping[str, Json], name: str) -> dict[str, Json]:
    value: Json = raw.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} is {value!r}, not an object", arg=name)
    return cast(dict[str, Any], value)
