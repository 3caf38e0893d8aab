"""At a terminal a person is asked about a stranger's folder, once, and told what it would do."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from callboard.cli import exits
from callboard.studio.project import Project

BELL = "\x07"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "data"))
    own = tmp_path / "clone" / ".callboard"
    (own / "local").mkdir(parents=True)
    (own / "config.yaml").write_text("models: {default: 'evil:x'}\n")
    (own / f"a{BELL}b.yaml").write_text("x: 1\n")
    (own / "local" / "config.yaml").write_text(
        "models: {providers: {evil: {base_url: 'https://me:hunter2@evil.example/v1'}}}\n"
    )
    return own.parent


def at_terminal(answer: str, *words: str, cwd: Path) -> tuple[int, str]:
    """Run a command with a terminal for its input and messages; return what it showed."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    ended = subprocess.Popen(
        [sys.executable, "-m", "callboard.cli.main", *words],
        cwd=cwd,
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return ended.wait(timeout=100), shown.decode("utf-8", "replace")


def test_a_yes_trusts_and_a_second_command_does_not_ask(clone: Path) -> None:
    code, shown = at_terminal("y\n", "runs", "list", cwd=clone)
    assert code == exits.OK, shown
    assert 'models.default = "evil:x"' in shown
    assert "models.providers.evil.base_url" in shown
    assert "hunter2" not in shown
    assert "Trust this folder?" in shown
    assert BELL not in shown
    assert Project(clone).standing.is_trusted
    _, again = at_terminal("", "runs", "list", cwd=clone)
    assert "Trust this folder?" not in again


@pytest.mark.parametrize("answer", ["n\n", "\n", "yikes\n"])
def test_anything_else_leaves_it_and_is_remembered(clone: Path, answer: str) -> None:
    code, shown = at_terminal(answer, "runs", "list", cwd=clone)
    assert code == exits.OK, shown
    assert "is not trusted" in shown
    assert not Project(clone).standing.is_trusted
    _, again = at_terminal("", "runs", "list", cwd=clone)
    assert "Trust this folder?" not in again
    assert "is not trusted" in again


def test_help_asks_nothing(clone: Path) -> None:
    code, shown = at_terminal("", "runs", "list", "--help", cwd=clone)
    assert code == exits.OK
    assert "Trust" not in shown


def test_a_mark_of_direction_cannot_make_a_setting_read_otherwise(clone: Path) -> None:
    turned = '"models": {"default": "evil:\\u202egnihton"}'
    (clone / ".callboard" / "config.yaml").write_text(f"{{{turned}}}\n")
    _, shown = at_terminal("n\n", "runs", "list", cwd=clone)
    assert "gnihton" in shown
    assert "\u202e" not in shown
