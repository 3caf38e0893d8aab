"""What strangers wrote never steers the terminal, whichever way it comes to be shown."""

import contextlib
import os
import pty
import threading
from pathlib import Path

import pytest

from warm_process import call_warm

TITLE = "\x1b]0;TITLE\x07"
# What a terminal acts on: everything below a space but tab, line end and carriage return.
STEERING = {*range(0x20), 0x7F} - {0x09, 0x0A, 0x0D}


def on_terminal(project: Path, *words: str) -> bytes:
    """Run a command on a terminal of its own and return all that it wrote."""
    main, side = pty.openpty()
    told = bytearray()

    def read() -> None:
        # Nobody has the other side any more: the end.
        with contextlib.suppress(OSError):
            while part := os.read(main, 65_536):
                told.extend(part)

    reading = threading.Thread(target=read)
    reading.start()
    try:
        env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
        call_warm(*words, cwd=project, env=env, terminal=os.ttyname(side))
    finally:
        os.close(side)
        reading.join()
        os.close(main)
    return bytes(told)


def assert_plain(told: bytes) -> None:
    assert told
    assert not STEERING.intersection(told), told
    assert b"\xc2\x9b" not in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("config.yaml", '"\\e]0;TITLE\\a": 1\n'),
        ("config.yaml", 'pack: "\\e]0;TITLE\\a"\n'),
        ("config.yaml", 'models: {default: "\\x9b31m"}\n'),
        ("agents.yaml", '- {id: "\\e]0;TITLE\\a"}\n'),
        ("agents.yaml", '- {id: one, "\\e[2J": 1}\n'),
        ("recipes/own.json", '{"\\u001b]0;TITLE\\u0007": 1}'),
        (f"prompts/{TITLE}.md", "---\nlabel: [\n---\n"),
    ],
)
@pytest.mark.parametrize(
    "words", [("agents",), ("doctor",), ("config", "show"), ("agents", "--json")]
)
def test_a_projects_files_cannot_steer_the_terminal(
    project: Path, name: str, text: str, words: tuple[str, ...]
) -> None:
    (project / ".callboard" / name).write_text(text)
    told = on_terminal(project, *words)
    assert_plain(told)


def test_an_error_and_its_traceback_cannot_either(project: Path) -> None:
    for words in (
        ("runs", "show", TITLE),
        ("runs", "show", TITLE, "--debug"),
        ("tool", "run", "read_file", "--arg", f"path={TITLE}", "--json"),
        ("tool", "run", TITLE),
        (TITLE,),
    ):
        assert_plain(on_terminal(project, *words))


def test_what_is_piped_stays_as_it_is(project: Path) -> None:
    (project / "raw.md").write_text(TITLE)
    words = ("tool", "run", "read_file", "--arg", "path=raw.md", "--json")
    piped = call_warm(*words, cwd=project)
    assert piped.returncode == 0, piped.stderr
    assert "\\u001b]0;TITLE" in piped.stdout
