"""A recipe being played: what it was assigned and has made, and how many are played at once.

A run keeps its turn from step to step. It gives it up while it is paused or waits for the human,
and at the end of a step when the user waits for something of their own.
"""

import asyncio
import heapq
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from callboard.choreography.grounding import Grounding
from callboard.choreography.pages import PageFinder, Telling
from callboard.choreography.recipe.definition import Recipe
from callboard.choreography.recipe.running.slots import RunSlots
from callboard.choreography.recipe.task import Assignment
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.settings.sections import PipelineSettings
from callboard.core.vocabulary import Effect, StepKind
from callboard.engine.run import Run
from callboard.engine.scope import StepScope
from callboard.studio.studio import Studio

Rank = tuple[bool, str]
"""What decides who is next: the user's own first, then whoever came first."""


class Turns:
    """The turns of one process."""

    def __init__(self, limit: Callable[[], int]) -> None:
        """Take how many runs may execute at once."""
        self._limit = limit
        self._taken = 0
        # Filled by those who wait, emptied when a turn is given back; the number breaks ties.
        self._line: list[tuple[Rank, int, asyncio.Future[None]]] = []
        self._number = 0

    @asynccontextmanager
    async def of(self, run: Run, *, is_users_own: bool) -> "AsyncGenerator[PlayTurn]":
        """Let a run take turns for as long as the context lasts."""
        turn = PlayTurn(self, run, (not is_users_own, run.id))
        try:
            yield turn
        finally:
            turn.give_back()

    def is_wanted_before(self, rank: Rank) -> bool:
        """Say whether somebody waits who goes first."""
        self._drop_gone()
        return bool(self._line) and self._line[0][0] < rank

    async def take(self, run: Run, rank: Rank) -> None:
        """Take a turn, waiting for it if need be; a run that waits says so."""
        if self._taken < self._limit() and not self.is_wanted_before(rank):
            self._taken += 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number += 1
        heapq.heappush(self._line, (rank, self._number, future))
        try:
            async with run.waiting():
                await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                # The turn had been given in the same moment.
                self.give_back()
            future.cancel()
            raise

    def give_back(self) -> None:
        """Hand a turn to whoever is next."""
        self._taken -= 1
        self._drop_gone()
        while self._line and self._taken < self._limit():
            _, _, future = heapq.heappop(self._line)
            if not future.done():
                self._taken += 1
                future.set_result(None)
            self._drop_gone()

    def _drop_gone(self) -> None:
        while self._line and self._line[0][2].done():
            heapq.heappop(self._line)


class PlayTurn:
    """One run's part in it."""

    def __init__(self, turns: Turns, run: Run, rank: Rank) -> None:
        """Begin without a turn; it is taken before the first step that executes."""
        self._turns = turns
        self._run = run
        self._rank = rank
        self._has_turn = False

    async def ready(self, key: str) -> None:
        """Return when a step may execute; one that is only replayed needs no turn."""
        if self._run.holds(key):
            return
        while True:
            if self._has_turn and (self._run.is_held or self._turns.is_wanted_before(self._rank)):
                self.give_back()
            await self._run.until_open()
            if not self._has_turn:
                await self._turns.take(self._run, self._rank)
                self._has_turn = True
            if not self._run.is_held:
                return

    def give_back(self) -> None:
        """Let others go on."""
        if self._has_turn:
            self._has_turn = False
            self._turns.give_back()

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[None]:
        """Give the turn up while the human is waited for."""
        had_turn = self._has_turn
        self.give_back()
        yield
        if had_turn:
            await self._turns.take(self._run, self._rank)
            self._has_turn = True


PROOF: Final = "proof"
"""What code finds in a text before it is written: a thing to read, and a check."""


@dataclass(frozen=True, slots=True)
class RecipeHouse:
    """What a pack brings so that recipes can be played in it.

    `seeds` takes arguments out of a request, `describe` puts a request into words that has none;
    both may read the project and are called on a thread. `proof` is the tool that looks at every
    text, as `path` and `text`, before it is written; its payload has a `verdict` and `findings`.
    `pages` finds what of the project an agent reads; `telling` is how the project is told.
    """

    pack: str
    recipes: Path
    seeds: Callable[[Studio, str, Recipe], Mapping[str, Json]] | None = None
    describe: Callable[[Studio, Recipe, Mapping[str, Json]], str] | None = None
    grounding: Callable[[Studio], Grounding] | None = None
    proof: str | None = None
    pages: PageFinder | None = None
    telling: Telling | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """What an agent's step may read beside its slots."""
        pages = self.pages.kinds if self.pages is not None else ()
        return (*pages, *((PROOF,) if self.proof is not None else ()))


@dataclass(frozen=True, slots=True)
class Play:
    """Everything the steps of one run share."""

    stage: Stage
    assignment: Assignment
    slots: RunSlots
    turn: PlayTurn
    house: RecipeHouse
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
        """Journal what only looks, and depends on nothing but what is journaled already."""
        if self.run.holds(key):
            return self.run.recall(key)
        await self.turn.ready(key)
        return await self.run.step(key, act, kind=kind, effect=Effect.PURE, slot=slot)
