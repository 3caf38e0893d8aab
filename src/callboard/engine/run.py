"""Run: the handle a choreography holds. What must not be lost goes through `step`."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final, Generic, Literal, TypeVar

from callboard.core.canonical import Json, digest
from callboard.core.errors import CallboardError, ErrorRecord
from callboard.core.events import Emitted, Event, EventBody
from callboard.core.vocabulary.run import Effect, Question, StepKind, StepState
from callboard.engine.execution import perform, replay
from callboard.engine.live import LiveRun
from callboard.engine.scope import Finding, StepPlan, StepScope
from callboard.engine.waiting import ask, nap
from callboard.store.connection import Connection
from callboard.store.journal.runs import holds

T = TypeVar("T")

_NO_INPUTS: Final = digest(None)


@dataclass(frozen=True, slots=True)
class BranchFailed:
    """How a branch ended that was allowed to fail without stopping its siblings."""

    error: ErrorRecord


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a collected branch gave: a value, or the error it ended with."""

    value: T | None = None
    failed: BranchFailed | None = None


class Run:
    """A durable execution, or one branch of it: the same run with a longer key prefix."""

    def __init__(self, live: LiveRun, prefix: str = "") -> None:
        """Wrap a live run; `prefix` is put before every key."""
        self._live = live
        self._prefix = prefix

    @property
    def id(self) -> str:
        """The run's id."""
        return self._live.record.id

    @property
    def session_id(self) -> str:
        """The session the run belongs to."""
        return self._live.record.session_id

    @property
    def choreography(self) -> str:
        """The name of what is executed."""
        return self._live.record.choreography

    @property
    def args(self) -> dict[str, Json]:
        """What the run was started with."""
        return self._live.record.args

    def key(self, key: str) -> str:
        """Return the full path of a key in this branch."""
        return f"{self._prefix}{key}"

    def holds(self, key: str) -> bool:
        """Say whether the journal holds a step that will be replayed and not executed."""
        known = self._live.journal.get(f"{self._prefix}{key}")
        return known is not None and known.state in (StepState.DONE, StepState.FAILED)

    def recall(self, key: str) -> Json:
        """Return what a step that `holds` gave, or raise its error, whatever it was made from."""
        full = f"{self._prefix}{key}"
        self._live.claim_key(full)
        return replay(self._live, self._live.journal[full])

    @property
    def is_held(self) -> bool:
        """Whether the run is paused, so that no new step begins."""
        return self._live.is_held

    async def durable(self) -> None:
        """Wait until everything that was recorded is on disk: before anything leaves the process.

        A step that is not `pure`, a model request and a question do so by themselves.
        """
        await self._live.backlog.durable()

    async def until_open(self) -> None:
        """Wait while the run is paused."""
        await self._live.admit()

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """Show the run as waiting while something outside of it must happen first."""
        live = self._live
        live.sleepers += 1
        live.chore(live.settle())
        try:
            yield
        finally:
            live.sleepers -= 1
        # Before the next step begins: while one executes, the state is left as it is.
        await live.settle()

    async def step(
        self,
        key: str,
        act: Callable[[StepScope], Awaitable[Json]],
        *,
        inputs: Json = None,
        kind: StepKind = StepKind.WORK,
        effect: Effect = Effect.IDEMPOTENT,
        slot: str | None = None,
        observe: Callable[[], Awaitable[Json]] | None = None,
        probe: Callable[[Json], Awaitable[Finding]] | None = None,
        confirm: Callable[[StepScope, Json], Awaitable[Json]] | None = None,
    ) -> Json:
        """Execute a function once and journal its result; afterwards return what is journaled.

        Args:
            key: The step's path, unique in the run and stable across code changes.
            act: The work. What it returns must be JSON.
            inputs: What the result depends on; a finished step with other inputs is an error.
            kind: What kind of work it is, for the reader of the journal.
            effect: What repeating it means. `pure`: it looks at most, and nothing outside changes
                or learns of it. `idempotent`: it may change something, and may be repeated.
                `once`: it must not be repeated.
            slot: The name under which later readers find the output.
            observe: For `once`: looks at the world before anything is done.
            probe: For `once`: finds out whether an interrupted effect took place, by what was
                observed before it; None if nobody had looked, or that is forgotten.
            confirm: For `once`: turns a probe's finding into the output, with its writes.
        """
        plan = StepPlan(
            key=f"{self._prefix}{key}",
            act=act,
            input_hash=_NO_INPUTS if inputs is None else digest(inputs),
            kind=kind,
            effect=effect,
            slot=slot,
            observe=observe,
            probe=probe,
            confirm=confirm,
        )
        return await perform(self._live, plan)

    def branch(self, name: str) -> "Run":
        """Return the same run with `name/` before every key."""
        return Run(self._live, f"{self._prefix}{name}/")

    async def parallel(
        self,
        branches: Mapping[str, Callable[["Run"], Awaitable[T]]],
        *,
        limit: int | None = None,
    ) -> dict[str, T]:
        """Execute branches at once and return their values; the first failure cancels the rest."""
        outcomes = await self._spread(branches, "cancel", limit)
        return {name: outcome.value for name, outcome in outcomes.items()}  # type: ignore[misc]

    async def collect(
        self,
        branches: Mapping[str, Callable[["Run"], Awaitable[T]]],
        *,
        limit: int | None = None,
    ) -> dict[str, Outcome[T]]:
        """Execute branches at once and return what each gave; a failure leaves the rest alone."""
        return await self._spread(branches, "collect", limit)

    async def _spread(
        self,
        branches: Mapping[str, Callable[["Run"], Awaitable[T]]],
        on_failure: Literal["cancel", "collect"],
        limit: int | None,
    ) -> dict[str, Outcome[T]]:
        room = asyncio.Semaphore(limit or max(1, len(branches)))

        async def one(name: str, work: Callable[["Run"], Awaitable[T]]) -> Outcome[T]:
            async with room:
                try:
                    return Outcome(value=await work(self.branch(name)))
                except CallboardError as error:
                    if on_failure == "cancel":
                        raise
                    record = self._live.backstage.classifier.record(error)
                    return Outcome(failed=BranchFailed(record))

        try:
            async with asyncio.TaskGroup() as group:
                tasks = {
                    name: group.create_task(one(name, work)) for name, work in branches.items()
                }
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors
        return {name: task.result() for name, task in tasks.items()}

    async def ask_human(self, key: str, question: Question, *, inputs: Json = None) -> Json:
        """Ask the human and return the answer, which may come after days and restarts.

        An answer holds for the words of the question, or for `inputs` if they are given.
        """
        depends_on = asdict(question) if inputs is None else inputs
        return await ask(self._live, f"{self._prefix}{key}", question, digest(depends_on))

    async def sleep(self, key: str, seconds: float) -> None:
        """Wait for a time that goes on passing while no process runs."""
        await nap(self._live, f"{self._prefix}{key}", seconds)

    async def emit(self, name: str, data: Json = None) -> None:
        """Store an event of the choreography's own; repeated when the run is resumed."""
        live, body = self._live, Emitted(name, data)

        def work(connection: Connection) -> None:
            live.guard(holds(connection, live.record.id, live.owner))
            live.event(connection, body)

        live.hand_in(work, 0)

    def show(self, body: EventBody, key: str | None = None) -> None:
        """Show something to whoever watches in this process, without storing it."""
        live = self._live
        event = Event(
            0,
            live.backstage.clock.now_ms(),
            body,
            live.record.session_id,
            live.record.id,
            f"{self._prefix}{key}" if key is not None else None,
        )

        def show() -> None:
            if live.backlog.failure is None:
                live.backstage.broadcast(event)

        live.backlog.when_durable(show)


def _first(errors: BaseExceptionGroup[Any]) -> BaseException:
    """Return the error that ended a group: a halt before anything else, else the first."""
    leaves: list[BaseException] = []
    pending: list[BaseException] = [errors]
    while pending:
        error = pending.pop(0)
        if isinstance(error, BaseExceptionGroup):
            pending.extend(error.exceptions)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        else:
            leaves.append(error)
    halts = [leaf for leaf in leaves if not isinstance(leaf, Exception)]
    return halts[0] if halts else leaves[0]
