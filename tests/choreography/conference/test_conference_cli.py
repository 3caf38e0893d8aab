"""Conference and chat at the command line, with the staff and tools of Control Room."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callboard.cli.main import main

QUOTE = 'Evidence: Story/Scenes/SCN-01-the-gate.md "The gate opened before he could knock."'
# The Chief has a small model here, so that a script can play it without knowing any nonce.
AGENTS = "- {id: chief, tier: minimal}\n"
VIEW = "conference_view"
REPLIES: list[dict[str, Any]] = [
    {"prompt_type": "conference_lead_pick", "json": {"choice": "enough"}},
    {"agent": "chief", "prompt_type": VIEW, "text": "The outline holds eight scenes."},
    {"agent": "chief", "prompt_type": VIEW, "text": "This can wait."},
    {
        "agent": "writer",
        "prompt_type": VIEW,
        "text": f"The gate opened before he could.\n\n{QUOTE}",
    },
    {"agent": "editor", "prompt_type": VIEW, "text": "ABSTAIN"},
    {"agent": "critic", "prompt_type": VIEW, "text": "I like it."},
    {"prompt_type": "chat", "agent": "writer", "text": "I remember snow."},
    {"prompt_type": "chat", "agent": "editor", "text": "Shorter."},
    {"prompt_type": "chat", "agent": "writer", "text": "As I said."},
]

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(
    fortress: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    (fortress / ".callboard" / "agents.yaml").write_text(AGENTS)
    (fortress / "good.json").write_text(json.dumps({"replies": REPLIES}))
    monkeypatch.chdir(fortress)

    def call(*words: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        code = main(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_everybody_is_asked_and_one_again(here: Here) -> None:
    roster = ("--agents", "writer,editor,critic", "--model", "script:good.json")
    code, out, err = here("conference", "What is wrong with the outline?", *roster)
    assert code == 0, err
    assert "chief (accepted" in out
    assert "Evidence: receipt_id: rcpt_" in out
    assert "writer (accepted" in out
    assert "The gate opened before he could." in out
    assert "editor (abstained" in out
    assert "ABSTAIN" not in out
    assert "critic (rejected" in out
    assert "evidence_missing" in out
    assert "--again critic --round run_" in err
    assert "transcript in issue #1" in err

    code, out, _ = here("conference", "--list", "--json")
    (listed,) = json.loads(out)["conferences"]
    asked = [each["user_message"] for each in listed["rounds"]]
    assert asked == ["What is wrong with the outline?"]

    code, out, err = here("conference", "--again", "critic", "--model", "script:good.json")
    # Each process plays the script from its beginning: the reply is rejected once more.
    assert code == 0, err
    assert "critic (rejected" in out

    code, out, _ = here("conference", "--show", "last")
    assert code == 0
    assert "Turn 1: What is wrong with the outline?  (closed)" in out
    assert "writer (accepted" in out


def test_a_round_for_programs_ends_with_the_round(here: Here) -> None:
    roster = ("--agents", "writer", "--model", "script:good.json", "--json")
    code, out, err = here("conference", "What is wrong with the outline?", *roster)
    assert code == 0, err
    last: dict[str, Any] = json.loads(out.splitlines()[-1])
    held = last["run"]["result"]
    assert held["status"] == "closed"
    assert [each["status"] for each in held["replies"]] == ["accepted", "accepted"]
    assert held["issue_id"] == 1


def test_what_cannot_be_asked_is_said(here: Here) -> None:
    code, _, err = here("conference", "Hello.", "--tools", "no_such_tool")
    assert (code, "no_such_tool" in err) == (4, True)
    code, _, err = here("conference", "Hello.", "--agents", "poet")
    assert (code, "no enabled agent 'poet'" in err) == (2, True)
    code, _, err = here("conference", "--agents", "writer")
    assert (code, "is missing" in err) == (2, True)
    code, _, err = here("conference", "--again", "writer")
    assert (code, "No round has been held yet" in err) == (4, True)
    code, _, err = here("conference", "--list")
    assert (code, "No conference yet" in err) == (0, True)


@pytest.mark.req("CR-06", "CR-176")
def test_one_thing_is_said_and_answered(here: Here) -> None:
    words = ("chat", "-m", "I like snow.", "--agent", "writer", "--skip-tools")
    code, out, err = here(*words, "--model", "script:good.json")
    assert (code, out) == (0, "I remember snow.\n"), err


@pytest.mark.req("CR-06", "CR-176")
def test_a_talk_with_commands(here: Here) -> None:
    typed = "\n".join(
        [
            "/why",
            "I like snow.",
            "/agent editor",
            "Too long?",
            "/agent writer",
            "/agent poet",
            "And now?",
            "/history",
            "/why",
            "/dance",
            "/quit",
            "never said",
        ]
    )
    code, out, err = here(
        "chat", "--agent", "writer", "--skip-tools", "--model", "script:good.json", typed=typed
    )
    assert code == 0, err
    assert out.startswith("I remember snow.\nShorter.\nAs I said.\n")
    assert out.count("you: ") == 2
    assert "has not answered anything yet" in err
    assert "no enabled agent 'poet'" in err
    assert "There is no /dance" in err
    # The prompt of the last answer: the talk so far, the message, and nobody else's words.
    why = out[out.rindex("you: And now?") :]
    assert "I like snow." in why
    assert "Too long?" not in why
    assert "never said" not in out


def test_the_end_of_the_input_ends_the_talk(here: Here) -> None:
    code, out, _ = here("chat", "--agent", "writer", typed="")
    assert (code, out) == (0, "")
