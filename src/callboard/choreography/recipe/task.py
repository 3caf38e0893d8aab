"""What a run of a recipe keeps in its arguments: the recipe as it was, the task, the agents.

Because all of it lies in the run, an edited recipe never changes a run under way, and a retry or a
fork goes on with what the first run was started with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from callboard.choreography.recipe.definition import Recipe, recipe_from
from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.vocabulary import Content, Trust


@dataclass(frozen=True, slots=True)
class RecipeTask(Coded):
    """What the user wants: words, arguments, and the task of a plan it may come from."""

    description: str
    initial_args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    session_plan_task_id: Json = None

    def root(self) -> dict[str, Json]:
        """Return what references to `task` read."""
        return {**self.to_json(), "args": dict(self.initial_args)}

    def content(self) -> Content:
        """Return the task as agents are told it: the words, and the arguments line by line."""
        lines = [self.description]
        lines += [f"{name}: {_shown(value)}" for name, value in self.initial_args.items()]
        return Content("\n".join(lines), "user", Trust.TRUSTED)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A run's arguments, read."""

    recipe: Recipe
    task: RecipeTask
    # Archetype to the id of the agent who plays it in this run.
    agents: Mapping[str, str] = field(default_factory=dict[str, str])
    # Path to the sha256 the file had when the run was started; None if it was not there.
    seen: Mapping[str, str | None] = field(default_factory=dict[str, str | None])

    @property
    def is_users_own(self) -> bool:
        """Whether the user asked for this very run, and not for a plan it belongs to."""
        return self.task.session_plan_task_id is None

    def to_args(self) -> dict[str, Json]:
        """Return the arguments a run is started with."""
        return {
            "recipe": self.recipe.to_json(),
            "task": self.task.to_json(),
            "agents": dict(self.agents),
            "seen": dict(self.seen),
        }

    @classmethod
    def from_args(cls, args: Mapping[str, Any]) -> "Assignment":
        """Read the arguments of a run."""
        return cls(
            recipe=recipe_from(args["recipe"], "recipe.json"),
            task=RecipeTask.from_json(args["task"]),
            agents=args.get("agents", {}),
            seen=args.get("seen", {}),
        )


def _shown(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value)
