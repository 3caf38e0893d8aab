"""Kill, restart, compare: what must hold after a process died at any moment."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.store.database import Database
from callboard.store.integrity import check_integrity
from callboard.store.postgres.address import StoreAddress
from callboard.studio.database import open_database
from callboard.studio.project import Project
from callboard.tools import verify
from stores import URL, is_on_server

SAMPLE = Path(__file__).parents[2] / "examples" / "sample"
KILLED = -9

# Name to what is played, with which arguments, and whether the model answers too shortly.
PLAYS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "conference": ("examples/conference", {"question": "Who has the key?", "query": "key"}, False),
    "recipe": ("recipe", {}, False),
    "loop": ("loop", {"brief": "A light.", "is_interactive": False}, False),
    "turn": ("examples/turn", {"message": "Where is the key?"}, True),
    "dag": ("dag", {"path": "Story/village.md"}, False),
    "ledger": ("ledger", {}, False),
}


class Stagehand:
    """The test's end of the warm process."""

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self._process = process
        self._errors = errors

    def perform(self, job: dict[str, Any]) -> int:
        """Have a job done by a child and return how it ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise AssertionError(self._errors.read_text("utf-8"))
        return int(answer)


@dataclass
class Trial:
    """One project, played by one process after the other, each of which may be killed."""

    stagehand: Stagehand
    folder: Path
    play: str
    # At each kill: the steps that were finished, those in doubt, and the length of the witness.
    kills: list[tuple[set[str], set[str], int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin_again()

    def begin_again(self) -> None:
        """Throw the project away and start with a fresh one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(SAMPLE, self.folder / "project")
        self.root = Project.init(self.folder / "project").root
        self.witness = self.folder / "witness.txt"
        self.witness.touch()
        self.outcome = self.folder / "outcome.json"
        self.database = self.root / ".callboard" / "callboard.db"

    def perform(self, **job: Any) -> int:
        """Let one process play; note what it left behind if it was killed."""
        name, args, short_answer = PLAYS[self.play]
        exit_code = self.stagehand.perform(
            {
                "root": str(self.root),
                "witness": str(self.witness),
                "outcome": str(self.outcome),
                "play": name,
                "args": args,
                "short_answer": short_answer,
                "store": os.environ.get(URL),
                **job,
            }
        )
        if exit_code == KILLED:
            self.kills.append(self._look_at_the_dead())
        elif exit_code != 0:
            raise AssertionError(f"{job}: {self.outcome.read_text('utf-8')}")
        return exit_code

    def visit(self, name: str, **job: Any) -> dict[str, Any]:
        """Let another process look in, and return what it found."""
        assert self.perform(visit=name, **job) == 0
        return json.loads(self.outcome.read_text("utf-8"))

    def recover(self) -> dict[str, Any]:
        """Let a last process finish the play, undisturbed, and return its outcome."""
        assert self.perform() == 0
        return json.loads(self.outcome.read_text("utf-8"))

    def _look_at_the_dead(self) -> tuple[set[str], set[str], int]:
        """Read the journal as the kill left it; of a file a copy, the original is not touched."""
        found = self._steps_on_server() if is_on_server() else self._steps_in_file()
        finished = {key for key, state, _ in found if state in ("done", "failed")}
        doubtful = {key for key, _, effect in found if effect == "once"} - finished
        return finished, doubtful, len(self.seen())

    def _steps_on_server(self) -> list[Any]:
        address = StoreAddress(os.environ[URL], Project(self.root).standing.identity.name)
        with address.connect() as raw:
            found = raw.execute("SELECT to_regclass('steps')").fetchone()
            if found is None or found[0] is None:
                return []
            return raw.execute("SELECT key, state, effect FROM steps").fetchall()

    def _steps_in_file(self) -> list[Any]:
        copy = self.folder / "autopsy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for path in self.database.parent.glob("callboard.db*"):
            shutil.copy(path, copy / path.name)
        connection = sqlite3.connect(copy / "callboard.db")
        try:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'steps'").fetchone():
                return connection.execute("SELECT key, state, effect FROM steps").fetchall()
            return []
        finally:
            connection.close()

    def seen(self) -> list[str]:
        """Return the step keys that models and tools were asked for, over all processes."""
        return self.witness.read_text("utf-8").splitlines()

    def ledger(self) -> list[str]:
        path = self.root / "ledger.txt"
        return path.read_text("utf-8").splitlines() if path.exists() else []

    def check(self, outcome: dict[str, Any], expected: "Expected") -> None:
        """Compare a project that has been through a lot with one that has not."""
        assert outcome["state"] == "done", outcome["error"]
        assert plain(outcome["result"]) == expected.result
        seen = self.seen()
        for finished, _, position in self.kills:
            again = finished & set(seen[position:])
            assert not again, f"finished before a kill and executed after it: {again}"
        assert set(seen) == expected.seen
        assert sorted(self.ledger()) == expected.ledger
        self._check_database(outcome["run_id"], expected)
        self._check_mirror(outcome["run_id"])
        locks = self.root / ".callboard" / "locks"
        assert is_on_server() or list(locks.iterdir()) == []

    def _check_database(self, run_id: str, expected: "Expected") -> None:
        database = open_database(Project(self.root))
        try:
            report = check_integrity(database)
            assert report.is_sound, report.problems
            trail = verify(database, Project(self.root).trail)
            assert trail.flaws == ()
            assert trail.notes == (), "the mirror of the receipts lacks something"
            steps = rows(database, "SELECT * FROM steps ORDER BY seq")
            finished = [s for s in steps if "/unknown/" not in s["key"]]
            states = {s["key"]: (s["kind"], s["effect"], s["state"]) for s in finished}
            assert states == expected.steps
            assert [s["seq"] for s in steps] == sorted({s["seq"] for s in steps})
            receipts = rows(database, "SELECT id, body FROM receipts ORDER BY seq")
            by_key = Counter(json.loads(row["body"])["step_key"] for row in receipts)
            used_tools = [s for s in steps if s["kind"] in ("tool", "check")]
            assert by_key == {step["key"]: 1 for step in used_tools}
            assert {row["id"] for row in receipts} == {s["receipt_id"] for s in used_tools}
            assert rows(database, "SELECT id FROM runs") == [{"id": run_id}]
            assert rows(database, "SELECT id FROM processes") == []
            self._check_doubts(database)
        finally:
            database.close()

    def _check_doubts(self, database: Database) -> None:
        """Every effect in doubt was looked into: by its probe, or by asking the human."""
        events = rows(database, "SELECT step_key FROM events WHERE type = 'step.unknown'")
        resolved = {row["step_key"] for row in events}
        asked = {row["key"] for row in rows(database, "SELECT key FROM questions")}
        for _, doubtful, _ in self.kills:
            assert doubtful <= resolved
            for key in doubtful:
                was_asked = any(each.startswith(f"{key}/unknown/") for each in asked)
                assert was_asked == key.endswith("blind")

    def _check_mirror(self, run_id: str) -> None:
        folder = self.root / ".callboard" / "runs" / run_id
        names = {path.name for path in folder.iterdir()}
        assert names == {"run.json", "steps.jsonl", "cache.json", "recipe.json"}
        database = open_database(Project(self.root))
        try:
            [run] = rows(database, "SELECT * FROM runs")
            steps = rows(database, "SELECT * FROM steps ORDER BY seq")
        finally:
            database.close()
        mirrored = json.loads((folder / "run.json").read_bytes())
        assert mirrored["state"] == run["state"]
        assert mirrored["result"] == json.loads(run["result"])
        lines = (folder / "steps.jsonl").read_text("utf-8").split("\n")
        assert lines.pop() == ""
        told = [(line["key"], line["seq"], line["state"]) for line in map(json.loads, lines)]
        assert told == [(step["key"], step["seq"], step["state"]) for step in steps]
        slots = json.loads((folder / "cache.json").read_bytes())
        assert set(slots) == {step["slot"] for step in steps if step["slot"] is not None}


@dataclass(frozen=True)
class Expected:
    """What a play leaves behind when nobody disturbs it."""

    result: Any
    seen: set[str]
    ledger: list[str]
    steps: dict[str, tuple[str, str, str]]
    passages: dict[str, int]
    seconds: float


def undisturbed(stagehand: Stagehand, folder: Path, play: str) -> Expected:
    """Play without any trouble."""
    trial = Trial(stagehand, folder / "trial", play)
    started = time.monotonic()
    outcome = trial.recover()
    seconds = time.monotonic() - started
    database = open_database(Project(trial.root))
    try:
        steps = rows(database, "SELECT key, kind, effect, state FROM steps")
    finally:
        database.close()
    expected = Expected(
        plain(outcome["result"]),
        set(trial.seen()),
        sorted(trial.ledger()),
        {step["key"]: (step["kind"], step["effect"], step["state"]) for step in steps},
        outcome["passages"],
        seconds,
    )
    trial.check(outcome, expected)
    return expected


def rows(database: Database, sql: str) -> list[dict[str, Any]]:
    return database.read(lambda c: [dict(row) for row in c.execute(sql)])


def plain(value: Any) -> Any:
    """Return a result without the ids that differ between two runs."""
    return json.loads(re.sub(r'"(rcpt|prm)_[0-9a-z]{26}"', r'"\1"', json.dumps(value)))
