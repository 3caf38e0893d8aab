"""The Tab key: scripts for three shells, and what they are answered."""

import os
import subprocess
from pathlib import Path

import pytest
from clitools import SCRIPT, Here, call

from callboard.cli import exits
from callboard.cli.table import names


def tab(*words: str, cwd: Path) -> list[str]:
    """Press Tab in a real bash after some words; the last one may be unfinished."""
    listed = " ".join(f"'{word}'" for word in ("callboard", *words))
    script = (
        "source <(callboard completion bash)\n"
        f"COMP_WORDS=({listed}); COMP_CWORD={len(words)}\n"
        '_callboard_completion callboard; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/usr/bin/env", "bash", "-c", script],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_bash_completes_commands_their_parts_and_options(project: Path) -> None:
    assert tab("", cwd=project) == names()
    assert tab("ru", cwd=project) == ["run", "runs"]
    assert tab("runs", "wa", cwd=project) == ["watch"]
    assert tab("run", "--det", cwd=project) == ["--detach"]


def test_bash_completes_the_runs_of_the_project(project: Path, done_run: str) -> None:
    assert tab("runs", "show", "", cwd=project) == ["last", done_run]
    elsewhere = ("runs", "show", "--project", str(project), "")
    assert tab(*elsewhere, cwd=project.parent) == ["last", done_run]
    assert tab("runs", "show", "", cwd=project.parent) == []


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "callboard runs wa"}),
        (
            "fish",
            {
                "_TYPER_COMPLETE_ARGS": "callboard runs wa",
                "_TYPER_COMPLETE_FISH_ACTION": "get-args",
            },
        ),
    ],
)
def test_other_shells_are_answered_with_what_each_word_does(
    shell: str, asked: dict[str, str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = call("completion", shell, cwd=project)
    assert script.code == 0
    for name, value in {"_CALLBOARD_COMPLETE": f"complete_{shell}", **asked}.items():
        assert name in script.out
        monkeypatch.setenv(name, value)
    answered = call(cwd=project)
    assert answered.code == 0
    assert "watch" in answered.out
    assert "Watch a run that another process executes" in answered.out


def test_an_unknown_shell_is_told(here: Here) -> None:
    for words in ((), ("ksh",), ("bash", "zsh")):
        refused = here("completion", *words)
        assert (refused.code, refused.out) == (exits.USAGE, "")
        assert "one of: bash, zsh, fish" in refused.err
    helped = here("completion", "--help")
    assert helped.code == 0
    assert "source <(callboard completion bash)" in helped.out
