"""The REST door of Writers Factory: the book, the talk with the Foreman, and the modes."""

from typing import Any
from xml.etree import ElementTree

import pytest
from factory_door_stage import (
    BRIEF,
    Shop,
    lay_foundation,
    staff,
)

from callboard.models import Failure, Line, Script

pytestmark = pytest.mark.anyio


@pytest.mark.req("WF-G85", "WF-09", "WF-G01")
async def test_the_book_is_described_and_its_state_read_in_three_forms(shop: Shop) -> None:
    async with shop.serve() as desk:
        begun = await desk.put("/project", {"title": "Salt & Iron", "protagonist_name": "Ines"})
        again = await desk.put("/project", {"title": "Salt"})
        assert begun["id"] == again["id"] != ""
        shown = await desk.get("/project")
        assert (shown["title"], shown["mode"]) == ("Salt", "ARCHITECT")
        as_data = await desk.get("/state", format="json")
        assert as_data["mode"] == "ARCHITECT"
        xml = await desk.client.get("/api/factory/state?format=xml&scene=ch1-sc1")
        assert xml.headers["content-type"].startswith("application/xml")
        assert ElementTree.fromstring(xml.text).tag  # noqa: S314 - our own markup
        assert xml.text == desk.factory.foreman.state_xml({"scene": "ch1-sc1"})
        prose = await desk.client.get("/api/factory/state?format=text")
        assert prose.text == desk.factory.foreman.state_text()
        assert "Salt" in prose.text


@pytest.mark.req("WF-G85", "WF-06", "WF-G01", "WF-09")
async def test_a_turn_is_answered_kept_and_its_exact_prompt_shown(shop: Shop) -> None:
    async with shop.serve() as desk:
        turn = await desk.post("/chat", {"message": "Who is Ines?", "active": {"beat": "1"}})
        assert turn["message"].startswith("The flaw holds.")
        (said,) = await desk.get("/chat")
        assert (said["run_id"], said["said"]) == (turn["run_id"], "Who is Ines?")
        assert said["message"] == turn["message"]
        (listed,) = await desk.get("/prompts", run_id=turn["run_id"])
        assert (listed["id"], listed["tier"]) == (turn["prompt_ids"][0], turn["tier"])
        prompt = await desk.get(f"/prompts/{listed['id']}")
        (call,) = desk.script.calls
        assert [each["content"] for each in prompt["messages"]] == [
            each.content for each in call.request.messages
        ]
        assert "Who is Ines?" in prompt["prompt_text"]
        assert prompt["response_text"].startswith("<message>")
        assert {"name", "tokens", "trimmed"} <= set(prompt["layers"][0])
        assert prompt["total_tokens"] >= sum(each["tokens"] for each in prompt["layers"]) > 0
        (of_turn,) = await desk.get(f"/turns/{turn['run_id']}/prompts")
        assert of_turn == prompt
        assert (await desk.get("/turns"))[0]["said"] == "Who is Ines?"
        preview = await desk.post("/prompts/preview", {"message": "And then?"})
        assert "And then?" in preview["prompt_text"]
        assert len(desk.script.prompts) == 1


@pytest.mark.req("WF-G85")
async def test_an_answer_nobody_waits_for_is_a_job(shop: Shop) -> None:
    async with shop.serve() as desk:
        started = await desk.post("/chat", {"message": "Go on.", "wait": False}, status=202)
        assert set(started) >= {"run_id", "status"}
        job = await desk.over(started)
        assert job["status"] == "done"
        assert job["result"]["message"].startswith("The flaw holds.")
        as_run = await desk.client.get(f"/api/runs/{started['run_id']}")
        assert as_run.json() == job
        assert [each["run_id"] for each in await desk.get("/jobs")] == [started["run_id"]]


@pytest.mark.req("WF-G85")
async def test_a_provider_that_fails_is_a_502_that_names_the_model(shop: Shop) -> None:
    def fails(_request: Any) -> Line:
        return Line(fail=Failure(status=400, message="no such thing"))

    async with shop.serve(Script(fails)) as desk:
        refused = await desk.post("/chat", {"message": "Hello"}, status=502)
        assert refused["error"]["details"]["model"] == "script"
        assert refused["error"]["details"]["run_id"].startswith("run_")


@pytest.mark.req("WF-G85", "WF-G07")
async def test_a_gate_refuses_with_everything_unmet_and_yields_to_the_writer(shop: Shop) -> None:
    async with shop.serve() as desk:
        early = {"to": "VOICE_CALIBRATION", "override": True, "risk_note": "I know it already"}
        refused = await desk.post("/mode", early, status=409)
        unmet = refused["error"]["details"]["unmet"]
        assert any(each.startswith("protagonist:") for each in unmet)
        assert any(each.startswith("world_rules:") for each in unmet)
        moved = await desk.post("/mode", early)
        assert moved["mode"] == "VOICE_CALIBRATION"
        (override,) = (await desk.get("/mode"))["overrides"]
        assert (override["risk_note"], override["unmet"]) == ("I know it already", unmet)
        back = await desk.post("/mode", {"to": "ARCHITECT"})
        assert (back["mode"], back["moved"]["from"]) == ("ARCHITECT", "VOICE_CALIBRATION")
        assert (await desk.post("/mode", {"to": "NOWHERE"}, status=404))["error"]["code"]


@pytest.mark.req("WF-G85", "WF-G07")
async def test_one_template_is_waived_and_nothing_else(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        two = {"fields": {"fundamental_rules": ["No ship may leave at night"]}, "replace": True}
        await desk.put("/templates/world_rules", two)
        wish = {"template": "world_rules", "risk_note": "a quiet world"}
        told = await desk.post("/mode/waive", wish, status=409)
        assert told["error"]["details"]["unmet"] == ["world_rules: 2 more"]
        assert (await desk.post("/mode/waive", wish))["scope"] == "world_rules"
        assert (await desk.post("/mode", {"to": "VOICE_CALIBRATION"}))["mode"]


@pytest.mark.req("WF-G85")
async def test_work_of_a_later_mode_waits_and_unknown_things_are_404(shop: Shop) -> None:
    async with shop.serve() as desk:
        for path, body in {
            "/tournaments": {"test_prompt": BRIEF},
            "/voice/bundle": {},
            "/outline": {},
            "/scaffolds": {"chapter": 1, "scene": 1},
            "/scenes/ch1-sc1/variants": {},
            "/scenes/ch1-sc1/edits": {"new_text": "a", "reason": "b", "old_text": "c"},
            "/audit": {},
            "/voice-report": {},
            "/health-checks": {},
            "/complete": {},
        }.items():
            status = 404 if path.endswith("/edits") else 409
            refused = await desk.post(path, body, status=status)
            if status == 409:
                assert refused["error"]["code"] == "wrong_mode"
                assert refused["error"]["details"]["unmet"]
        for path in ("/scenes/ch9-sc9", "/scenes/nowhere/text", "/templates/plot", "/jobs/run_x"):
            assert (await desk.get(path, status=404))["error"]["details"]
        invalid = await desk.post("/kb", {"category": "character"}, status=400)
        assert invalid["error"]["code"] == "invalid_request"
        assert await desk.get("/jobs") == []


@pytest.mark.req("WF-G85", "WF-09")
async def test_settings_are_shown_with_what_is_wrong_in_the_writers_file(shop: Shop) -> None:
    own = "health:\n  flaw_gap_warning: many\n  alerts: 3\n"
    (shop.root / ".callboard" / "writers_factory.yaml").write_text(own)
    async with shop.serve() as desk:
        shown = await desk.get("/settings")
        assert shown["values"]["health"]["alerts"] == 3
        assert any("flaw_gap_warning" in each for each in shown["warnings"])


@pytest.mark.req("WF-G85")
async def test_two_turns_at_once_in_one_session_are_not_taken(shop: Shop) -> None:
    script = Script(staff(modes=Line("<message>Late.</message>", hold="asked")))
    async with shop.serve(script) as desk:
        started = await desk.post("/chat", {"message": "First", "wait": False}, status=202)
        refused = await desk.post("/chat", {"message": "Second"}, status=409)
        assert refused["error"]["code"] == "foreman_busy"
        assert refused["error"]["details"]["run_id"] == started["run_id"]
        script.release("asked")
        assert (await desk.over(started))["result"]["message"] == "Late."
        assert [each["said"] for each in await desk.get("/chat")] == ["First"]


async def test_a_filing_is_listed_and_taken_back(shop: Shop) -> None:
    saves = (
        "<message>Noted. What else?</message>\n<action type='save_decision'>"
        "<category>world</category><key>salt</key><value>Salt is money</value></action>"
    )
    async with shop.serve(Script(Line(saves))) as desk:
        await desk.post("/chat", {"message": "Salt is money there."})
        (filing,) = await desk.get("/filings")
        assert filing["decision"]["value"] == "Salt is money"
        done = await desk.post("/filings/undo", {})
        assert "Salt is money" in done["detail"]
        assert (await desk.get("/filings"))[0]["is_taken_back"] is True
        refused = await desk.post("/filings/undo", {}, status=404)
        assert "nothing to take back" in refused["error"]["message"]
