"""A recipe being played: the stage, what was assigned, what has been gathered and made."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

from callboard.choreography.grounding import Grounding
from callboard.choreography.recipe.definition import Recipe
from callboard.choreography.recipe.running.slots import Slots
from callboard.choreography.recipe.running.turns import Turn
from callboard.choreography.recipe.task import Assignment
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.settings.sections import PipelineSettings
from callboard.core.vocabulary import StepKind
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.studio.studio import Studio


@dataclass(frozen=True, slots=True)
class Play:
    """Everything the steps of one run share."""

    stage: Stage
    assignment: Assignment
    slots: Slots
    turn: Turn
    grounding: Grounding | None

    @property
    def studio(self) -> Studio:
        """The studio it is played in."""
        return self.stage.studio

    @property
    def run(self) -> Run:
        """The run."""
        return self.stage.run

    @property
    def recipe(self) -> Recipe:
        """The recipe, as it was when the run was started."""
        return self.assignment.recipe

    @property
    def settings(self) -> PipelineSettings:
        """The settings of recipes in force."""
        return self.studio.settings.pipeline

    async def fail(self, key: str, error: CallboardError, kind: StepKind) -> NoReturn:
        """Put on record that a step cannot be done, and end the run with it."""

        async def act(_scope: StepScope) -> Json:
            raise error

        await self.step(key, act, kind=kind)
        raise error

    async def step(
        self,
        key: str,
        act: Callable[[StepScope], Awaitable[Json]],
        *,
        kind: StepKind,
        slot: str | None = None,
    ) -> Json:
        """Journal something that depends on nothing but what is journaled already."""
        if self.run.holds(key):
            return self.run.recall(key)
        await self.turn.ready(key)
        return await self.run.step(key, act, kind=kind, slot=slot)
