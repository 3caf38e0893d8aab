"""A folder somebody else made is a stranger: what it brings counts only when the user says so."""

import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from callboard.cli import exits
from callboard.cli.main import main
from callboard.core.vocabulary.run import RunState
from callboard.store.journal.runs import list_runs
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.studio.trust import StandingKind, TrustRegistry
from callboard.testing.opening import SCRIPTED
from warm_process import call_warm

CONFIG = "pack: alfred\nlog:\n  level: error\nmodels:\n  timeout_seconds: 7\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder that came with a `.callboard/` of somebody else's."""
    root = tmp_path / "clone"
    own = root / ".callboard"
    (own / "recipes").mkdir(parents=True)
    (own / "prompts").mkdir()
    (own / "local").mkdir()
    (root / "notes.md").write_text("# The Gate\n\nKael waits.\n")
    (own / "config.yaml").write_text(CONFIG)
    (own / "local" / "config.yaml").write_text("models:\n  inactivity_timeout_seconds: 3\n")
    (own / "agents.yaml").write_text("- {id: intruder, name: Intruder}\n")
    (own / "recipes" / "theirs.yaml").write_text("recipe_id: theirs\n")
    return root


def run(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return call_warm(*words, cwd=cwd, env={**os.environ, **environment})


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def seen(root: Path) -> tuple[str, float, float, set[str]]:
    """What a studio opened on a folder takes from it."""
    async with Studio.open(root, Opening(recover=False)) as studio:
        models = studio.settings.models
        agents = {agent.id for agent in studio.repertoire.agents()}
        return (
            studio.settings.pack,
            models.timeout_seconds,
            models.inactivity_timeout_seconds,
            agents & {"intruder"},
        )


@pytest.mark.anyio
async def test_a_stranger_says_only_what_does_no_harm(clone: Path) -> None:
    before = everything(clone)
    assert await seen(clone) == ("alfred", 120.0, 60.0, set())
    assert everything(clone) == before, "nothing is written into it"
    assert main(["trust", str(clone), "--yes"]) == exits.OK
    assert await seen(clone) == ("alfred", 7.0, 3.0, {"intruder"})
    assert main(["trust", str(clone), "--revoke"]) == exits.OK
    assert await seen(clone) == ("alfred", 120.0, 60.0, set())


def test_every_command_says_in_one_line_what_is_ignored(clone: Path) -> None:
    for words in (("tool", "list"), ("runs", "list"), ("config", "show"), ("doctor",)):
        ended = run(*words, cwd=clone)
        lines = (ended.stderr + ended.stdout).splitlines()
        told = [line for line in lines if "trusted" in line and "gnored: " in line]
        assert len(told) == 1, (words, ended.stderr)
        for name in ("config.yaml", "agents.yaml", "recipes", "local"):
            assert name in told[0]
        assert "callboard trust" in ended.stderr + ended.stdout


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["a real one", "no database at all"])
async def test_doctor_calls_a_stranger_s_database_unwell(
    clone: Path, tmp_path: Path, kind: str
) -> None:
    def databases() -> tuple[int, list[str]]:
        ended = run("doctor", "--json", cwd=clone)
        found = json.loads(ended.stdout)["findings"]
        told = [each for each in found if each["what"] == "database" and each["mark"] == "bad"]
        return ended.returncode, [each["told"] for each in told]

    # A folder nobody trusts is no illness by itself.
    assert databases() == (exits.OK, [])
    database = clone / ".callboard" / "callboard.db"
    if kind == "a real one":
        await make_interrupted(tmp_path / "theirs")
        shutil.copy(tmp_path / "theirs/.callboard/callboard.db", database)
    else:
        database.write_text("not a database")
    before = database.read_bytes()
    code, told = databases()
    assert code == exits.FAILED
    (named,) = told
    assert "callboard.db" in named
    assert database.read_bytes() == before
    assert run("doctor", "--fix", cwd=clone).returncode == exits.FAILED
    # Once it is out of the way, all is well.
    assert run("trust", "--yes", "--database", "aside", cwd=clone).returncode == exits.OK
    assert databases() == (exits.OK, [])


def test_a_stranger_that_says_nothing_harmful_is_told_to_bring_nothing(tmp_path: Path) -> None:
    (tmp_path / ".callboard").mkdir()
    (tmp_path / ".callboard" / "config.yaml").write_text("pack: control_room\n")
    assert "Ignored: nothing so far." in run("runs", "list", cwd=tmp_path).stderr


def test_tools_work_in_a_stranger_s_folder_and_leave_their_receipts_elsewhere(clone: Path) -> None:
    ended = run("tool", "run", "text_stats", "--arg", 'paths=["notes.md"]', "--json", cwd=clone)
    assert ended.returncode == exits.OK, ended.stderr
    assert not (clone / ".callboard" / "callboard.db").exists()
    assert not (clone / ".callboard" / "audit").exists()
    verified = run("receipts", "verify", "--json", cwd=clone)
    assert json.loads(verified.stdout)["receipts"] == 1


def test_without_a_terminal_trust_is_refused_and_the_flag_is_named(clone: Path) -> None:
    refused = run("trust", cwd=clone)
    assert refused.returncode == exits.NEEDS_YOU
    assert "--yes" in refused.stderr
    assert "--trust-once" in refused.stderr
    for told in ("models.timeout_seconds = 7", "agents.yaml", "local/config.yaml"):
        assert told in refused.stderr
    once = run("agents", "--json", "--trust-once", cwd=clone)
    assert "intruder" in once.stdout
    after = run("agents", "--json", cwd=clone)
    assert "intruder" not in after.stdout


def test_what_was_granted_once_is_found_again_and_still_not_trusted(clone: Path) -> None:
    words = ("tool", "run", "text_stats", "--arg", 'paths=["notes.md"]', "--trust-once")
    assert run(*words, cwd=clone).returncode == exits.OK
    assert run(*words, cwd=clone).returncode == exits.OK
    verified = run("receipts", "verify", "--json", "--trust-once", cwd=clone)
    assert json.loads(verified.stdout)["receipts"] == 2
    assert Project(clone).standing.kind is StandingKind.REVOKED


async def make_interrupted(root: Path) -> str:
    """Make a project with a run that waits for its human, and its own key beside it."""
    shutil.copytree(Path(__file__).parents[3] / "src/callboard/packs/examples/sample", root)
    Project.init(root)
    async with Studio.open(root, Opening(flags=SCRIPTED)) as studio:
        run = await studio.start("examples/recipe", dispatch=False)
        return run.id


@pytest.mark.anyio
async def test_a_shipped_database_is_neither_read_nor_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "stranger"))
        run_id = await make_interrupted(tmp_path / "project")
    root = tmp_path / "project"
    kept = (root / ".callboard" / "callboard.db").read_bytes()

    listed = run("runs", "list", "--json", cwd=root)
    assert run_id not in listed.stdout
    assert (root / ".callboard" / "callboard.db").read_bytes() == kept

    undecided = run("trust", "--yes", cwd=root)
    assert undecided.returncode == exits.NEEDS_YOU
    assert "--database" in undecided.stderr
    assert not Project(root).standing.is_trusted
    opened = run("runs", "list", "--trust-once", cwd=root)
    assert opened.returncode != exits.OK
    assert "was not made by you on this machine" in opened.stderr

    adopted = run("trust", "--yes", "--database", "adopt", "--json", cwd=root)
    assert json.loads(adopted.stdout)["paused_runs"] == 1
    async with Studio.open(root, Opening(flags=SCRIPTED, recover=True)) as studio:
        [found] = studio.database.read(list_runs)
        assert (found.id, found.state) == (run_id, RunState.PAUSED)


@pytest.mark.anyio
@pytest.mark.parametrize("choice", ["adopt", "aside"])
async def test_a_database_whose_adoption_did_not_end_stays_a_strangers(
    tmp_path: Path, choice: str
) -> None:
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "stranger"))
        await make_interrupted(tmp_path / "project")
    root = tmp_path / "project"
    database = root / ".callboard" / "callboard.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE VIEW stop AS SELECT 1")
    connection.close()
    assert run("trust", "--yes", "--database", "adopt", cwd=root).returncode != exits.OK
    with sqlite3.connect(database) as connection:
        connection.execute("DROP VIEW stop")
    connection.close()

    opened = run("runs", "list", cwd=root)
    assert "was not made by you on this machine" in opened.stderr
    decided = run("trust", "--yes", "--database", choice, "--json", cwd=root)
    assert json.loads(decided.stdout)["paused_runs"] == (1 if choice == "adopt" else 0)
    assert run("tool", "run", "find_files", cwd=root).returncode == exits.OK
    assert run("runs", "list", cwd=root).returncode == exits.OK


@pytest.mark.anyio
async def test_a_database_nobody_looks_at_is_not_said_to_be_sound(tmp_path: Path) -> None:
    root = tmp_path / "project"
    await make_interrupted(root)
    assert run("receipts", "verify", cwd=root).returncode == exits.OK
    (root / ".callboard" / "local" / "project-id").unlink()
    verified = run("receipts", "verify", cwd=root)
    assert verified.returncode == exits.FAILED
    assert "callboard.db was not looked at" in verified.stdout


@pytest.mark.anyio
async def test_a_shipped_database_is_moved_away_whole(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "stranger"))
        run_id = await make_interrupted(tmp_path / "project")
    root = tmp_path / "project"
    moved = run("trust", "--yes", "--database", "aside", "--json", cwd=root)
    aside = Path(json.loads(moved.stdout)["aside"])
    with sqlite3.connect(aside / "callboard.db") as connection:
        assert [row[0] for row in connection.execute("SELECT id FROM runs")] == [run_id]
    connection.close()
    assert run_id not in run("runs", "list", "--json", cwd=root).stdout


@pytest.mark.anyio
async def test_a_database_laid_into_a_trusted_folder_later_is_refused(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    Project.init(mine)
    with pytest.MonkeyPatch.context() as theirs:
        theirs.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "stranger"))
        await make_interrupted(tmp_path / "theirs")
    shutil.copy(tmp_path / "theirs/.callboard/callboard.db", mine / ".callboard/callboard.db")
    refused = run("runs", "list", cwd=mine)
    assert refused.returncode != exits.OK
    assert "was not made by you on this machine" in refused.stderr


@pytest.mark.anyio
async def test_a_database_swapped_for_another_one_is_not_gone_on_with(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        await make_interrupted(tmp_path / name)
    other = tmp_path / "theirs/.callboard/callboard.db"
    shutil.copy(other, tmp_path / "mine/.callboard/callboard.db")
    refused = run("run", "examples/recipe", cwd=tmp_path / "mine")
    assert refused.returncode == exits.NEEDS_YOU, refused.stderr
    assert "somebody who does not have your key" in refused.stderr
    looked = run("doctor", cwd=tmp_path / "mine")
    assert looked.returncode == exits.FAILED
    assert run("doctor", "--accept", cwd=tmp_path / "mine").returncode == exits.OK
    assert run("runs", "list", cwd=tmp_path / "mine").returncode == exits.OK


def test_a_folder_that_was_replaced_moved_or_given_away_is_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "book"
    Project.init(root)
    assert Project(root).standing.kind is StandingKind.TRUSTED

    moved = tmp_path / "moved"
    root.rename(moved)
    assert Project(moved).standing.kind is StandingKind.MOVED
    TrustRegistry().trust(moved, 1)
    assert Project(moved).standing.kind is StandingKind.TRUSTED

    # The same bytes, id included, in a folder made anew: as a zip that came back would be.
    shutil.move(moved / ".callboard", tmp_path / "kept")
    shutil.copytree(tmp_path / "kept", moved / ".callboard")
    assert Project(moved).standing.kind is StandingKind.REPLACED
    TrustRegistry().trust(moved, 2)
    assert Project(moved).standing.kind is StandingKind.TRUSTED

    if os.geteuid() == 0:
        os.chown(moved, 12345, -1)
        assert Project(moved).standing.kind is StandingKind.OTHER_OWNER


def test_an_id_that_somebody_copied_is_worth_nothing_elsewhere(tmp_path: Path, clone: Path) -> None:
    mine = tmp_path / "mine"
    Project.init(mine)
    shutil.copy(mine / ".callboard/local/project-id", clone / ".callboard/local/project-id")
    assert Project(clone).standing.kind is StandingKind.MOVED
    assert not Project(clone).standing.is_trusted


def test_two_users_of_one_folder_each_trust_for_themselves(tmp_path: Path) -> None:
    root = tmp_path / "shared"
    Project.init(root)
    with pytest.MonkeyPatch.context() as other:
        other.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "other-user"))
        assert Project(root).standing.kind is StandingKind.STRANGER
    assert Project(root).standing.is_trusted


def test_a_lost_data_folder_makes_the_project_a_stranger_that_can_be_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLBOARD_DATA_DIR", str(tmp_path / "data"))
    root = tmp_path / "book"
    Project.init(root)
    (root / "notes.md").write_text("words\n")
    words = ("tool", "run", "text_stats", "--arg", 'paths=["notes.md"]')
    assert run(*words, cwd=root).returncode == exits.OK
    shutil.rmtree(tmp_path / "data")
    assert run("runs", "list", cwd=root).returncode == exits.OK
    assert run("trust", "--yes", "--database", "adopt", cwd=root).returncode == exits.OK
    listed = run("receipts", "list", "--json", cwd=root)
    assert "text_stats" in listed.stdout


def test_an_init_in_a_stranger_s_folder_does_not_trust_it(clone: Path) -> None:
    assert main(["init", str(clone)]) == exits.OK
    assert not Project(clone).standing.is_trusted


@pytest.mark.parametrize(
    "hostile", ["not-an-id", "../../../etc", "0" * 32, "", "\x00" * 32, "a" * 100_000]
)
def test_an_id_that_is_none_leads_nowhere(clone: Path, hostile: str) -> None:
    (clone / ".callboard/local/project-id").write_text(hostile)
    assert Project(clone).standing.kind is StandingKind.STRANGER


def test_a_fifo_or_a_link_for_an_id_leads_nowhere(clone: Path) -> None:
    path = clone / ".callboard/local/project-id"
    os.mkfifo(path)
    assert Project(clone).standing.kind is StandingKind.STRANGER
    path.unlink()
    path.symlink_to("/dev/zero")
    assert Project(clone).standing.kind is StandingKind.STRANGER


def test_a_kitchen_that_a_pull_brought_is_refused_until_it_is_decided_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "theirs"):
        assert run("init", str(tmp_path / name), "--for", "alfred", cwd=tmp_path).returncode == 0
        ended = run("alfred", "list", "recipes", cwd=tmp_path / name)
        assert ended.returncode == exits.OK, ended.stderr
    mine, theirs = (tmp_path / name / ".callboard/kitchen.db" for name in ("mine", "theirs"))
    before = (tmp_path / "mine/.callboard/callboard.db").stat().st_ino
    mine.unlink()
    shutil.copy(theirs, mine)
    refused = run("alfred", "list", "recipes", cwd=tmp_path / "mine")
    assert refused.returncode == exits.NEEDS_YOU
    assert "kitchen.db" in refused.stderr
    assert "kitchen.db" in run("doctor", cwd=tmp_path / "mine").stdout
    moved = run("trust", "--yes", "--database", "aside", "--json", cwd=tmp_path / "mine")
    assert (Path(json.loads(moved.stdout)["aside"]) / "kitchen.db").is_file()
    assert (tmp_path / "mine/.callboard/callboard.db").stat().st_ino == before
    assert run("alfred", "list", "recipes", cwd=tmp_path / "mine").returncode == exits.OK
    shutil.copy(theirs, mine)
    assert run("trust", "--yes", "--database", "adopt", cwd=tmp_path / "mine").returncode == 0
    assert run("alfred", "list", "recipes", cwd=tmp_path / "mine").returncode == exits.OK
