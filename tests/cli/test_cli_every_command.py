"""Every command of `callboard`, found by walking the tree: its help, its refusals, its JSON."""

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from clitools import Ended

from callboard.cli import exits
from callboard.cli.command_apps import app_of
from callboard.cli.main import main
from callboard.cli.table import names

Words = tuple[str, ...]

NOBODY = "no-such-thing"
# What a word names: something that must exist, or one of a few values, or the user's own text.
NAMES_A_THING = frozenset(
    [
        "ARCHIVE",
        "ARTIFACT",
        "CHANGE",
        "CONFLICT",
        "FILE",
        "FILES",
        "HOOK",
        "ID",
        "LESSON",
        "LOOP",
        "MODEL",
        "NAME",
        "NUMBER",
        "PLAN",
        "PROPOSAL",
        "PROVIDER",
        "QUESTION",
        "RECEIPT",
        "RECIPE",
        "ROLE",
        "RUN",
        "SCENE",
        "SECTION",
        "SESSION",
        "SNAPSHOT",
        "TABLE",
        "TASK",
        "TOOL",
        "TOURNAMENT",
        "TU",
        "TURN",
        "VIEW",
        "WAIVER",
    ]
)
NAMES_A_VALUE = frozenset(["CATEGORY", "CHAPTER", "FUNCTION", "LETTER", "MODE", "SCOPE", "WHAT"])
IS_TEXT = frozenset(
    [
        "FOLDER",
        "KEY",
        "MESSAGE",
        "OTHER",
        "QUOTE",
        "REQUEST",
        "SCORE",
        "SLOT",
        "STEP",
        "TEXT",
        "TITLE",
        "VALUE",
        "VARIANT",
        "WISH",
    ]
)
# What a command asks for besides, so that the name is what it refuses.
BESIDES = {
    "issues link": ["--session", "main"],
    "factory correct": ["--tension", "3"],
    "factory theme": ["7", "--reason", "why"],
    "quest waive": ["--bar", "style", "--until", "2999-01-01"],
}
# These words name what is to be made, or what is asked about that need not exist.
MAKES = frozenset(
    {"sessions create", "factory notebook add", "factory cast", "factory winner", "models pull"}
)
PACKS = {"factory": "writers_factory", "alfred": "alfred", "quest": "questfoundry"}
TALKS = frozenset({"chat", "factory chat"})
GOES_ON = frozenset({"serve", "demo"})
LEAKS = (
    "Traceback",
    "pydantic",
    "validation error for",
    "Input should",
    "Field required",
    "Extra inputs",
    "mistake in Callboard",
)
LONGEST_MESSAGE_CHARS = 400


def walk(words: Words, command: Any) -> Iterator[tuple[Words, Any]]:
    members: dict[str, Any] | None = getattr(command, "commands", None)
    yield words, command
    for name, member in (members or {}).items():
        yield from walk((*words, name), member)


def tree() -> dict[str, tuple[Words, Any]]:
    found: dict[str, tuple[Words, Any]] = {}
    for name in names():
        for words, command in walk((name,), typer.main.get_command(app_of(name))):
            found[" ".join(words)] = words, command
    return found


TREE = tree()
SINGLE = {name: each for name, each in TREE.items() if not hasattr(each[1], "commands")}


def arguments_of(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "argument"]


def required_options(command: Any) -> list[str]:
    options = (each for each in command.params if each.param_type_name == "option")
    return [word for each in options if each.required for word in (each.opts[0], "x")]


def is_number(argument: Any) -> bool:
    kind = str(argument.type_descriptor.annotation)
    return "int" in kind or "float" in kind


@pytest.fixture(scope="module")
def kitchens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One project of each pack, as `callboard init` makes it."""
    made: dict[str, Path] = {}
    for pack in ("control_room", "writers_factory", "alfred", "questfoundry"):
        root = made[pack] = tmp_path_factory.mktemp("made") / pack
        assert main(["init", str(root), "--for", pack]) == exits.OK
    return made


@pytest.fixture
def told(
    kitchens: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Any:
    """Call a command in a fresh project of its pack, with a script for a model and no input."""
    replies = tmp_path / "replies.yaml"
    replies.write_text("replies: [{text: A plain sentence., times: always}]\n")
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", f"script:{replies}")
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    def call(words: Words, *more: str) -> Ended:
        pack = PACKS.get(words[0], "control_room")
        root = tmp_path / "here"
        if not root.exists():
            shutil.copytree(kitchens[pack], root)
            monkeypatch.chdir(root)
            assert main(["trust", "--yes"]) == exits.OK
        capsys.readouterr()
        code = main([*words, *more])
        out, err = capsys.readouterr()
        for leak in LEAKS:
            assert leak not in out + err, (words, more)
        return Ended(code, out, err)

    return call


def refusal(ended: Ended) -> dict[str, Any]:
    """Return the one error body of a refusal, which stands alone on standard output."""
    assert ended.err == ""
    error = ended.json["error"]
    assert 0 < len(error["message"]) <= LONGEST_MESSAGE_CHARS, error["message"]
    return error


@pytest.mark.parametrize("name", TREE)
def test_the_help_of_every_command_is_whole(told: Any, name: str) -> None:
    ended = told(TREE[name][0], "--help")
    assert ended.code == exits.OK
    assert ended.out.startswith(f"Usage: callboard {name} ")
    usage, _, rest = ended.out.partition("\n\n")
    assert "]]" not in ended.out and "}}" not in ended.out
    assert not re.search(r"\.\.\.[\]}]|\.\.\.\.", usage)
    # Typer's own mark for "and more of these" stands in the usage only; anywhere else it is a cut.
    assert "..." not in rest


@pytest.mark.parametrize("name", SINGLE)
def test_every_command_refuses_what_it_does_not_take(told: Any, name: str) -> None:
    words, command = SINGLE[name]
    ended = told(words, "--no-such-option", "--json")
    assert ended.code == exits.USAGE
    assert refusal(ended)["code"] == "usage"
    if any(each.required for each in command.params):
        ended = told(words, "--json")
        assert ended.code == exits.USAGE
        assert refusal(ended)["code"] == "usage"
        plain = told(words)
        assert plain.code == exits.USAGE and plain.out == ""
        assert "Way out: See `callboard" in plain.err or plain.err.startswith("Usage:")
    if any(is_number(each) for each in arguments_of(command)):
        ended = told(words, *("x" for _ in arguments_of(command)), "--json")
        assert ended.code == exits.USAGE
        assert "must be a" in refusal(ended)["message"]


def test_every_word_a_command_takes_is_of_a_known_kind() -> None:
    kinds = NAMES_A_THING | NAMES_A_VALUE | IS_TEXT
    for name, (_, command) in SINGLE.items():
        for each in arguments_of(command):
            assert each.metavar in kinds, (name, each.metavar)


NAMING = [
    name
    for name, (_, command) in SINGLE.items()
    if name not in MAKES
    and any(each.required and each.metavar in NAMES_A_THING for each in arguments_of(command))
]


@pytest.mark.parametrize("name", NAMING)
def test_every_command_says_when_there_is_no_such_thing(told: Any, name: str) -> None:
    words, command = SINGLE[name]
    given = ["7" if is_number(each) else NOBODY for each in arguments_of(command) if each.required]
    more = [*required_options(command), *BESIDES.get(name, [])]
    ended = told(words, *given, *more, "--json")
    error = refusal(ended)
    if error["code"] == "wrong_mode":
        # The book is not where this is done at all, whichever scene is named.
        assert ended.code == exits.CONFLICT
        return
    assert ended.code == exits.NOT_FOUND, error
    assert error["details"]["fix"]


ALONE = [
    name
    for name, (_, command) in SINGLE.items()
    if name not in GOES_ON and not any(each.required for each in command.params)
]


@pytest.mark.parametrize("name", ALONE)
def test_every_command_that_needs_no_word_prints_json(told: Any, name: str) -> None:
    ended = told(SINGLE[name][0], "--json")
    if name in TALKS:
        assert ended.out == ""
        return
    try:
        whole = json.loads(ended.out)
    except ValueError:
        whole = [json.loads(line) for line in ended.out.splitlines()]
    assert isinstance(whole, dict | list)
    if ended.code != exits.OK:
        assert isinstance(whole, list) or "error" in whole or ended.code == exits.FAILED, whole
