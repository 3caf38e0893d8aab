"""The pack of `docs/packs.md`, as a wheel: its doors are there, and no line of ours was changed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from distributions import Home, install, write_files

PAGE = Path(__file__).resolve().parents[2] / "docs" / "packs.md"
FILE_BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLANTS = [{"name": "basil", "every_days": 2}, {"name": "cactus", "every_days": 30}]
REPLIES = {"replies": [{"text": "Water the basil.", "times": "always"}]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Where the tutorial's distribution is installed, with a project of its pack."""
    folder = tmp_path_factory.mktemp("greenhouse")
    blocks = dict(FILE_BLOCK.findall(PAGE.read_text("utf-8")))
    assert {"project/plants.md", "greenhouse/pyproject.toml"} < set(blocks)
    write_files(folder, blocks)
    install(folder / "greenhouse", folder / "site")
    home = Home(folder, folder / "site")
    (folder / "replies.json").write_text(json.dumps(REPLIES), "utf-8")
    begun = home.call("init", "project", "--for", "greenhouse")
    assert begun.code == 0, begun.err
    assert "callboard plants list" in begun.out
    return home


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


def test_nothing_is_wrong_with_it(home: Home) -> None:
    listed = home.call("packs", "list", "--json").json
    assert "greenhouse" in [each["name"] for each in listed["packs"]]
    assert listed["problems"] == []
    found = home.call("doctor", "--project", "project", "--json").json["findings"]
    assert [each["mark"] for each in found if each["what"] == "packs"] == ["ok"]
