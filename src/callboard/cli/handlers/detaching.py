"""Runs in another process: one started in the background, and one that is only looked at.

The process of a detached run takes it up and outlives this one's terminal.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform, perform_simply
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import Followed, follow, open_questions
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import echo, echo_json, remark
from callboard.cli.reports.shapes import run_shape
from callboard.core.canonical import Json
from callboard.core.errors import CallboardError
from callboard.core.vocabulary.run import RunRecord, RunState
from callboard.store.files import open_emptied

_LOOK_SECONDS: Final = 0.05


class NotTakenUp(CallboardError):
    """The process that was to execute a run ended before it did."""

    code = "not_taken_up"


@dataclass(frozen=True, slots=True)
class DetachedRun:
    """What is to be run, and in which session."""

    name: str
    args: Mapping[str, Json]
    session: str | None = None
    title: str = ""


def run_detached(choices: Choices, wanted: DetachedRun) -> int:
    """Start a run in the background and print its id; mistakes in the call are told here."""

    async def work() -> int:
        async with working(choices) as here:
            here.hint_at_interrupted()
            run = await here.studio.start(
                wanted.name,
                wanted.args,
                session_id=wanted.session,
                title=wanted.title,
                dispatch=False,
            )
            log = await _hand_over(here, run)
            _tell(here.studio.engine.load(run.id), log, as_json=choices.as_json)
            return exits.OK

    return perform_simply(work())


async def _hand_over(here: OpenWork, run: RunRecord) -> Path:
    """Have a process of its own take a run up; return where its output goes."""
    log = here.studio.project.logs / f"{run.id}.log"
    process = _begin(_command(here, run), log, here.studio.project.folder)
    while here.studio.engine.load(run.id).state is RunState.PENDING:
        if process.poll() is not None:
            raise NotTakenUp(
                f"The process that was to execute run {run.id} ended at once",
                fix=f"{log} says why; `callboard runs resume {run.id}` executes the run here.",
                run_id=run.id,
            )
        await asyncio.sleep(_LOOK_SECONDS)
    return log


def _command(here: OpenWork, run: RunRecord) -> list[str]:
    words = ["runs", "resume", run.id, "--project", str(here.studio.project.root)]
    for folder in here.choices.packs:
        words += ["--pack", str(folder)]
    if here.choices.model is not None:
        words += ["--model", here.choices.model]
    # -P: a folder one happens to stand in must not bring modules of its own.
    return [sys.executable, "-P", "-m", "callboard.cli.main", *words]


def _begin(command: list[str], log: Path, kept: Path) -> "subprocess.Popen[bytes]":
    with os.fdopen(open_emptied(log, within=kept), "wb") as output:
        return subprocess.Popen(  # noqa: S603 - this program itself, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Its own session: closing this terminal, or Ctrl-C in it, is no business of the run.
            start_new_session=True,
        )


def _tell(run: RunRecord, log: Path, *, as_json: bool) -> None:
    if as_json:
        echo_json({"run": run_shape(run), "log": str(log)})
        return
    remark(f"Run {run.id} of {run.choreography} goes on in the background.")
    remark(f"  Watch it: callboard runs watch {run.id}")
    remark(f"  Stop it: callboard runs cancel {run.id}")
    echo(run.id)


_WATCH_SECONDS: Final = 0.5


def watch_run(choices: Choices, name: str) -> int:
    """Show a run from its beginning to its end, or as far as it gets; return its exit code."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            run = here.find(name)
            looking = asyncio.create_task(_leave_when_deserted(here, run.id, interrupt))
            try:
                followed = await follow(here.studio, run.id, here.view(), interrupt, may_ask=False)
            finally:
                looking.cancel()
            return _end(here, followed)

    return perform(work)


def _end(here: OpenWork, followed: Followed) -> int:
    run = followed.run
    if here.choices.as_json or run.is_terminal or not followed.was_interrupted:
        return conclude(here.studio, followed, as_json=here.choices.as_json)
    if _is_deserted(here, run.id):
        remark(f"Nobody executes run {run.id} any more; its finished steps are kept.")
        remark(f"  Go on with: callboard runs resume {run.id}")
    else:
        remark(f"Run {run.id} goes on; to see it again: callboard runs watch {run.id}")
    return followed.exit_code


async def _leave_when_deserted(here: OpenWork, run_id: str, interrupt: Interrupt) -> None:
    was_deserted = False
    while True:
        is_deserted = _is_deserted(here, run_id)
        # A run that changes hands is nobody's for a moment, so one look is not enough.
        if is_deserted and was_deserted:
            interrupt.asked.set()
            return
        was_deserted = is_deserted
        await asyncio.sleep(_WATCH_SECONDS)


def _is_deserted(here: OpenWork, run_id: str) -> bool:
    """Say whether a run should be going on although no living process has it."""
    run = here.studio.engine.load(run_id)
    is_answered = run.state is RunState.WAITING and not open_questions(here.studio, run_id)
    is_going = is_answered or run.state in (RunState.PENDING, RunState.RUNNING)
    return is_going and not here.owners.executes(run)
