"""The pack of `docs/packs.md`, as a wheel: its doors are there, and no line of ours was changed."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from distributions import Home, install, write_files

from callboard.packs import questfoundry

QUEST = Path(questfoundry.__file__).parent
DOCS = Path(__file__).resolve().parents[3] / "docs"
FILE_BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLANTS = [{"name": "basil", "every_days": 2}, {"name": "cactus", "every_days": 30}]
REPLIES = {"replies": [{"text": "Water the basil.", "times": "always"}]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Where the tutorial's distribution is installed, with a project of its pack."""
    folder = tmp_path_factory.mktemp("greenhouse")
    pages = [(DOCS / name).read_text("utf-8") for name in ("packs.md", "testing.md")]
    blocks = {name: text for page in pages for name, text in FILE_BLOCK.findall(page)}
    assert {"project/plants.md", "greenhouse/pyproject.toml"} < set(blocks)
    write_files(folder, blocks)
    _add_loops(folder / "greenhouse")
    install(folder / "greenhouse", folder / "site")
    home = Home(folder, folder / "site")
    (folder / "replies.json").write_text(json.dumps(REPLIES), "utf-8")
    begun = home.call("init", "project", "--for", "greenhouse")
    assert begun.code == 0, begun.err
    assert "callboard plants list" in begun.out
    return home


def _add_loops(source: Path) -> None:
    """Have the distribution bring loops for branching books, too; one takes a name of the pack."""
    with (source / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write('"greenhouse.loops" = ["*.yaml"]\n\n')
        file.write('[project.entry-points."questfoundry.loops"]\ngreenhouse = "greenhouse.loops"\n')
    spark = (QUEST / "loops" / "story_spark.yaml").read_text("utf-8")
    files = {"__init__.py": '"""Loops of the greenhouse."""\n', "story_spark.yaml": spark}
    files["seedling.yaml"] = spark.replace("id: story_spark", "id: seedling")
    files["weed.yaml"] = spark.replace("id: story_spark", "id: weed").replace("purpose:", "aim:")
    write_files(source / "src" / "greenhouse" / "loops", files)


@pytest.mark.req("QF-13", "QF-14")
def test_its_loop_is_one_of_those_for_branching_books(home: Home) -> None:
    assert home.call("init", "book", "--for", "questfoundry").code == 0
    words = ("--project", "book", "--json")
    listed = home.call("quest", "loops", *words)
    assert len(listed.json["loops"]) == 14 and "seedling" in listed.json["loops"]
    taken, wrong = listed.json["problems"]
    assert "story_spark" in taken and "weed.yaml" in wrong and "purpose" in wrong
    assert listed.code == 1
    shown = home.call("quest", "loop", "show", "seedling", *words).json
    assert shown["steps"][0]["id"] == "step_1_topology_draft"
    ran = home.call("quest", "run", "seedling", "--batch", "--model", "script:replies.json", *words)
    told = json.loads(ran.out.splitlines()[-1])
    # The gardener's one sentence is no topology: the loop itself was begun, and says so.
    assert ran.code == 1 and told["unit"]["loop"] == "seedling"


@pytest.fixture
def server(home: Home) -> Iterator[dict[str, Any]]:
    process = home.serve("--project", "project")
    assert process.stdout is not None
    try:
        told = process.stdout.readline()
        assert told, process.communicate()
        yield json.loads(told)
    finally:
        process.terminate()
        process.communicate()


def test_the_wheel_holds_what_is_no_code(home: Home) -> None:
    installed = home.folder / "site" / "greenhouse"
    assert (installed / "pack.yaml").is_file()
    assert (installed / "prompts" / "advice.md").is_file()


def test_its_command_is_listed_and_works(home: Home) -> None:
    listed = home.call("--help").out
    assert "\nGreenhouse:\n  plants      what grows in the greenhouse\n" in listed
    assert home.call("plants", "list", "--project", "project", "--json").json == {"plants": PLANTS}
    assert "every 30 days" in home.call("plants", "list", "--project", "project").out


def test_its_tool_leaves_a_receipt(home: Home) -> None:
    words = ("--arg", "thirsty_within_days=7", "--project", "project", "--json")
    ran = home.call("tool", "run", "list_plants", *words)
    assert ran.code == 0, ran.err
    assert ran.json["payload"]["plants"] == PLANTS[:1]
    shown = home.call("receipts", "list", "--project", "project", "--json")
    assert "list_plants" in shown.out, shown


def test_its_choreography_runs_on_a_script(home: Home) -> None:
    words = ("--model", "script:replies.json", "--project", "project", "--json")
    ran = home.call("run", "advise", *words)
    assert ran.code == 0, ran.err
    run = json.loads(ran.out.splitlines()[-1])["run"]
    assert run["choreography"] == "greenhouse/advise"
    assert run["result"] == {"advice": "Water the basil."}


def test_its_route_and_its_page_are_served(server: dict[str, Any]) -> None:
    assert httpx.get(f"{server['url']}/greenhouse/plants").json() == PLANTS
    described = httpx.get(f"{server['url']}/openapi.json").json()
    assert "/api/greenhouse/plants" in described["paths"]
    root = server["url"].removesuffix("/api")
    page = httpx.get(f"{root}/greenhouse/")
    assert page.status_code == 200
    assert "<title>Greenhouse</title>" in page.text
    assert "In the greenhouse" in page.text and "basil, every 2 days" in page.text
    assert httpx.get(server["page"]).headers["location"] == "/greenhouse/"


@pytest.mark.timeout(300)
def test_its_own_tests_pass_with_the_plugin(home: Home) -> None:
    """The tests of `docs/testing.md`: fixtures, crashes, and the conformance suite."""
    plugins = ["-p", "callboard.testing.plugin", "-p", "no:randomly", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--rootdir=.", "-q", "tests"],
        cwd=home.folder / "greenhouse",
        env=home.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"^14 passed in", done.stdout, re.MULTILINE), done.stdout


def test_the_plugin_loads_nothing_until_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "test_else.py").write_text(
        "import sys\n\ndef test_else():\n"
        "    ours = [name for name in sys.modules if name.startswith('callboard')]\n"
        "    assert set(ours) == {'callboard', 'callboard.testing', 'callboard.testing.plugin'}\n"
    )
    plugins = ["-p", "callboard.testing.plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "--rootdir=.", "-q", "test_else.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_nothing_is_wrong_with_it(home: Home) -> None:
    listed = home.call("packs", "list", "--json").json
    assert "greenhouse" in [each["name"] for each in listed["packs"]]
    assert listed["problems"] == []
    found = home.call("doctor", "--project", "project", "--json").json["findings"]
    assert [each["mark"] for each in found if each["what"] == "packs"] == ["ok"]
