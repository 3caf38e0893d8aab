"""Operations: declared once, done through every door, with a receipt for whatever they change."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from callboard.api.app import create_app
from callboard.core.errors import NotFound
from callboard.core.vocabulary import Receipt
from callboard.models import Script
from callboard.operations import OperationInvalid, operation
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from callboard.tools import CallRefused, list_receipts
from door_server import client_of

pytestmark = pytest.mark.anyio
GARDEN = Path(__file__).parent / "garden"


@pytest.fixture(autouse=True)
def garden_code(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(GARDEN))
    import garden_doors

    yield garden_doors
    for name in ("garden_doors", "garden_operations", "garden_runs"):
        sys.modules.pop(name, None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Project.init(tmp_path / "plot").root


def opening(code: Any) -> Opening:
    return Opening(packs=(code.PACK,), providers={"script": Script()}, flags=SCRIPTED)


@pytest.fixture
async def studio(root: Path, garden_code: Any) -> AsyncIterator[Studio]:
    async with Studio.open(root, opening(garden_code)) as opened:
        yield opened


def receipts(studio: Studio) -> list[Receipt]:
    return studio.database.read(list_receipts)


async def test_a_change_is_done_and_on_record(studio: Studio, garden_code: Any) -> None:
    ops = garden_code.opened(studio)
    bed = await ops.perform(garden_code.ALL["plant"], "north", plant="leek", times=2)
    assert bed.plants == ("leek", "leek")
    (receipt,) = receipts(studio)
    assert (receipt.tool, receipt.outcome.value) == ("garden.plant", "succeeded")
    assert receipt.args == {"bed": "north", "plant": "leek", "times": 2}
    assert receipt.preview == "north: leek, leek"
    assert receipt.agent_id is None
    assert studio.tools.is_signature_valid(receipt)


async def test_a_failure_is_on_record_and_raised_as_it_was(
    studio: Studio, garden_code: Any
) -> None:
    with pytest.raises(NotFound, match="no bed 'south'"):
        await garden_code.opened(studio).perform(garden_code.ALL["plant"], "south", "leek")
    (receipt,) = receipts(studio)
    assert (receipt.outcome.value, receipt.error and receipt.error.code) == ("failed", "not_found")


async def test_reading_leaves_nothing(studio: Studio, garden_code: Any) -> None:
    (bed,) = await garden_code.opened(studio).perform(garden_code.ALL["beds"])
    assert bed.name == "north"
    assert receipts(studio) == []


async def test_what_is_wrong_with_arguments_is_named(studio: Studio, garden_code: Any) -> None:
    with pytest.raises(Exception, match="plant: must have at least 1 character"):
        await garden_code.opened(studio).perform(garden_code.ALL["plant"], "north", "")


@pytest.mark.parametrize(
    ("name", "args", "mode", "result", "outcome"),
    [
        ("plant", {"bed": "north", "plant": "leek"}, "SPRING", "leek", "succeeded"),
        ("plant", {"bed": "north", "plant": "leek"}, "WINTER", "tool_refused", "refused"),
        ("clear", {"bed": "north"}, "SPRING", "tool_refused", "refused"),
        ("plant", {"bed": "north", "plants": "leek"}, "SPRING", "invalid_args", "refused"),
        ("plant", {"bed": "south", "plant": "leek"}, "SPRING", "not_found", "failed"),
    ],
)
async def test_an_agent_does_what_it_may_and_all_is_on_record(
    studio: Studio, name: str, args: dict[str, str], mode: str, result: str, outcome: str
) -> None:
    run = await studio.start("garden/ask", {"name": name, "args": args, "mode": mode})
    ended = await studio.engine.wait(run.id)
    assert ended.error is None
    assert result in ended.result
    (receipt,) = receipts(studio)
    assert (receipt.outcome.value, receipt.agent_id) == (outcome, "gardener")
    assert (receipt.run_id, receipt.step_key) == (run.id, "do")


@pytest.mark.parametrize(
    ("name", "args", "told"),
    [
        ("plant", {"bed": "north", "plant": "leek"}, ["succeeded", ["leek"]]),
        ("plant", {"bed": "south", "plant": "leek"}, ["failed", "not_found"]),
        ("clear", {"bed": "north"}, ["refused", "tool_refused"]),
        ("burn", {"bed": "north"}, ["refused", "unknown_tool"]),
    ],
)
async def test_what_an_agent_may_not_or_cannot_do_is_an_answer(
    studio: Studio, name: str, args: dict[str, str], told: list[Any]
) -> None:
    run = await studio.start("garden/hear", {"name": name, "args": args})
    ended = await studio.engine.wait(run.id)
    assert (ended.error, ended.result) == (None, told)
    (receipt,) = receipts(studio)
    assert (receipt.tool, receipt.outcome.value) == (f"garden.{name}", told[0])
    assert receipt.agent_id == "gardener"


async def test_a_run_does_it_in_the_users_name_on_what_it_lends(
    studio: Studio, garden_code: Any
) -> None:
    run = await studio.start("garden/tend", {"plant": "leek"})
    ended = await studio.engine.wait(run.id)
    assert (ended.error, ended.result) == (None, [["leek"], ["leek"]])
    (receipt,) = receipts(studio)
    assert (receipt.agent_id, receipt.run_id, receipt.step_key) == (None, run.id, "pot")
    (bed,) = await garden_code.opened(studio).perform(garden_code.ALL["beds"])
    assert bed.plants == ()


def test_a_route_is_read_off_it(root: Path, garden_code: Any) -> None:
    with client_of(create_app(root, opening(garden_code))) as client:
        made = client.post("/api/garden/beds/north/plants", json={"plant": "leek", "times": 3})
        assert made.status_code == 201
        assert made.json() == {"name": "north", "plants": ["leek"] * 3}
        assert client.get("/api/garden/beds", params={"only": "east"}).json() == []
        assert client.put("/api/garden/beds/north").json() == "autumn"
        wrong = client.put("/api/garden/beds/north", json={"season": "summer"})
        assert wrong.status_code == 400 and "season" in wrong.json()["error"]["message"]
        found = client.post("/api/garden/beds/x/plants", json={"plant": "leek"})
        assert (found.status_code, found.json()["error"]["code"]) == (404, "not_found")
        (session,) = client.get("/api/sessions").json()
        listed = client.get(f"/api/audit/sessions/{session['id']}/receipts").json()
        told = [(each["tool_id"].partition(".")[2], each["status"]) for each in listed]
        assert told == [("plant", "ok"), ("clear", "ok"), ("plant", "error")]
        described = client.get("/api/openapi.json").json()["paths"]
        assert described["/api/garden/beds"]["get"]["description"] == "List the beds."


def test_a_command_is_read_off_it(root: Path, garden_code: Any) -> None:
    def call(*words: str) -> Any:
        return CliRunner().invoke(garden_code.app, [*words, "--project", str(root)])

    ended = call("plant", "north", "leek", "--times", "2")
    assert (ended.exit_code, ended.stdout) == (0, "north: leek, leek\n")
    assert json.loads(call("beds", "--json").stdout) == [{"name": "north", "plants": []}]
    assert "Put a plant into a bed." in CliRunner().invoke(garden_code.app, ["--help"]).stdout


async def test_a_killed_change_is_unknown_when_the_project_is_opened_again(
    root: Path, garden_code: Any
) -> None:
    async with Studio.open(root, opening(garden_code)) as studio:
        ops = garden_code.opened(studio)
        session = (await studio.sessions.current()).id
        tool = ops.register(garden_code.ALL["clear"])
        from callboard.tools import ToolCall

        begun: list[Any] = []

        async def die(draft: Any) -> None:
            await studio.tools._intend(draft)
            begun.append(draft)
            raise KeyboardInterrupt

        call = ToolCall(tool=tool, args={"bed": "north"}, session_id=session)
        rights = ops.rights(garden_code.ALL["clear"])
        with pytest.raises(KeyboardInterrupt):
            await studio.tools.execute(call, rights, on_begin=die)
        assert begun
        await studio.tools.conclude_abandoned(lambda _connection, _process: False)
        (receipt,) = receipts(studio)
        assert receipt.outcome.value == "unknown"


async def test_the_user_may_not_do_what_only_an_agent_does(
    studio: Studio, garden_code: Any
) -> None:
    from dataclasses import replace

    ops = garden_code.opened(studio)
    with pytest.raises(CallRefused, match="only an agent does this"):
        await ops.perform(replace(garden_code.ALL["plant"], who=frozenset({"agent"})), "north", "x")
    assert [each.outcome.value for each in receipts(studio)] == ["refused"]


def test_what_is_no_json_is_refused_and_its_declaration_named() -> None:
    class Opaque:
        pass

    async def give(garden: dict, secret: Opaque) -> int:  # type: ignore[type-arg]
        """Give a secret."""
        return 1

    with pytest.raises(OperationInvalid, match=r"test_declared_operations\.py:\d+: give takes"):
        _ = operation()(give).arguments


def test_a_declaration_says_what_it_does() -> None:
    async def quiet(garden: dict) -> int:  # type: ignore[type-arg]
        return 1

    with pytest.raises(OperationInvalid, match="quiet does not say what it does"):
        operation()(quiet)
