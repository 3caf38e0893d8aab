"""Every operation of every pack, found by loading them, at every door that it has.

The garden is among them: a pack whose operations all have a command and a route that are read off.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import TypeAdapter, ValidationError
from typer.testing import CliRunner

from callboard.api.app import create_app
from callboard.api.failure import status_of
from callboard.cli import exits
from callboard.cli.command_apps import app_of
from callboard.cli.exit_codes import code_of_error
from callboard.core.errors import CallboardError, ErrorTier, InvalidInput
from callboard.core.vocabulary import Receipt, ReceiptOutcome
from callboard.models import Script
from callboard.operations import AGENT, USER, Operation, Operations, operations_of, runtime
from callboard.studio.opening import Opening
from callboard.studio.packs import Pack, installed_packs, load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from callboard.tools import CallRefused, ToolCall, read_receipt
from door_receipts import count_receipts
from door_server import client_of

pytestmark = pytest.mark.anyio

GARDEN = Path(__file__).parent / "garden"
NOTHING_LIKE_IT: Any = {"no": ["such", {"thing": 1}]}


@contextmanager
def garden_on_path() -> Iterator[None]:
    """Let the garden's modules be found for as long as the context lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(GARDEN))
        yield
    for name in ("garden_doors", "garden_operations", "garden_runs"):
        sys.modules.pop(name, None)


@dataclass(frozen=True)
class Declared:
    """An operation and the pack that declares it; the runtime's own have none."""

    operation: Operation[..., Any]
    pack: Pack | None

    @property
    def family(self) -> str:
        entry = self.pack and self.pack.described.operations
        return entry.family if entry else runtime.FAMILY


def found() -> dict[str, Declared]:
    own = runtime.OPERATIONS.items()
    every = {f"{runtime.FAMILY}.{name}": Declared(each, None) for name, each in own}
    with garden_on_path():
        for pack in (*installed_packs(), load_pack(GARDEN)):
            declared = operations_of(pack).items()
            every |= {f"{pack.name}.{name}": Declared(each, pack) for name, each in declared}
    return every


ALL = found()
ROUTED = [name for name, each in ALL.items() if each.operation.route is not None]
COMMANDED = [name for name, each in ALL.items() if each.operation.command is not None]


def test_operations_are_found_where_they_are_declared() -> None:
    """A suite that looks at nothing proves nothing."""
    assert {each.pack.name for each in ALL.values() if each.pack} >= {
        "alfred",
        "control_room",
        "writers_factory",
        "garden",
    }
    assert len(ALL) > 100 and len(ROUTED) > 15 and len(COMMANDED) >= 3


# --- what fits no declaration, and who may not -------------------------------------------------


@pytest.fixture(scope="module")
async def studio(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Studio]:
    root = Project.init(tmp_path_factory.mktemp("every") / "plot").root
    async with Studio.open(root, Opening(providers={"script": Script()}, flags=SCRIPTED)) as opened:
        yield opened


def misfits(wanted: Operation[..., Any]) -> dict[str, dict[str, Any]]:
    """Return arguments that cannot be used: one too many, one missing, one of another shape."""
    whole = dict.fromkeys(wanted.arguments.model_fields, NOTHING_LIKE_IT)
    made: dict[str, dict[str, Any]] = {"one too many": {**whole, "no_such_argument": 1}}
    for name, field in wanted.arguments.model_fields.items():
        if field.is_required():
            made[f"no {name}"] = {other: value for other, value in whole.items() if other != name}
        try:
            TypeAdapter(field.rebuild_annotation()).validate_python(NOTHING_LIKE_IT)
        except ValidationError:
            made[f"no such {name}"] = {name: NOTHING_LIKE_IT}
    return made


def newest(studio: Studio) -> Receipt:
    def read(connection: Any) -> Receipt:
        asked = "SELECT id FROM receipts ORDER BY seq DESC LIMIT 1"
        return read_receipt(connection, connection.execute(asked).fetchone()[0])

    return studio.database.read(read)


def is_told_as_misuse(error: CallboardError) -> bool:
    """Say whether a command would exit, and a route answer, as for a call of the wrong shape."""
    code = code_of_error(error, ErrorTier.USER_FIXABLE)
    return (code, status_of(error)) == (exits.USAGE, 400)


def at_work(studio: Studio, declared: Declared) -> Operations:
    return Operations(studio, declared.family, lambda _studio, _kind: None)


async def ask_as(
    studio: Studio, declared: Declared, args: dict[str, Any], agent: str | None, mode: str = ""
) -> CallboardError:
    """Ask as the executor is asked by whoever acts; return how it was turned down."""
    at = at_work(studio, declared)
    session = (await studio.sessions.current()).id
    tool = at.register(declared.operation)
    call = ToolCall(tool=tool, args=args, session_id=session, agent_id=agent)
    ran = await studio.tools.run(call, at.rights(declared.operation, agent, mode))
    assert ran.execution.error is not None
    last = newest(studio)
    assert (last.tool, last.agent_id, last.outcome) == (tool, agent, ReceiptOutcome.REFUSED)
    return ran.execution.error


@pytest.mark.parametrize("name", ALL)
async def test_arguments_that_do_not_fit_are_refused_alike_and_on_record(
    studio: Studio, name: str
) -> None:
    declared = ALL[name]
    wanted = declared.operation
    for why, args in misfits(wanted).items():
        before = count_receipts(studio)
        with pytest.raises(InvalidInput) as refused:
            await at_work(studio, declared).perform(wanted, **args)
        assert is_told_as_misuse(refused.value), why
        assert wanted.name in refused.value.message and refused.value.fix, why
        assert count_receipts(studio) - before == int(wanted.leaves_receipt), why
        if wanted.leaves_receipt:
            last, tool = newest(studio), f"{declared.family}.{wanted.name}"
            assert (last.tool, last.outcome) == (tool, ReceiptOutcome.REFUSED)
        if AGENT in wanted.who:
            mode = wanted.modes[0] if wanted.modes else ""
            told = await ask_as(studio, declared, args, "somebody", mode)
            assert told.code == "invalid_args" and is_told_as_misuse(told), why


@pytest.mark.parametrize("name", ALL)
async def test_who_may_not_is_refused_on_record(studio: Studio, name: str) -> None:
    declared = ALL[name]
    wanted = declared.operation
    turned_down = []
    if AGENT not in wanted.who:
        turned_down.append((await ask_as(studio, declared, {}, "somebody"), "who"))
    elif wanted.modes:
        turned_down.append((await ask_as(studio, declared, {}, "somebody", "ELSEWHERE"), "mode"))
        turned_down.append((await ask_as(studio, declared, {}, "somebody"), "mode"))
    if USER not in wanted.who:
        turned_down.append((await ask_as(studio, declared, {}, None), "who"))
    for error, rule in turned_down:
        assert isinstance(error, CallRefused)
        assert (error.code, error.context["rule"]) == ("tool_refused", rule)
    assert turned_down or wanted.who == {AGENT, USER} or not wanted.modes


# --- the routes ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def garden_code() -> Iterator[Any]:
    with garden_on_path():
        import garden_doors

        yield garden_doors


def app_for(root: Path, garden_code: Any) -> FastAPI:
    packs = (garden_code.PACK,)
    app = create_app(root, Opening(packs=packs, providers={"script": Script()}, flags=SCRIPTED))
    app.state.pack_routes.include_all()
    return app


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, garden_code: Any) -> Iterator[TestClient]:
    root = Project.init(tmp_path_factory.mktemp("routes") / "plot").root
    with client_of(app_for(root, garden_code)) as opened:
        yield opened


@pytest.fixture(scope="module")
def described(client: TestClient) -> dict[str, Any]:
    return client.get("/api/openapi.json").json()


def path_of(declared: Declared) -> str:
    assert declared.operation.route is not None
    return f"/api/{declared.family}{declared.operation.route.path}"


def shape(schema: Any, shapes: dict[str, Any]) -> Any:
    """Return a schema without names and words: what is left is what a caller must keep to."""
    if isinstance(schema, list):
        return [shape(each, shapes) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return shape(shapes[schema["$ref"].rpartition("/")[2]], shapes)
    words = ("title", "description", "default", "examples", "$defs")
    bare = {name: each for name, each in schema.items() if name not in words}
    if "properties" in bare:
        inside = bare.pop("properties")
        bare["properties"] = {name: shape(each, shapes) for name, each in inside.items()}
    return {
        name: each if name == "properties" else shape(each, shapes) for name, each in bare.items()
    }


def asked_for(route: dict[str, Any], shapes: dict[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Return what a route takes, wherever it takes it from, and what of it must be there."""
    listed = [each for each in route.get("parameters", []) if each["in"] != "header"]
    takes = {each["name"]: shape(each["schema"], shapes) for each in listed}
    needs = {each["name"] for each in listed if each.get("required")}
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    whole = shape(body.get("schema", {}), shapes)
    (inside,) = [each for each in whole.get("anyOf", [whole]) if each.get("type") != "null"]
    return takes | inside.get("properties", {}), needs | set(inside.get("required", []))


@pytest.mark.parametrize("name", ROUTED)
def test_a_route_takes_and_gives_what_is_declared(described: dict[str, Any], name: str) -> None:
    declared = ALL[name]
    wanted = declared.operation
    assert wanted.route is not None
    route = described["paths"][path_of(declared)][wanted.route.method.lower()]
    assert route["description"] == wanted.summary
    shapes = described["components"]["schemas"]
    takes, needs = asked_for(route, shapes)
    own = wanted.arguments.model_json_schema()
    assert takes == {
        each: shape(schema, own.get("$defs", {}))
        for each, schema in own.get("properties", {}).items()
    }
    assert needs == set(own.get("required", []))
    given = route["responses"][str(wanted.route.status)]["content"]["application/json"]["schema"]
    result = wanted.result.json_schema(mode="serialization")
    assert shape(given, shapes) == shape(result, result.get("$defs", {}))


@pytest.mark.parametrize("name", ROUTED)
def test_a_route_refuses_what_does_not_fit_as_the_operation_does(
    client: TestClient, name: str
) -> None:
    declared = ALL[name]
    wanted = declared.operation
    assert wanted.route is not None
    path = path_of(declared)
    places = {each for each in wanted.arguments.model_fields if f"{{{each}}}" in path}
    for each in places:
        path = path.replace(f"{{{each}}}", "1")
    inside = [each for each in wanted.arguments.model_fields if each not in places]
    if not inside:
        return
    if wanted.route.method in ("GET", "DELETE"):
        if not any(wanted.arguments.model_fields[each].is_required() for each in inside):
            return
        answers = [client.request(wanted.route.method, path)]
    else:
        bodies = ({"no_such_argument": 1}, dict.fromkeys(inside, NOTHING_LIKE_IT), [], "text")
        answers = [client.request(wanted.route.method, path, json=body) for body in bodies]
    for answer in answers:
        assert answer.status_code == status_of(InvalidInput("")) == 400, answer.text
        assert answer.json()["error"]["code"] == "invalid_request"


# --- the commands -------------------------------------------------------------------------------


def command_of(declared: Declared, garden_code: Any) -> tuple[Any, str]:
    """Return the app that has an operation's command, and the command."""
    assert declared.pack is not None
    if declared.pack.name == garden_code.PACK.name:
        apps = [garden_code.app]
    else:
        apps = [app_of(each) for each in declared.pack.described.commands]
    name = declared.operation.command or ""
    (app,) = [each for each in apps if name in typer.main.get_command(each).commands]
    return app, name


@pytest.mark.parametrize("name", COMMANDED)
def test_a_command_tells_what_is_declared_and_refuses_the_rest(
    garden_code: Any, tmp_path: Path, name: str
) -> None:
    declared = ALL[name]
    wanted = declared.operation
    app, command = command_of(declared, garden_code)
    told = CliRunner().invoke(app, [command, "--help"])
    assert told.exit_code == exits.OK
    assert wanted.summary in " ".join(told.stdout.split())
    for each, field in wanted.arguments.model_fields.items():
        shown = each.upper() if field.is_required() else f"--{each.replace('_', '-')}"
        assert shown in told.stdout, each
    here = ["--project", str(Project.init(tmp_path).root)]
    needed = [each for each in wanted.arguments.model_fields.values() if each.is_required()]
    wrong = [[command, "--no-such-argument", *here], [command, *["x"] * (len(needed) + 1), *here]]
    for words in wrong + ([[command, *here]] if needed else []):
        assert CliRunner().invoke(app, words).exit_code == exits.USAGE, words


@pytest.mark.parametrize("name", [each for each in COMMANDED if each in ROUTED])
def test_a_command_and_a_route_give_the_same(garden_code: Any, tmp_path: Path, name: str) -> None:
    """Either both give the same JSON, or both say no for the same reason."""
    declared = ALL[name]
    wanted = declared.operation
    assert wanted.route is not None
    app, command = command_of(declared, garden_code)
    needed = [each for each, one in wanted.arguments.model_fields.items() if one.is_required()]
    for value in ("north", "nowhere"):
        root = Project.init(tmp_path / value).root
        path = path_of(declared)
        body = {each: value for each in needed if f"{{{each}}}" not in path}
        for each in needed:
            path = path.replace(f"{{{each}}}", value)
        sent = {"json": body} if body else {}
        with client_of(app_for(root, garden_code)) as client:
            answer = client.request(wanted.route.method, path, **sent)
        words = [command, *[value] * len(needed), "--project", str(root), "--json"]
        ended = CliRunner().invoke(app, words)
        if answer.status_code == wanted.route.status:
            assert ended.exit_code == exits.OK, ended.exception
            assert json.loads(ended.stdout) == answer.json()
        else:
            assert isinstance(ended.exception, CallboardError)
            assert ended.exception.code == answer.json()["error"]["code"]
            assert status_of(ended.exception) == answer.status_code
