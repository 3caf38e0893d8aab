"""One house for every choreography and every dispatcher: the suite does not know which it has.

A new dispatcher is one line in `DISPATCHERS`, a new choreography one line in `PLAYS`.
"""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from callboard.core.vocabulary import RunRecord, RunState, StepKind, StepRecord, StepState
from callboard.store.faults import NoFaults
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import load_journal, with_output
from callboard.studio.studio import Opening, Studio
from callboard.testing import Line, Script
from callboard.testing.opening import SCRIPTED

# The settings that choose a dispatcher.
DISPATCHERS: dict[str, dict[str, Any]] = {"embedded": {}}

SEA = "the lighthouse and the sea " * 10
CHOICES = {"round/1/next": "expand", "round/2/next": "ground", "round/3/next": "stable"}


@dataclass(frozen=True)
class Play:
    """A choreography with its arguments, its model's lines, and what a fork may change."""

    name: str
    args: dict[str, Any]
    # Step key to what the model says there, where that matters.
    lines: dict[str, str] = field(default_factory=dict)
    # Question key to the human's answer.
    answers: dict[str, Any] = field(default_factory=dict)
    # Slot to a new value and a trace of it that a fork must leave: in a later prompt, in the key
    # of a later step, or in the result.
    edits: dict[str, tuple[Any, str]] = field(default_factory=dict)
    # Agent steps whose failure the choreography survives, as a DAG does.
    survives: tuple[str, ...] = ()


EDITED = "a heron stood in the reeds"

PLAYS = {
    "conference": Play(
        "examples/conference",
        {"question": "Who has the key?", "query": "key"},
        edits={"planner/view": (EDITED, EDITED), "summary": (EDITED, EDITED)},
    ),
    "recipe": Play(
        "recipe",
        {},
        edits={
            "read": ({"path": "Story/lighthouse.md", "text": EDITED}, EDITED),
            "brief": (EDITED, EDITED),
            "draft": (f"{EDITED} {SEA}", EDITED),
        },
    ),
    "loop": Play(
        "loop",
        {"text": "A short text."},
        lines={key: json.dumps({"choice": choice}) for key, choice in CHOICES.items()},
        edits={
            "round/1/next": ({"text": "", "data": {"choice": "tighten"}}, "round/1/tighten"),
            "round/1/expand": (EDITED, EDITED),
        },
    ),
    "turn": Play(
        "examples/turn",
        {"message": "Where is the key?"},
        edits={"facts/facts": (EDITED, EDITED), "quotes/search": ({"quotes": EDITED}, EDITED)},
    ),
    "turn that asks": Play(
        "examples/turn",
        {"message": "Where is the key?"},
        lines={"answer": "No."},
        answers={"more": "The brass key of the lamp room, please."},
        edits={"doubts/doubts": (EDITED, EDITED), "answer": (EDITED, EDITED)},
    ),
    "dag": Play(
        "dag",
        {"path": "Story/village.md"},
        edits={"read/read": ({"text": EDITED}, EDITED)},
        survives=("outline/outline",),
    ),
}


class House:
    """A project on disk, opened again and again, with a witness of everything that is executed."""

    def __init__(self, root: Path, play: Play, dispatcher: dict[str, Any]) -> None:
        self.root = root
        self.play = play
        self.dispatcher = dispatcher
        # Lines that come before the play's own; a test adds the failures it wants.
        self.special: dict[str, Line] = {}
        # (run id, step key) in the order in which models were asked and tools were run.
        self.executed: list[tuple[str, str]] = []
        self.prompts: list[tuple[str, str, str]] = []
        self.script = self._new_script()
        # While cleared, whatever a model or tool is asked to do from now on waits.
        self.doors = asyncio.Event()
        self.doors.set()

    def _new_script(self) -> Script:
        return Script(self._speak)

    def _speak(self, request: Any) -> Line | str:
        self.executed.append((request.run_id, request.step_key))
        self.prompts.append((request.run_id, request.step_key, request.prompt_text))
        text = self.play.lines.get(request.step_key, f"{request.step_key}: {SEA}")
        special = self.special.get(request.step_key)
        if special is None:
            return text if self.doors.is_set() else Line(text, hold="doors")
        return special if special.text or special.json else replace(special, text=text)

    @asynccontextmanager
    async def open(self, faults: Any = None, *, recover: bool = True) -> AsyncIterator[Studio]:
        # Events of the script belong to one event loop turn of the project: a fresh one each time.
        self.script = self._new_script()
        opening = Opening(
            providers={"script": self.script},
            flags={**SCRIPTED, **self.dispatcher},
            faults=faults or NoFaults(),
            recover=recover,
        )
        async with Studio.open(self.root, opening) as studio:
            yield studio

    def release(self) -> None:
        """Open the doors to everything that waits."""
        self.doors.set()
        self.script.release("doors")

    async def start(self, studio: Studio) -> str:
        return (await studio.start(self.play.name, self.play.args)).id

    async def finish(self, studio: Studio, run_id: str) -> RunRecord:
        """Wait until the run is over, answering what it asks."""
        while True:
            run = await studio.engine.wait(run_id, settled=True)
            if run.is_terminal:
                return run
            assert run.state is RunState.WAITING, run.state
            for asked in self.questions(studio, run_id):
                await studio.engine.answer(asked.id, self.play.answers[asked.key])
            await studio.engine._changes.next()

    async def finish_when_resumed(self, studio: Studio, run_id: str) -> RunRecord:
        """Do the same while somebody else pauses and resumes the run."""
        while not (run := studio.engine.load(run_id)).is_terminal:
            if run.state is RunState.WAITING:
                for asked in self.questions(studio, run_id):
                    await studio.engine.answer(asked.id, self.play.answers[asked.key])
            await studio.engine._changes.next()
        return run

    async def perform(self) -> tuple[RunRecord, dict[str, StepRecord]]:
        """Run the play without any trouble and return the run and its journal."""
        async with self.open() as studio:
            run = await self.finish(studio, await self.start(studio))
            return run, self.journal(studio, run.id)

    def questions(self, studio: Studio, run_id: str) -> list[Any]:
        return studio.database.read(lambda c: list_questions(c, run_id=run_id))

    def journal(self, studio: Studio, run_id: str) -> dict[str, StepRecord]:
        def work(connection: Any) -> dict[str, StepRecord]:
            steps = load_journal(connection, studio.engine.load(run_id))
            return {key: with_output(connection, step) for key, step in steps.items()}

        return studio.database.read(work)

    def done(self, studio: Studio, run_id: str) -> set[str]:
        journal = self.journal(studio, run_id)
        return {key for key, step in journal.items() if step.state is StepState.DONE}

    def finished(self, studio: Studio, run_id: str) -> set[str]:
        ended = (StepState.DONE, StepState.FAILED)
        return {k for k, step in self.journal(studio, run_id).items() if step.state in ended}

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


def tool_keys(journal: dict[str, StepRecord]) -> list[str]:
    return sorted(k for k, s in journal.items() if s.kind in (StepKind.TOOL, StepKind.CHECK))


def agent_keys(journal: dict[str, StepRecord]) -> list[str]:
    return sorted(k for k, s in journal.items() if s.kind is StepKind.AGENT)


def plain(value: Any) -> Any:
    """Return a result without the ids that differ between two runs."""
    return json.loads(re.sub(r'"(rcpt|prm)_[0-9a-z]{26}"', r'"\1"', json.dumps(value)))
