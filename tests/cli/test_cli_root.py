"""The door itself: help, version, wrong calls, and what is not loaded for them."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from clitools import Here, call

import callboard
import callboard.cli.commands as commands
from callboard.cli import exits
from callboard.cli.table import OWN, of_packs

HEAVY_FOR_HELP = ("typer", "rich", "pydantic", "asyncio", "typing", "sqlite3", "yaml", "argparse")
HEAVY_FOR_LISTS = ("pydantic_ai", "xllamacpp", "tokenizers", "sqlalchemy", "numpy", "rich", "yaml")


def loaded(words: list[str], names: tuple[str, ...], cwd: Path) -> list[str]:
    """Return which modules a command has loaded, in a process of its own."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from callboard.cli.main import main\n"
        f"assert main({words!r}) == 0\n"
        f"print([n for n in {names!r} if n in sys.modules and n not in before], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True
    )
    return eval(done.stderr.splitlines()[-1])  # noqa: S307 - a list this test printed itself


def test_help_and_version_load_nothing_heavy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(tmp_path / "cache"))
    assert loaded(["--version"], HEAVY_FOR_HELP, tmp_path) == []
    # The first time, the packs are looked through; what they bring is remembered.
    assert "yaml" in loaded(["--help"], HEAVY_FOR_HELP, tmp_path)
    assert loaded(["--help"], HEAVY_FOR_HELP, tmp_path) == []


@pytest.mark.parametrize("damage", ["", "callboard commands 0\n", "in\tnever\t/nowhere\n", "\x00"])
def test_a_damaged_memory_of_commands_is_made_anew(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_CACHE_DIR", str(tmp_path))
    whole = [(row.title, row.name, row.help, row.needs_project) for row in of_packs()]
    (kept,) = tmp_path.iterdir()
    text = kept.read_text("utf-8")
    kept.write_text(damage if "in" not in damage else text.splitlines()[0] + "\n" + damage)
    assert [(row.title, row.name, row.help, row.needs_project) for row in of_packs()] == whole
    assert kept.read_text("utf-8") == text
    assert [(row.title, row.name, row.help, row.needs_project) for row in of_packs()] == whole


def test_listing_runs_loads_no_model_and_no_engine_room(project: Path, done_run: str) -> None:
    assert done_run
    assert loaded(["runs", "list"], HEAVY_FOR_LISTS, project) == []
    assert loaded(["runs", "show", "last"], HEAVY_FOR_LISTS, project) == []


def test_version(tmp_path: Path) -> None:
    ended = call("--version", cwd=tmp_path)
    assert (ended.code, ended.out) == (0, f"callboard {callboard.__version__}\n")


def test_root_help_names_every_command_and_every_exit_code(here: Here) -> None:
    ended = here("--help")
    assert ended.code == 0
    packs = {row.name: row.help for row in of_packs()}
    assert {"plan", "factory", "alfred"} <= set(packs)
    for name, told in {**OWN, **packs}.items():
        assert f"  {name:<12}{told}" in ended.out
    for code in exits.MEANINGS:
        assert f"\n  {code:<5}" in ended.out


def test_every_command_has_a_module_and_every_module_a_command() -> None:
    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    modules = {name: importlib.import_module(f"callboard.cli.commands.{name}") for name in names}
    # A module without an application of its own holds a part of another command.
    whole = {name: module.app for name, module in modules.items() if hasattr(module, "app")}
    assert set(whole) == set(OWN)
    assert all(app.info.help for app in whole.values())


def test_without_a_command_the_help_is_shown_and_the_call_counts_as_wrong(here: Here) -> None:
    assert here().code == exits.USAGE
    ended = here("runs")
    assert ended.code == exits.USAGE
    assert "retry" in ended.err


def test_an_unknown_command_names_the_closest_one(tmp_path: Path) -> None:
    ended = call("promtps", cwd=tmp_path)
    assert (ended.code, ended.out) == (exits.USAGE, "")
    assert "no command 'promtps'" in ended.err
    assert "Did you mean `callboard prompts`?" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--project", ".", "runs", "list"), "Options come after the command"),
        (("runs", "shwo", "last"), "shwo"),
        (("runs", "show"), "RUN"),
        (("runs", "list", "--colour"), "--colour"),
        (("runs", "list", "--limit", "0"), "--limit"),
        (("run", "recipe", "--arg", "subject"), "KEY=VALUE"),
        (("runs", "list", "--state", "asleep"), "pending, running, waiting"),
        (("runs", "resume"), "--all"),
    ],
)
def test_a_wrong_call_is_told_in_one_block(here: Here, words: tuple[str, ...], told: str) -> None:
    ended = here(*words)
    assert (ended.code, ended.out) == (exits.USAGE, "")
    assert told in ended.err
    assert "Way out: " in ended.err
    assert "Traceback" not in ended.err


def test_a_wrong_call_with_json_answers_with_the_error_body(here: Here) -> None:
    ended = here("runs", "show", "--json")
    assert (ended.code, ended.err) == (exits.USAGE, "")
    assert set(ended.json["error"]) == {"code", "message", "details"}
    assert ended.json["error"]["code"] == "usage"


def test_outside_of_a_project_the_way_in_is_told(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = here("runs", "list")
    assert (ended.code, ended.out) == (exits.NOT_FOUND, "")
    assert "is not a Callboard project" in ended.err
    assert "callboard init" in ended.err
    ended = here("run", "recipe", "--json")
    assert ended.code == exits.NOT_FOUND
    assert ended.json["error"]["code"] == "not_found"
    assert ended.json["error"]["details"]["fix"].startswith("Run `callboard init`")


def test_debug_adds_the_traceback_and_only_debug_does(here: Here) -> None:
    assert "Traceback" not in here("runs", "show", "nothing").err
    assert "Traceback" in here("runs", "show", "nothing", "--debug").err


def test_a_mistake_nobody_foresaw_is_told_without_a_traceback(
    here: Here, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".callboard" / "callboard.db").mkdir()
    ended = here("runs", "list")
    assert ended.code in (exits.FAILED, exits.NEEDS_YOU)
    assert "Traceback" not in ended.err
    assert "callboard.db" in ended.err
