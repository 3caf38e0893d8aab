"""A project under test: opened again and again, with a witness of all that is executed in it.

What a choreography is tried with is a `Scenario`. The models are scripted; tools really run.
"""

import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunRecord, RunState, StepKind, StepRecord, StepState
from callboard.engine.changes import Changes
from callboard.models import Line, ModelRequest, Script
from callboard.store.connection import Connection
from callboard.store.faults import FaultPoints
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import load_journal, with_output
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted

_SAID: Final = "the lighthouse and the sea " * 10
_HELD: Final = "the gate of the witness"


@dataclass(frozen=True)
class Scenario:
    """A choreography with its arguments, its model's lines, and what a fork may change."""

    name: str
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    # What the project is for: an installed pack by name, or the folder of one.
    pack: str | Path = "examples"
    # Files of the project by path, and a folder whose files it gets too.
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    sample: Path | None = None
    # Step key to what the model says there, where that matters.
    lines: Mapping[str, str] = field(default_factory=dict[str, str])
    # Question key to the human's answer.
    answers: Mapping[str, Json] = field(default_factory=dict[str, Json])
    # Slot to a new value and a trace of it that a fork must leave: in a later prompt, in the key
    # of a later step, or in the result.
    edits: Mapping[str, tuple[Json, str]] = field(default_factory=dict[str, tuple[Json, str]])
    # Agent steps whose failure the choreography survives, as a DAG does.
    survives: tuple[str, ...] = ()

    def says(self, step_key: str) -> str:
        """Return what the model says at a step."""
        return self.lines.get(step_key, f"{step_key}: {_SAID}")


def make_project(root: Path, pack: str | Path, *, sample: Path | None = None) -> Project:
    """Make a folder a project for a pack, with the files of a sample."""
    if sample is not None:
        shutil.copytree(sample, root)
    name = pack if isinstance(pack, str) else load_pack(pack).name
    return Project.init(root, pack=name)


def folder_of(pack: str | Path) -> tuple[Path, ...]:
    """Return the folder that must be brought along; an installed pack needs none."""
    return (pack,) if isinstance(pack, Path) else ()


async def finish(studio: Studio, run_id: str, answers: Mapping[str, Json]) -> RunRecord:
    """Wait until a run is over, answering what it asks by the keys of its questions."""
    changes = Changes(studio.database)
    while True:
        run = await studio.engine.wait(run_id, settled=True)
        if run.is_terminal or run.state is not RunState.WAITING:
            return run
        for asked in studio.database.read(lambda c: list_questions(c, run_id=run_id)):
            if asked.key not in answers:
                raise AssertionError(f"The run asks {asked.key!r}, and no answer was given for it.")
            try:
                await studio.engine.answer(asked.id, answers[asked.key])
            except Conflict:
                # Somebody cancelled the run since the question was read; else it is a fault.
                if not studio.engine.load(run_id).is_terminal:
                    raise
        await changes.next()


class WitnessedProject:
    """A project on disk in which every request to a model and every use of a tool is seen."""

    def __init__(self, root: Path, scenario: Scenario, flags: Mapping[str, Any]) -> None:
        """Make the project of a scenario; `flags` are settings it is always opened with."""
        self.root = make_project(root, scenario.pack, sample=scenario.sample).root
        for name, text in scenario.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.scenario = scenario
        self._flags = flags
        # Lines that come before the scenario's own: the failures a test wants.
        self.special: dict[str, Line] = {}
        # (run id, step key) in the order in which models were asked and tools were run.
        self.executed: list[tuple[str, str]] = []
        self.prompts: list[tuple[str, str, str]] = []
        self.script = Script(self._speak)
        # While cleared, whatever a model or tool is asked to do from now on waits.
        self.doors = asyncio.Event()
        self.doors.set()

    def _speak(self, request: ModelRequest) -> Line | str:
        self.executed.append((request.run_id or "", request.step_key or ""))
        self.prompts.append((*self.executed[-1], request.prompt_text))
        text = self.scenario.says(request.step_key or "")
        special = self.special.get(request.step_key or "")
        if special is None:
            return text if self.doors.is_set() else Line(text, hold=_HELD)
        return special if special.text or special.json else replace(special, text=text)

    @asynccontextmanager
    async def open(
        self, faults: FaultPoints | None = None, *, recover: bool = True
    ) -> AsyncGenerator[Studio]:
        """Open the project; runs that were interrupted go on unless `recover` is false."""
        # Events of the script belong to one event loop: a fresh one each time.
        self.script = Script(self._speak)
        packs = folder_of(self.scenario.pack)
        more = {"faults": faults, "flags": self._flags, "recover": False}
        async with open_scripted(self.root, self.script, *packs, **more) as studio:
            execute = studio.tools.execute

            async def witnessed(call: Any, *args: Any, **more: Any) -> Any:
                self.executed.append((call.run_id, call.step_key))
                await self.doors.wait()
                return await execute(call, *args, **more)

            studio.tools.execute = witnessed
            if recover:
                await studio.engine.recover()
            yield studio

    def release(self) -> None:
        """Open the doors to everything that waits."""
        self.doors.set()
        self.script.release(_HELD)

    async def start(self, studio: Studio) -> str:
        """Start the scenario's run and return its id."""
        return (await studio.start(self.scenario.name, dict(self.scenario.args))).id

    async def finish(self, studio: Studio, run_id: str) -> RunRecord:
        """Wait until the run is over, answering what it asks."""
        return await finish(studio, run_id, self.scenario.answers)

    async def perform(self) -> tuple[RunRecord, dict[str, StepRecord]]:
        """Run the scenario without any trouble and return the run and its journal."""
        async with self.open() as studio:
            run = await self.finish(studio, await self.start(studio))
            return run, self.journal(studio, run.id)

    def questions(self, studio: Studio, run_id: str) -> list[Any]:
        """Return what a run asks the human."""
        return list(studio.database.read(lambda c: list_questions(c, run_id=run_id)))

    def journal(self, studio: Studio, run_id: str) -> dict[str, StepRecord]:
        """Return the steps of a run by their keys, with what they gave."""

        def work(connection: Connection) -> dict[str, StepRecord]:
            steps = load_journal(connection, studio.engine.load(run_id))
            return {key: with_output(connection, step) for key, step in steps.items()}

        return studio.database.read(work)

    def done(self, studio: Studio, run_id: str) -> set[str]:
        """Return the keys of the steps that succeeded."""
        return self._ended(studio, run_id, StepState.DONE)

    def finished(self, studio: Studio, run_id: str) -> set[str]:
        """Return the keys of the steps that are over, one way or the other."""
        return self._ended(studio, run_id, StepState.DONE, StepState.FAILED)

    def _ended(self, studio: Studio, run_id: str, *states: StepState) -> set[str]:
        return {k for k, step in self.journal(studio, run_id).items() if step.state in states}

    def receipts(self, studio: Studio, run_id: str, *, succeeded: bool = False) -> list[str]:
        """Return the step keys of a run's receipts, in order; a stopped call leaves one, too."""
        rows = studio.database.read(
            lambda c: c.execute(
                "SELECT body, outcome FROM receipts WHERE run_id = :id ORDER BY seq",
                {"id": run_id},
            ).fetchall()
        )
        kept = [row for row in rows if not succeeded or row["outcome"] == "succeeded"]
        return [json.loads(row["body"])["step_key"] for row in kept]

    def executions(self, *run_ids: str) -> Counter[str]:
        """Count how often each step of the runs was executed."""
        return Counter(key for run_id, key in self.executed if run_id in run_ids)


def tool_keys(journal: Mapping[str, StepRecord]) -> list[str]:
    """Return the keys of the steps that leave receipts."""
    return sorted(k for k, s in journal.items() if s.kind in (StepKind.TOOL, StepKind.CHECK))


def agent_keys(journal: Mapping[str, StepRecord]) -> list[str]:
    """Return the keys of the steps at which a model was asked."""
    return sorted(k for k, s in journal.items() if s.kind is StepKind.AGENT)


def plain(value: Json) -> Json:
    """Return a result without the ids that differ between two runs."""
    return json.loads(re.sub(r'"(rcpt|prm)_[0-9a-z]{26}"', r'"\1"', json.dumps(value)))
