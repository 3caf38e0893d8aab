"""Questions to the human: at a terminal, from another process, and what is an answer."""

import contextlib
import errno
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest
from clitools import SCRIPT, Here

from callboard.cli import exits
from callboard.cli.handlers.following import accept
from callboard.core.vocabulary.run import Question

TURN = (
    "run",
    "examples/turn",
    "--arg",
    "message=Where is the key?",
    "--model",
    "script:asking.yaml",
)


class Terminal:
    """A console script in a terminal of its own."""

    def __init__(self, *words: str, cwd: Path) -> None:
        self.ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
        self.process = subprocess.Popen(
            [str(SCRIPT), *words],
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=env,
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def wait_for(self, text: str) -> None:
        while text not in self.seen:
            assert self._read(), f"ended without {text!r}: {self.seen}"

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    def end(self) -> int:
        while self._read():
            pass
        return self.process.wait(timeout=30)

    def _read(self) -> bool:
        try:
            data = os.read(self.ours, 65_536)
        except OSError as error:
            # What a terminal says on Linux when nobody holds its other end any more.
            assert error.errno == errno.EIO
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


def test_at_a_terminal_the_question_is_asked_and_answered_on_the_spot(project: Path) -> None:
    with Terminal(*TURN, cwd=project) as terminal:
        terminal.wait_for("Your answer:")
        assert "What exactly do you need?" in terminal.seen
        terminal.type("\n")
        terminal.wait_for("Please type an answer")
        terminal.type("The brass one.\n")
        assert terminal.end() == exits.OK
    assert "A longer answer at last." in terminal.seen


def test_ctrl_c_at_the_question_leaves_the_run_for_later(project: Path, here: Here) -> None:
    with Terminal(*TURN, cwd=project) as terminal:
        terminal.wait_for("Your answer:")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == exits.INTERRUPTED
    assert "callboard runs resume run_" in terminal.seen
    (question,) = here("answer", "--json").json["questions"]
    assert question["is_open"]


def test_the_end_of_input_leaves_the_question_open(project: Path, here: Here) -> None:
    with Terminal(*TURN, cwd=project) as terminal:
        terminal.wait_for("Your answer:")
        terminal.type("\x04")
        assert terminal.end() == exits.WAITING
    assert "callboard answer qst_" in terminal.seen
    assert here("runs", "list", "--json").json["runs"][0]["state"] == "waiting"


def test_from_elsewhere_the_way_to_answer_names_the_project(
    here: Here, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here(*TURN)
    assert "--project" not in here("answer").out
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with contextlib.chdir(elsewhere):
        listed = here("answer", "--project", str(project)).out
        shown = here("runs", "show", "last", "--project", str(project)).out
    assert f"VALUE --project {project}" in listed
    assert f"VALUE --project {project}" in shown


def test_without_a_terminal_the_run_waits_and_says_how_to_answer(here: Here) -> None:
    waiting = here(*TURN)
    assert (waiting.code, waiting.out) == (exits.WAITING, "")
    assert "What exactly do you need?" in waiting.err
    listed = here("answer")
    question_id = listed.out.split()[0]
    assert f"callboard answer {question_id} VALUE" in waiting.err
    assert "callboard answer" in here("runs", "show", "last").out
    assert here("runs", "resume", "last", "--model", "script:asking.yaml").code == exits.WAITING

    answered = here("answer", question_id[-6:], "The brass one.", "--model", "script:asking.yaml")
    assert answered.code == 0, answered.err
    assert "answer:\n" in answered.out
    again = here("answer", question_id, "Another.")
    assert again.code == exits.CONFLICT
    assert here("answer").out == ""
    kept = [each["tool"] for each in here("receipts", "list", "--json").json["receipts"]]
    assert kept.count("callboard.answer_question") == 2


def test_an_answer_can_be_recorded_for_later(here: Here) -> None:
    assert here(*TURN, "--json").lines[-1]["questions"][0]["text"].startswith("I have little")
    question_id = here("answer", "--json").json["questions"][0]["id"]
    recorded = here("answer", question_id, "The brass one.", "--no-wait")
    assert recorded.code == 0
    assert "callboard runs resume run_" in recorded.err
    assert here("runs", "list", "--json").json["runs"][0]["state"] == "waiting"
    resumed = here("runs", "resume", "last", "--model", "script:asking.yaml", "--json")
    assert resumed.code == 0
    assert resumed.lines[-1]["run"]["state"] == "done"


def test_a_missing_answer_or_an_unknown_question_is_told(here: Here, done_run: str) -> None:
    assert done_run
    assert here("answer", "qst_nothing").code == exits.USAGE
    assert here("answer", "qst_nothing", "yes").code == exits.NOT_FOUND


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("red", "red"),
        ("RED ", "red"),
        ("2", "blue"),
        ("7", "7"),
        ("0", None),
        ("4", None),
        ("green", None),
        ("", "blue"),
    ],
)
def test_a_choice_is_taken_by_name_number_or_default(typed: str, answer: str | None) -> None:
    question = Question("Which?", ("red", "blue", "7"), default="blue")
    assert accept(question, typed) == answer


def test_a_free_answer_is_taken_as_it_is_but_not_empty() -> None:
    assert accept(Question("What?"), " the brass one ") == "the brass one"
    assert accept(Question("What?"), "  ") is None
