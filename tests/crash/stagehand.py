"""A warm process that forks performers: each plays one choreography until it is done or killed.

Started once per test worker with `python stagehand.py`. Reads one job per line as JSON and
answers with one line. It opens no database and starts no thread itself, so that a forked child
begins as clean as a fresh interpreter, without paying for its start.
"""

import asyncio
import contextlib
import gc
import json
import os
import select
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

# Imported here so that no child has to.
import jsonschema  # noqa: F401
import platformdirs.unix  # noqa: F401
import re2  # noqa: F401
import sqlalchemy.dialects.sqlite
import sqlalchemy.schema  # noqa: F401

import callboard.choreography
import callboard.packs.examples.conference
import callboard.packs.examples.dag
import callboard.packs.examples.loop
import callboard.packs.examples.recipe
import callboard.packs.examples.turn
import callboard.store.schema  # noqa: F401
from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState, SignalKind
from callboard.models import Script
from callboard.prompts import OfflineTokenCounter
from callboard.store.journal.events import read_events
from callboard.store.journal.questions import list_questions
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio
from callboard.testing import KillAt, Moment, Passages
from callboard.testing.opening import open_scripted
from callboard.tools import Policy, ToolCall, ToolService

PACK = Path(__file__).parent / "pack"
SEA = "the lighthouse and the sea " * 10
LOOP = {
    "next": {"step": "step_1", "reason": "first of all; afterwards the playbook stands in"},
    "stable": {"goal_achieved": True},
    "step_1_outline": {"outline": {"points": ["a light"]}},
    "step_2_draft": {"draft": {"text": SEA}},
    "step_3_notes": {"notes": {"verdict": "ok", "findings": []}},
    "step_4_gate": {"report": {"decision": "pass", "why": "clear"}},
}
ANSWERS = {"more": "The brass key of the lamp room, please.", "word": "the last word"}
# The lines the ledger's effects write, by the key of the step.
LEDGER = {
    "checked": "checked",
    "blind": "blind",
    "one/checked": "one",
    "two/blind": "two",
    "last": ANSWERS["word"],
}


class Witness:
    """Writes down outside of the project what models and tools are asked, before they act."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def saw(self, key: str) -> None:
        os.write(self._handle, f"{key}\n".encode())


def speak(request: Any, witness: Witness, short_answer: bool) -> str:
    key = request.step_key
    witness.saw(f"{key} {request.prompt_text}" if "a/0:=" in request.prompt_text else key)
    place = key.partition("/")[2].partition("/")[0]
    if key[0].isdigit() and place in LOOP:
        said = LOOP[place]
        artifacts = [{"type": kind, "content": each} for kind, each in said.items()]
        return json.dumps({"artifacts": artifacts} if place.startswith("step_") else said)
    return "No." if short_answer and key == "answer" else f"{key}: {SEA}"


async def perform(job: dict[str, Any]) -> dict[str, Any]:
    """Open the project, start the play or go on with it, and stay until it is over."""
    root, witness = Path(job["root"]), Witness(Path(job["witness"]))
    if job.get("store"):
        os.environ["CALLBOARD_STORE_URL"] = job["store"]
    execute = ToolService.execute

    async def witnessed(self: ToolService, call: Any, *args: Any, **kwargs: Any) -> Any:
        witness.saw(call.step_key)
        return await execute(self, call, *args, **kwargs)

    ToolService.execute = witnessed  # type: ignore[method-assign]
    faults = KillAt(Moment(*job["kill"])) if job.get("kill") else Passages()
    script = Script(lambda request: speak(request, witness, job["short_answer"]))
    async with open_scripted(root, script, PACK, faults=faults, **job.get("opening", {})) as studio:
        if "visit" in job:
            return await VISITS[job["visit"]](studio, job)
        runs = studio.database.read(list_runs)
        run = runs[0] if runs else await studio.start(job["play"], job["args"])
        while not (run := await studio.engine.wait(run.id, settled=True)).is_terminal:
            assert run.state is RunState.WAITING, run.state
            for asked in studio.database.read(list_questions):
                # Another process may have answered it in the meantime.
                with contextlib.suppress(Conflict):
                    await studio.engine.answer(asked.id, answer_to(root, asked.key))
            await studio.engine._changes.next()
    return {
        "run_id": run.id,
        "state": run.state.value,
        "result": run.result,
        "error": run.error.to_json() if run.error else None,
        "passages": dict(faults.counts),
    }


async def look(studio: Studio, job: dict[str, Any]) -> dict[str, Any]:
    """Read what another process is doing, and try to do it as well."""
    run = studio.engine.load(job["run_id"])
    events = studio.database.read(lambda c: read_events(c, run_id=run.id))
    try:
        await studio.engine.resume(run.id)
    except Conflict as conflict:
        return {"state": run.state.value, "events": len(events), "refused": conflict.message}
    return {"state": run.state.value, "events": len(events), "refused": None}


async def send(studio: Studio, job: dict[str, Any]) -> dict[str, Any]:
    """Ask something of a run that another process executes."""
    signal = await studio.engine.signal(job["run_id"], SignalKind(job["signal"]))
    return {"state": str(signal.acknowledged_state)}


async def answer(studio: Studio, job: dict[str, Any]) -> dict[str, Any]:
    """Answer a question of a run that another process executes."""
    for asked in studio.database.read(list_questions):
        await studio.engine.answer(asked.id, answer_to(studio.project.root, asked.key))
    return {}


async def write(studio: Studio, job: dict[str, Any]) -> dict[str, Any]:
    """Call a tool outside of any run."""
    session = await studio.sessions.current()
    call = ToolCall("write_file", {"path": "note.md", "content": "written"}, session.id)
    ran = await studio.tools.run(call, Policy())
    return {"receipt": ran.receipt.id, "passages": dict(studio.backstage.faults.counts)}


VISITS = {"look": look, "send": send, "answer": answer, "write": write}


def answer_to(root: Path, key: str) -> str:
    """Answer like a human: go and look whether the line is in the ledger."""
    step, found, _ = key.partition("/unknown/")
    if not found:
        return ANSWERS[key]
    path = root / "ledger.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return "happened" if LEDGER[step] in lines else "did not happen"


def play(job: dict[str, Any]) -> None:
    """Be the child: perform, leave the outcome behind, and end without any farewell."""
    try:
        outcome = asyncio.run(perform(job))
        Path(job["outcome"]).write_text(json.dumps(outcome), "utf-8")
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the border of the child: the test reads why
        Path(job["outcome"]).write_text(traceback.format_exc(), "utf-8")
        os._exit(3)


def serve_job(job: dict[str, Any]) -> int:
    """Fork a child for a job, kill it if its time is up, and return how it ended."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stdin.close()
        play(job)
    handle = os.pidfd_open(child)
    try:
        delay = job.get("kill_after_seconds")
        ended, _, _ = select.select([handle], [], [], 60 if delay is None else delay)
        if not ended:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(status)


def serve() -> None:
    """Answer jobs until the input ends."""
    # Loaded here, the tokenizer is there in every child.
    OfflineTokenCounter().count("warm")
    # And no child looks through what it never made for garbage.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        sys.stdout.write(f"{serve_job(json.loads(line))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
