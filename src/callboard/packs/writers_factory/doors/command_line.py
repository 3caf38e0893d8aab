"""The doors into Writers Factory: look, change, or start a run and watch it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform, perform_simply
from callboard.cli.handlers.dialogue import Hush
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import follow
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import clean, remark
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunState
from callboard.packs.writers_factory.factory import Factory, factory_of

HEALTH_RUN: Final = "health_run"

Act = Callable[[Factory], Awaitable[object] | None]
"""Does something in an open factory and prints what came of it."""

Tell = Callable[[Factory, Any], None]
"""Prints the result of a run that is done."""


@dataclass(frozen=True, slots=True)
class Job:
    """A run of the pack that is wanted; arguments without a value are left out."""

    name: str
    args: dict[str, Json] = field(default_factory=dict[str, Json])
    session: str | None = None

    def given(self) -> dict[str, Json]:
        """Return the arguments that were given at all."""
        return {name: value for name, value in self.args.items() if value not in (None, "", [])}


def enter(choices: Choices, act: Act) -> int:
    """Open the book, do one thing and leave."""

    async def work() -> int:
        async with working(choices) as here:
            doing = act(factory_of(here.studio))
            if doing is not None:
                await doing
            return exits.OK

    return perform_simply(work())


def watch(choices: Choices, job: Job | Callable[[Factory], Job], tell: Tell) -> int:
    """Start a run, show it as it goes on, and print its result."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            factory = factory_of(here.studio)
            wanted = job if isinstance(job, Job) else job(factory)
            here.hint_at_interrupted()
            run = await factory.start(wanted.name, wanted.given(), session_id=wanted.session)
            here.announce(run)
            followed = await follow(here.studio, run.id, here.view(), interrupt)
            is_told = not choices.as_json and followed.run.state is RunState.DONE
            if is_told:
                tell(factory, followed.run.result)
            code = (
                followed.exit_code
                if is_told
                else conclude(here.studio, followed, as_json=choices.as_json)
            )
            await _see_out(here, followed.run.result, interrupt)
            return code

    return perform(work)


async def _see_out(here: OpenWork, result: Json, interrupt: Interrupt) -> None:
    """Stay until a health check that a run started has ended: it would end with the process."""
    told = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    run_id = told.get(HEALTH_RUN)
    if not run_id or here.studio.engine.load(str(run_id)).is_terminal:
        return
    remark("The chapter is complete; its health is looked at. Ctrl-C leaves it to `runs resume`.")
    looked = await follow(here.studio, str(run_id), Hush(), interrupt)
    if looked.run.state is RunState.DONE:
        report = cast("dict[str, Any]", looked.run.result)
        remark(clean(str(report["summary"]).partition("\n")[0]))
        remark("All of it: callboard factory alerts")
    else:
        remark(f"Run {run_id} is {looked.run.state.value}: callboard runs show {run_id}")
