"""Bad days of packs: whatever is wrong with one is named and left out; everything else works."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from distributions import Ended, Home, pretend_installed, write_files

import callboard.packs.examples as examples

DOORS = """
tools: [{file}:water]
choreographies: {{grow: {file}:grow}}
shelves: ['{file}:shelf']
commands: {{{name}: {{app: '{file}:app', help: what grows}}}}
routes: [{{router: '{file}:router', paths: [/{name}]}}]
page: {{path: /{name}, title: Plants, show: '{file}:show'}}
hooks: {{chat: '{file}:chat', serving: '{file}:serving'}}
"""
ROUTER = "from fastapi import APIRouter\nrouter = APIRouter()\n"
ROUTE = "@router.get('{path}')\nasync def answer() -> str:\n    return '{text}'\n"
APP = (
    "import typer\napp = typer.Typer()\n@app.command()\ndef main() -> None:\n    print('{text}')\n"
)
TOOL = """
from callboard.tools import ToolArgs, ToolContext, ToolResult, tool
class Args(ToolArgs): ...
@tool()
def {name}(context: ToolContext, args: Args) -> ToolResult:
    "Do something."
    return ToolResult({{"by": "{text}"}})
"""


def doors(name: str, file: str) -> str:
    return f"name: {name}\n" + DOORS.format(name=name, file=file)


PACKS = {
    "absent": {"pack.yaml": doors("absent", "gone.py")},
    "raising": {
        "pack.yaml": doors("raising", "parts.py"),
        "parts.py": "raise RuntimeError('the sky is falling')\n",
    },
    "quitting": {
        "pack.yaml": doors("quitting", "parts.py"),
        "parts.py": "import sys\nsys.exit(3)\n",
    },
    "nameless": {"pack.yaml": doors("nameless", "parts.py"), "parts.py": ""},
    # Everything is there, and nothing of it is what it should be.
    "mistaken": {
        "pack.yaml": doors("mistaken", "parts.py"),
        "parts.py": "water = grow = app = router = 7\n"
        "def shelf(studio): return studio.nothing\n"
        "def show(): raise RuntimeError('no page today')\n"
        "def serving(studio): raise RuntimeError('not today')\n",
    },
    "malformed": {"pack.yaml": "name: ["},
    "wordy": {"pack.yaml": "name: wordy\ncolour: green\n"},
    "without_file": {},
    "twin_one": {"pack.yaml": "name: twin\ntitle: The first\n"},
    "twin_two": {"pack.yaml": "name: twin\ntitle: The second\n"},
    "clashing": {
        "pack.yaml": "name: clashing\n"
        "tools: ['parts.py:search_text', 'parts.py:shared']\n"
        "commands:\n"
        "  run: {app: 'parts.py:app', help: never seen}\n"
        "  version: {app: 'parts.py:app', help: never seen}\n"
        "  fine: {app: 'parts.py:app', help: seen}\n"
        "routes: [{router: 'parts.py:router', paths: [/runs, /shared]}]\n"
        "page: {path: /api, title: Never seen, show: 'parts.py:app'}\n",
        "parts.py": APP.format(text="clashing speaks")
        + ROUTER
        + ROUTE.format(path="/runs", text="never")
        + ROUTE.format(path="/shared/{one}", text="clashing answers")
        + TOOL.format(name="search_text", text="clashing")
        + TOOL.format(name="shared", text="clashing"),
    },
    "later": {
        "pack.yaml": "name: later\n"
        "tools: ['parts.py:shared']\n"
        "commands:\n"
        "  fine: {app: 'parts.py:app', help: never seen}\n"
        "  later: {app: 'parts.py:app', help: also seen}\n"
        "routes: [{router: 'parts.py:router', paths: [/shared]}]\n"
        "page: {path: /kitchen, title: Never seen, show: 'parts.py:app'}\n",
        "parts.py": APP.format(text="later speaks")
        + ROUTER
        + ROUTE.format(path="/shared/{other}", text="never")
        + ROUTE.format(path="/shared/of/later", text="later answers")
        + TOOL.format(name="shared", text="later"),
    },
}
KINDS = ("tool water", "choreography grow", "command {}", "page /{}", "hook serving")
PROBLEMS = [
    *(f"{kind.format('absent')} of pack absent" for kind in KINDS),
    *(f"{kind.format('raising')} of pack raising" for kind in KINDS),
    "has no file gone.py",
    "RuntimeError('the sky is falling')",
    "tool water of pack quitting is left out",
    "SystemExit(3)",
    "parts.py of pack 'nameless' has no 'water'",
    "the routes of pack mistaken are left out: pack mistaken names a router that is int",
    "pack malformed is left out: ",
    "pack wordy is left out: ",
    "colour: is not known",
    "pack without_file is left out: ",
    "pack inner is left out: package outer.inner cannot be looked for: RuntimeError('outer')",
    "pack ghost is left out: there is no package ghost",
    "pack twin of twin_two is left out: twin_one has the name",
    "command run of pack clashing is left out: Callboard itself has it",
    "command version of pack clashing is left out: Callboard itself has it",
    "command fine of pack later is left out: pack clashing has it",
    "route GET /api/runs of pack clashing is left out: it is taken",
    "route GET /api/shared/{} of pack later is left out: it is taken",
    "page /api of pack clashing is left out: Callboard itself has it",
    "page /kitchen of pack later is left out: pack alfred has it",
    "tool search_text of pack clashing is left out: Callboard itself has it",
    "tool shared of pack later is left out: pack clashing has it",
]

PROJECTS = {"story": "control_room", "plants": "raising", "odd": "mistaken"}
"""Projects and what they are for: one pack in order, and two that are broken."""
KEEPER = (
    "The lighthouse keeper climbs the hundred and twelve steps every evening and looks at the sea,"
    " while the lamp of the lighthouse turns above the village that cannot sleep."
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Where all of them are installed at once."""
    folder = tmp_path_factory.mktemp("bad")
    site = folder / "site"
    for name, files in PACKS.items():
        pretend_installed(site, name, files)
    points = "[callboard.packs]\ninner = outer.inner\nghost = ghost\n"
    write_files(
        site,
        {
            "outer/__init__.py": "raise RuntimeError('outer')\n",
            "outer/inner/__init__.py": "",
            "outer-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: outer\nVersion: 1.0\n",
            "outer-1.0.dist-info/entry_points.txt": points,
        },
    )
    home = Home(folder, site)
    replies = {"replies": [{"text": KEEPER, "times": "always"}]}
    (folder / "replies.json").write_text(json.dumps(replies), "utf-8")
    for name, pack in PROJECTS.items():
        shutil.copytree(Path(examples.__file__).parent / "sample", folder / name)
        assert home.call("init", name, "--for", pack).code == 0
    return home


@pytest.fixture(scope="module")
def listed(home: Home) -> Ended:
    return home.call("packs", "list", "--json")


@pytest.fixture(scope="module")
def examined(home: Home) -> Ended:
    return home.call("doctor", "--project", "story", "--json")


@pytest.fixture(params=PROJECTS)
def server(home: Home, request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The pack of a project, and the address at which it is served."""
    process = home.serve("--project", request.param)
    assert process.stdout is not None
    try:
        told = process.stdout.readline()
        assert told, process.communicate()
        yield PROJECTS[request.param], json.loads(told)["url"].removesuffix("/api")
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_is_named(listed: Ended, examined: Ended, problem: str) -> None:
    told = [each["told"] for each in examined.json["findings"] if each["what"] == "packs"]
    assert any(problem in each for each in listed.json["problems"]), listed.json["problems"]
    assert any(problem in each for each in told)


def test_the_other_packs_are_listed(home: Home, listed: Ended) -> None:
    names = {each["name"] for each in listed.json["packs"]}
    assert {"alfred", "control_room", "twin", "clashing", "later", "raising"} <= names
    assert not {"malformed", "wordy", "without_file"} & names
    (twin,) = [each for each in listed.json["packs"] if each["name"] == "twin"]
    assert twin["title"] == "The first"
    plain = home.call("packs", "list")
    assert plain.code == 0
    assert "control_room/" in plain.out
    assert "Not in order: pack malformed" in plain.err


def test_commands_that_nobody_else_has_work(home: Home) -> None:
    told = home.call("--help").out
    assert "never seen" not in told and told.count("\n  fine ") == 1
    assert home.call("fine").out == "clashing speaks\n"
    assert home.call("later").out == "later speaks\n"
    assert home.call("version").out.startswith("callboard ")
    for name, why in (("raising", "the sky is falling"), ("absent", "has no file gone.py")):
        ended = home.call(name)
        assert ended.code == 1 and why in ended.err and "Traceback" not in ended.err
    assert "no Typer app, but int" in home.call("mistaken").err


@pytest.mark.parametrize("project", PROJECTS)
def test_runs_and_tools_work(home: Home, project: str) -> None:
    words = ("--project", project, "--json")
    tools = {each["id"] for each in home.call("tool", "list", *words).json["tools"]}
    assert "search_text" in tools and "shared" in tools and "water" not in tools
    ran = home.call("tool", "run", "shared", *words)
    assert ran.json["payload"] == {"by": "clashing"}
    run = home.call("run", "examples/recipe", "--model", "script:replies.json", *words)
    assert json.loads(run.out.splitlines()[-1])["run"]["state"] == "done", run


def test_the_server_serves_what_is_in_order(server: tuple[str, str]) -> None:
    pack, root = server

    def get(path: str) -> httpx.Response:
        return httpx.get(f"{root}{path}", timeout=60)

    assert get("/api/health").json()["status"] == "ok"
    assert get("/api/runs").status_code == 200 and get("/api/runs").text != '"never"'
    assert get("/api/shared/x").json() == "clashing answers"
    assert get("/api/shared/of/later").json() == "later answers"
    assert get("/api/openapi.json").status_code == 200
    for name in ("absent", "raising", "quitting", "mistaken"):
        assert get(f"/api/{name}").status_code == 404
    for name, told in (("raising", "the sky is falling"), ("mistaken", "no page today")):
        page = get(f"/{name}/")
        assert page.status_code == (500 if pack == name else 404), page.text
        assert told in page.text if pack == name else told not in page.text
