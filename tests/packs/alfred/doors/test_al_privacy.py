"""Another person's conversation cannot be read at any of Alfred's doors."""

import pytest
from al_door_stage import Household, Table
from fastapi.routing import APIRoute

from callboard.choreography.turn.turn import SomebodyElses
from callboard.cli.commands.receipts import verify as verify_command
from callboard.cli.commands.sessions import list_command as list_sessions_command
from callboard.cli.commands.sessions import show as show_session_command
from callboard.cli.completion import known_runs
from callboard.cli.handlers.controls import find_question
from callboard.cli.handlers.opening import Choices, OpenWork
from callboard.cli.reading import reading
from callboard.cli.reports.usage import UsageWanted, usage_output
from callboard.core.vocabulary.run import Answer, Question
from callboard.packs.alfred.routes import ROUTERS
from callboard.store.journal.questions import insert_question
from callboard.store.journal.runs import list_runs
from callboard.studio.privacy import SomebodyElsesSession

pytestmark = pytest.mark.anyio


async def begin(table: Table) -> str:
    """Let Bob say something; return his conversation."""
    await table.post("/people", {"user_id": "bob", "name": "Bob"}, status=201)
    begun = await table.post("/sessions", {"user_id": "bob"}, status=201)
    said = {"message": "add rose petals to the list", "user_id": "bob"}
    await table.post(f"/sessions/{begun['session_id']}/messages", said)
    return str(begun["session_id"])


def paths() -> list[str]:
    """Return every path that shows something of a conversation, so that none is forgotten."""
    routes = [route for router in ROUTERS for route in router.routes]
    shown = [each for each in routes if isinstance(each, APIRoute) and "GET" in each.methods]
    below = "/alfred/sessions/{session_id}/"
    return [each.path.removeprefix("/alfred") for each in shown if each.path.startswith(below)]


async def test_a_stranger_sees_nothing_of_a_conversation(household: Household) -> None:
    async with household.serve() as table:
        session = await begin(table)
        assert len(paths()) >= 5
        for path in paths():
            here = path.format(session_id=session, turn=1)
            told = await table.get(here, status=409)
            assert told["error"]["code"] == SomebodyElses.code, path
            assert "rose" not in str(told)
            await table.get(here, user_id="bob")


async def test_a_stranger_changes_nothing_in_a_conversation(household: Household) -> None:
    async with household.serve() as table:
        session = await begin(table)
        for path, body in (
            ("messages", {"message": "hello"}),
            ("undo", {}),
            ("end", {}),
        ):
            told = await table.post(f"/sessions/{session}/{path}", body, status=409)
            assert told["error"]["code"] == SomebodyElses.code
        told = await table.put(f"/sessions/{session}/mode", {"mode": "plan"}, status=409)
        assert told["error"]["code"] == SomebodyElses.code


async def test_a_refusal_over_http_says_why_and_takes_the_word(household: Household) -> None:
    async with household.serve() as table:
        await table.put("/profile", {"values": {"allergies": ["peanuts"]}})
        request = {"op": "create", "table": "shopping_items", "records": [{"name": "satay sauce"}]}
        told = await table.post("/write", {"request": request}, status=409)
        preview = told["error"]["details"]["preview"]
        assert "peanuts" in preview["reasons"][0]
        await table.post("/write", {"request": request, "confirmed": preview})
        dropped = {"op": "update", "table": "user_profile", "set": {"allergies": []}}
        mine = [{"field": "household_size", "op": "gte", "value": 1}]
        await table.post("/write", {"request": {**dropped, "filters": mine}}, status=409)


async def test_the_runtimes_doors_show_no_stranger_a_turn(household: Household) -> None:
    async with household.serve() as table:
        session = await begin(table)
        run = table.studio.database.read(lambda c: list_runs(c, session_id=session))[0].id
        doors = [
            f"/api/runs/{run}", f"/api/runs/{run}/steps", f"/api/runs/{run}/events",
            f"/api/sessions/{session}", f"/api/audit/sessions/{session}/receipts",
            f"/api/events?session_id={session}",
        ]  # fmt: skip
        for door in doors:
            told = await table.client.get(f"{door}{'&' if '?' in door else '?'}user_id=ann")
            assert told.status_code == 409, door
            assert told.json()["error"]["code"] == SomebodyElses.code
            assert "rose" not in told.text
        shown = await table.client.get(f"/api/runs/{run}", params={"user_id": "bob"})
        assert "rose" in shown.text
        listed = await table.client.get("/api/sessions", params={"user_id": "ann"})
        assert session not in listed.text
        # As long as one person talks here nobody has to say who they are.
        assert "rose" in (await table.client.get(f"/api/runs/{run}")).text
        begun = await table.post("/sessions", {}, status=201)
        await table.post(f"/sessions/{begun['session_id']}/messages", {"message": "hello"})
        assert (await table.client.get(f"/api/runs/{run}")).status_code == 409


async def test_the_command_line_shows_what_is_ones_own(
    household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with household.serve() as table:
        session = await begin(table)
        run = table.studio.database.read(lambda c: list_runs(c, session_id=session))[0].id
        root = table.studio.project.root
        with reading(root) as journal:
            monkeypatch.setenv("CALLBOARD_USER", "ann")
            with pytest.raises(SomebodyElsesSession):
                journal.run(run)
            monkeypatch.setenv("CALLBOARD_USER", "bob")
            assert journal.run(run).id == run


@pytest.mark.usefixtures("store")
async def test_sessions_usage_questions_and_completion_keep_to_the_person(
    household: Household, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with household.serve() as table:
        session = await begin(table)
        run = table.studio.database.read(lambda c: list_runs(c, session_id=session))[0].id
        root = table.studio.project.root
        for person, is_shown in (("ann", False), ("bob", True)):
            monkeypatch.setenv("CALLBOARD_USER", person)
            list_sessions_command(root, as_json=True)
            assert (session in capsys.readouterr().out) is is_shown
            assert (run in [name for name, _ in known_runs(root)]) is is_shown
            with reading(root) as journal:
                hidden = journal.read_or((), journal.viewer.hidden)
                assert (session not in hidden) is is_shown
                usage_output(journal, UsageWanted(("session",), None, None, None, None, None),
                             as_csv=False, as_json=True)  # fmt: skip
            told = capsys.readouterr().out
            assert session not in told or is_shown
        monkeypatch.setenv("CALLBOARD_USER", "ann")
        with pytest.raises(SomebodyElsesSession):
            show_session_command(session, root)
        with reading(root) as journal, pytest.raises(SomebodyElsesSession):
            usage_output(journal, UsageWanted((), None, session, None, None, None),
                         as_csv=False, as_json=True)  # fmt: skip


async def test_a_stranger_answers_no_question_takes_up_no_run_and_verifies_no_session(
    household: Household, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with household.serve() as table:
        session = await begin(table)
        studio = table.studio
        run = studio.database.read(lambda c: list_runs(c, session_id=session))[0].id
        asked = Answer("q_7f3a91", run, "sure", Question("Really the rose petals?"), 1_000)
        await studio.database.write(lambda c: insert_question(c, asked))
        root = studio.project.root
        here = OpenWork(studio, Choices(root, (), None, as_json=True))
        monkeypatch.setenv("CALLBOARD_USER", "ann")
        with pytest.raises(SomebodyElsesSession):
            find_question(here, "q_7f3a91")
        with pytest.raises(SomebodyElsesSession):
            here.find(run)
        with pytest.raises(SomebodyElsesSession):
            verify_command(session, root)
        verify_command(None, root, as_json=True)
        assert session not in capsys.readouterr().out
        monkeypatch.setenv("CALLBOARD_USER", "bob")
        assert find_question(here, "q_7f3a91").run_id == run
        assert here.find(run).id == run
        verify_command(session, root, as_json=True)
        assert session in capsys.readouterr().out
