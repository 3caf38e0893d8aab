"""The REST door of Writers Factory, group by group, on a real server with a scripted staff."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from factory_door_stage import (
    BEATS,
    BLOCKED,
    BRIEF,
    PROTAGONIST,
    SCENE,
    THEME,
    Shop,
    lay_foundation,
    staff,
    write_book,
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


@pytest.mark.req("WF-G85")
async def test_templates_are_written_checked_versioned_and_strictly_refused(shop: Shop) -> None:
    async with shop.serve() as desk:
        weak = {"central_theme": "Love", "theme_statement": "It's about love and all that"}
        refused = await desk.put("/templates/theme", {"fields": weak, "strict": True}, status=422)
        (failed, *_) = refused["error"]["details"]["failed_checks"]
        assert (failed["check"], failed["passed"]) == ("theme_statement", False)
        assert (await desk.get("/templates/theme"))["status"] == "not_started"
        listed = await desk.put("/templates/theme", {"fields": weak})
        assert listed["failed_checks"][0]["challenge"].startswith("CHALLENGE:")
        assert listed["status"] == "draft_ready"
        mended = await desk.put("/templates/theme", {"fields": THEME, "source": "brainstorm"})
        assert (mended["status"], mended["failed_checks"]) == ("complete", [])
        assert mended["sources"]["theme_statement"] == "brainstorm"
        (version,) = await desk.get("/templates/theme/versions")
        assert version["version"] == mended["version"]
        await desk.post("/templates/theme/accept", {"check": "theme_statement"}, status=409)
        order = await desk.get("/work-order")
        assert order["completion_percentage"] == 25.0
        assert any(gap["template"] == "protagonist" for gap in order["gaps"])
        claimed = await desk.post("/templates/protagonist/status", {"status": "complete"})
        assert claimed["downgraded"] is True
        await desk.put("/templates/beat_sheet", {"fields": BEATS})
        assert (await desk.get("/beats"))[8]["content"] == BEATS["beat_9"]


@pytest.mark.req("WF-G85")
async def test_a_judgement_the_writer_disagrees_with_is_accepted(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        from callboard.packs.writers_factory.bible.checks.judgements import (
            Judgement,
            content_digest,
        )
        from callboard.packs.writers_factory.model import TemplateName

        bible = desk.factory.rooms.bible
        mark = content_digest(TemplateName.THEME, "theme_statement", bible.theme)
        judged = Judgement("theme_statement", mark, "judge", passed=False, reason="too plain")
        await bible.judgements.keep(TemplateName.THEME, judged)
        assert (await desk.get("/templates/theme"))["status"] == "draft_ready"
        kept = await desk.post("/templates/theme/accept", {"check": "theme_statement"})
        assert (kept["status"], kept["failed_checks"]) == ("complete", [])


@pytest.mark.req("WF-G85")
async def test_decisions_are_kept_with_their_source_and_history(shop: Shop) -> None:
    async with shop.serve() as desk:
        decided = {"category": "character", "key": "Jun age", "value": "12"}
        first = await desk.post("/kb", decided, status=201)
        assert (first["key"], first["source"]) == ("jun_age", "writer_stated")
        await desk.post("/kb", {**decided, "value": "13", "source": "brainstorm"}, status=201)
        shown = await desk.get("/kb/character/jun_age")
        assert (shown["value"], shown["history"][0]["value"]) == ("13", "12")
        timeline = await desk.get("/timeline")
        assert [(each["value"], each["source"], each["is_current"]) for each in timeline] == [
            ("13", "brainstorm", True),
            ("12", "writer_stated", False),
        ]
        assert len(await desk.get("/kb", category="character")) == 1
        assert await desk.get("/kb", category="world") == []
        await desk.delete("/kb/character/jun_age")
        await desk.delete("/kb/character/jun_age", status=404)
        await desk.post("/kb", {**decided, "category": "weather"}, status=400)


@pytest.mark.req("WF-G85")
async def test_the_writer_registers_any_folder_as_a_notebook(shop: Shop, tmp_path: Path) -> None:
    outside = tmp_path / "research"
    outside.mkdir()
    (outside / "tides.md").write_text("# Tides\n\nThe tide at Harrow turns twice a day.\n")
    async with shop.serve() as desk:
        notebook = {"id": "tides", "title": "Tides", "role": "world", "path": str(outside)}
        made = await desk.post("/notebooks", notebook, status=201)
        assert (made["role"], made["path"]) == ("world_building", str(outside))
        question = {"question": "How often does the tide turn at Harrow?"}
        (found, *_) = await desk.post("/notebooks/tides/query", question)
        assert "turns twice a day" in found["text"]
        assert found["place"].startswith("tides.md:")
        (outside / "ships.md").write_text("Ships wait for the salt.\n")
        assert (await desk.post("/notebooks/tides/sync"))["added"] == 1
        assert [each["id"] for each in await desk.get("/notebooks")] == ["tides"]
        await desk.delete("/notebooks/tides")
        gone = await desk.get("/notebooks/tides", status=404)
        assert gone["error"]["details"]["registered"] == []
        await desk.post("/notebooks", {**notebook, "path": "../research"}, status=400)


@pytest.mark.req("WF-G85")
async def test_facts_are_consolidated_and_only_the_writer_resolves(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        eyes = {"category": "character", "key": "ines_eyes", "value": "green"}
        await desk.post("/kb", eyes, status=201)
        report = await desk.job("/consolidate", {"conversations": False})
        assert report["entries_seen"] == 1
        assert (await desk.get("/consolidate"))[0]["entries_seen"] == 1
        await desk.post("/kb", {**eyes, "value": "brown"}, status=201)
        await desk.job("/consolidate")
        (conflict,) = await desk.get("/conflicts")
        assert (conflict["state"], conflict["node_id"]) == ("open", "character:ines")
        path = f"/conflicts/{conflict['id']}"
        assert (await desk.get(path))["told"] == conflict["told"]
        await desk.post(path, {"decision": "both_with_scope"}, status=400)
        decided = await desk.post(path, {"decision": "accept_new"})
        assert decided["resolution"] == "accept_new"
        await desk.post(path, {"decision": "keep_existing"}, status=409)
        assert await desk.get("/conflicts") == []
        node = await desk.get("/graph/node", name="Ines")
        assert node["attrs"]["eyes"] == "brown"
        assert any(each["old"] == "green" for each in node["history"])


@pytest.mark.req("WF-G85")
async def test_a_second_consolidation_at_once_is_refused(shop: Shop) -> None:
    script = Script(staff(memory=Line('{"nodes": [], "edges": []}', hold="asked")))
    async with shop.serve(script) as desk:
        await desk.post("/chat", {"message": "Ines has a brother, Jun."})
        started = await desk.post("/consolidate", status=202)
        refused = await desk.post("/consolidate", status=409)
        assert refused["error"]["code"] == "already_running"
        assert refused["error"]["details"]["run_id"] == started["run_id"]
        script.release("asked")
        assert (await desk.over(started))["status"] == "done"
        assert (await desk.job("/consolidate"))["events_seen"] == 0


@pytest.mark.req("WF-G85")
async def test_the_graph_is_walked_and_exported(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await desk.job("/consolidate")
        central = await desk.get("/graph/central", n=3)
        assert len(central) == 3
        assert central[0]["rank"] >= central[-1]["rank"] > 0
        whole = await desk.get("/graph/export")
        edge = whole["edges"][0]
        way = await desk.get("/graph/path", a=edge["src"], b=edge["dst"])
        assert (way["distance"], len(way["nodes"])) == (1, 2)
        part = await desk.get("/graph/subgraph", seed=["Ines"], hops=1)
        assert part["nodes"][0]["id"] == "character:ines"
        await desk.get("/graph/path", a="Nobody", b="Ines", status=404)
        written = await desk.post("/graph/export")
        stored = json.loads((desk.root / written["graph"]).read_text("utf-8"))
        assert stored["nodes"] == whole["nodes"]


@pytest.mark.req("WF-G85")
async def test_a_voice_is_found_by_ear_bundled_and_locked(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await desk.post("/mode", {"to": "VOICE_CALIBRATION"})
        await desk.put("/voice/test-passage", {"text": BRIEF})
        agents = ["script:one", "script:two"]
        assert [e["is_usable"] for e in await desk.post("/tournaments/check", {"agents": agents})]
        wanted = {"test_prompt": BRIEF, "agents": agents, "strategies": ["ACTION", "BALANCED"]}
        started = await desk.post("/tournaments", wanted, status=202)
        await desk.over(started)
        path = f"/tournaments/{started['tournament_id']}"
        held = await desk.get(path)
        assert (held["state"], held["usable"], held["winner"]) == ("ready", 4, "")
        shown = await desk.get(f"{path}/presented")
        assert all("agent" not in each and each["text"] for each in shown)
        revealed = await desk.get(f"{path}/reveal")
        assert {each["agent"] for each in revealed} == set(agents)
        await desk.post("/voice/lock", {"confirmed": True}, status=409)
        await desk.post(f"{path}/winner", {"label": "Z"}, status=404)
        won = await desk.post(f"{path}/winner", {"label": "A", "notes": "It breathes."})
        assert (won["winner"], won["notes"]) == (revealed[0]["id"], "It breathes.")
        assert (await desk.get(f"{path}/presented"))[0]["agent"] == revealed[0]["agent"]
        await desk.job("/voice/bundle")
        bundle = await desk.get("/voice/bundle")
        assert bundle["passage"].startswith("Rain fell on the tide office.")
        await desk.post("/voice/lock", {"confirmed": False}, status=409)
        locked = await desk.post("/voice/lock", {"confirmed": True})
        assert (locked["locked"], locked["steps_done"]) == (True, 5)
        await desk.post(f"{path}/winner", {"label": "B"}, status=409)
        assert len(await desk.get("/tournaments")) == 1


@pytest.mark.req("WF-G85")
async def test_scenes_go_from_outline_to_accepted(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await desk.job("/consolidate")
        await desk.move("DIRECTOR")
        await desk.job("/outline")
        proposed = await desk.get("/outline")
        assert (proposed["scenes"], len(proposed["proposal"]["scenes"]) >= 15) == ([], True)
        approved = await desk.post("/outline/approve")
        assert approved["uncovered_beats"] == []
        own = [{"chapter": 1, "scene": 1, "title": "The key", "beat_number": 1, "word_target": 90}]
        assert (await desk.put("/outline", {"scenes": own}))["uncovered_beats"][0] == 2
        await desk.put("/outline", {"scenes": own * 2}, status=400)
        first, second = await desk.get("/outline/versions")
        assert len(first["scenes"]) >= 15 and second["reason"] == "the writer's own"
        back = await desk.post(f"/outline/versions/{first['number']}/restore")
        assert back["uncovered_beats"] == []
        await desk.post("/outline/versions/99/restore", status=404)
        await desk.put("/outline", {"scenes": own})
        await desk.job("/scaffolds", {"chapter": 1, "scene": 1, "title": "The key"})
        scaffold = await desk.get("/scaffolds/ch1-sc1")
        assert scaffold["is_approved"] is False
        waiting = await desk.post("/scenes/ch1-sc1/variants", {}, status=409)
        assert waiting["error"]["code"] == "scaffold_not_approved"
        changes = {"location": "Tide office", "weather": "fog"}
        await desk.post("/scaffolds/ch1-sc1/approve", {"changes": {"mood": "x"}}, status=400)
        agreed = await desk.post("/scaffolds/ch1-sc1/approve", {"changes": changes})
        assert (agreed["is_approved"], agreed["weather"]) == (True, "fog")
        assert [each["version"] for each in await desk.get("/scaffolds/ch1-sc1/versions")] == [1, 2]
        older = await desk.post("/scaffolds/ch1-sc1/approve", {"version": 1})
        assert (older["version"], older["weather"]) == (3, scaffold["weather"])
        agreed = await desk.post("/scaffolds/ch1-sc1/approve", {"version": 2})
        assert (agreed["version"], agreed["weather"]) == (4, "fog")
        await desk.post("/scaffolds/ch1-sc1/approve", {"version": 9}, status=404)
        assert (await desk.get("/scaffolds/active"))["scaffold_id"] == "ch1-sc1"
        assert len(await desk.get("/scaffolds")) == 1
        await desk.post("/scenes/ch1-sc1/variants", {"strategies": ["LOUD"]}, status=400)
        await desk.job("/scenes/ch1-sc1/variants", {"strategies": ["ACTION", "BALANCED"]})
        first, second = await desk.get("/scenes/ch1-sc1/variants")
        assert first["text"] != second["text"] != ""
        parts = [{"variant": first["id"], "paragraphs": "1"}, {"variant": "BALANCED"}]
        hybrid = await desk.job("/scenes/ch1-sc1/hybrid", {"parts": parts})
        assert [each.rpartition("#")[0] for each in hybrid["provenance"]] == [
            first["id"],
            second["id"],
        ]
        await desk.post("/scenes/ch1-sc1/hybrid", {}, status=400)
        await desk.post("/scenes/ch1-sc1/select", {"variant_id": "NOBODY"}, status=404)
        await desk.post("/scenes/ch1-sc1/select", {"variant_id": first["id"]})
        assert (await desk.get("/scenes/ch1-sc1"))["status"] == "selected"
        accepted = await desk.job("/scenes/ch1-sc1/accept")
        assert accepted["scene"]["status"] == "drafted"
        (scene,) = await desk.get("/scenes")
        assert (scene["status"], scene["word_count"] > 50) == ("drafted", True)


@pytest.mark.req("WF-G85", "WF-G77")
async def test_a_scene_is_scored_compared_bettered_and_blocked(shop: Shop) -> None:
    async with shop.serve() as desk:
        await desk.put("/project", {"title": "Salt"})
        await write_book(desk.factory, SCENE, BLOCKED)
        await desk.move("EDITOR")
        asked = len(desk.script.prompts)
        fast = await desk.post("/scenes/ch1-sc2/analyze", {"fast": True})
        assert (fast["may_accept"], len(desk.script.prompts)) == (False, asked)
        (hit,) = fast["blocked_by"]
        full = await desk.job("/scenes/ch1-sc2/analyze")
        assert full["may_accept"] is False
        verdict = await desk.get("/scenes/ch1-sc2/analysis")
        assert verdict["analysis"]["total"] == full["total"]
        ranked = await desk.post("/scenes/ch1-sc2/compare", {"texts": {"a": BLOCKED, "b": SCENE}})
        assert [each["name"] for each in ranked["ranking"]] == ["b", "a"]
        await desk.post("/scenes/ch1-sc1/compare", {}, status=400)
        blocked = await desk.post("/scenes/ch1-sc2/accept", {}, status=409)
        assert blocked["error"]["code"] == "acceptance_blocked"
        assert hit["quote"] in blocked["error"]["details"]["unmet"][0]
        waiver = {"pattern": hit["pattern"], "quote": hit["quote"], "reason": "her own words"}
        await desk.post("/scenes/ch1-sc2/waive", waiver, status=201)
        await desk.post("/scenes/ch1-sc2/waive", waiver, status=400)
        await desk.job("/scenes/ch1-sc2/accept")


@pytest.mark.req("WF-G85")
async def test_proposed_changes_are_taken_or_refused(shop: Shop) -> None:
    async with shop.serve() as desk:
        await write_book(desk.factory, BLOCKED)
        await desk.move("EDITOR")
        started = await desk.post("/scenes/ch1-sc1/enhance", {"mode": "six_pass"}, status=202)
        assert (await desk.over(started))["status"] == "done"
        path = f"/enhancements/{started['enhancement_id']}"
        enhanced = await desk.get(path)
        assert [each["id"] for each in await desk.get("/scenes/ch1-sc1/enhancements")] == [
            enhanced["id"]
        ]
        ids = [each["id"] for each in enhanced["changes"]]
        decided = await desk.post(f"{path}/decide", {"reject": ids})
        assert len(decided["changes"]) == len(ids)
        assert (await desk.get("/scenes/ch1-sc1/text"))["text"].strip() == BLOCKED
        await desk.post(f"{path}/decide", {"accept": ["nobody"]}, status=400)
        await desk.get("/enhancements/run_x", status=404)


@pytest.mark.req("WF-G85")
async def test_edits_and_versions_can_be_taken_back(shop: Shop) -> None:
    async with shop.serve() as desk:
        await write_book(desk.factory, SCENE)
        await desk.move("EDITOR")
        edit = {"old_text": "for a long time", "new_text": "and away", "reason": "shorter"}
        made = await desk.post("/scenes/ch1-sc1/edits", edit, status=201)
        assert "+" in made["diff"]
        again = await desk.post("/scenes/ch1-sc1/edits", edit, status=409)
        assert again["error"]["details"]["count"] == 0
        worse = {"old_text": "and away", "new_text": "with deadly precision", "reason": "x"}
        stopped = await desk.post("/scenes/ch1-sc1/edits", worse, status=409)
        assert stopped["error"]["code"] == "edit_blocked"
        (known,) = await desk.get("/scenes/ch1-sc1/edits")
        assert known["reason"] == "shorter"
        await desk.post("/scenes/ch1-sc1/edits/undo")
        assert (await desk.get("/scenes/ch1-sc1/text"))["text"].strip() == SCENE
        await desk.post("/scenes/ch1-sc1/edits/undo", status=409)
        versions = await desk.get("/scenes/ch1-sc1/versions")
        assert len(versions) == 3
        older = await desk.get("/scenes/ch1-sc1/versions/2")
        assert "and away" in older["text"]
        await desk.post("/scenes/ch1-sc1/versions/2/restore")
        assert "and away" in (await desk.get("/scenes/ch1-sc1/text"))["text"]
        await desk.post("/scenes/ch1-sc1/undo")
        assert (await desk.get("/scenes/ch1-sc1/text"))["text"].strip() == SCENE
        await desk.post("/scenes/ch1-sc1/versions/99/restore", status=404)
        await desk.post("/edits", {"target": "../secret.md", **edit}, status=400)
        (desk.root / "content" / "Notes.md").write_text("Salt is money.\n")
        own = {"target": "content/Notes.md", "old_text": "money", "new_text": "law", "reason": "x"}
        await desk.post("/edits", own, status=201)
        assert (desk.root / "content" / "Notes.md").read_text() == "Salt is law.\n"
        await desk.post("/edits/undo", {"target": "content/Notes.md"})
        assert (desk.root / "content" / "Notes.md").read_text() == "Salt is money.\n"
        assert await desk.get("/edits", target="ch1-sc1") == await desk.get("/scenes/ch1-sc1/edits")


@pytest.mark.req("WF-G85")
async def test_what_an_agent_writes_waits_for_the_writer(shop: Shop) -> None:
    async with shop.serve() as desk:
        await write_book(desk.factory, SCENE)
        await desk.move("DIRECTOR")
        proposals = desk.factory.rooms.revision.proposals
        for text in ("Ines waited.", "Ines went home."):
            await proposals.propose("ch1-sc1", text, mode="DIRECTOR", source="conversation:run_1")
        first, second = await desk.get("/proposals")
        assert (first["state"], "+Ines waited." in first["diff"]) == ("pending", True)
        await desk.post(f"/proposals/{first['id']}/reject")
        await desk.post(f"/proposals/{first['id']}/accept", status=409)
        accepted = await desk.post(f"/proposals/{second['id']}/accept")
        assert accepted["state"] == "accepted"
        assert (await desk.get("/scenes/ch1-sc1/text"))["text"].strip() == "Ines went home."
        assert await desk.get("/proposals") == []
        assert len(await desk.get("/proposals", only_pending=False)) == 2


@pytest.mark.req("WF-G85")
async def test_health_is_checked_and_set_right_by_the_writer(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await write_book(desk.factory, SCENE, f"{SCENE} The end.")
        await desk.move("EDITOR")
        await desk.post("/health-checks", {"scope": "book"}, status=400)
        report = await desk.job("/health-checks", {"scope": "manuscript"})
        latest = await desk.get("/health-checks/latest")
        assert latest["id"] == report["id"]
        assert len(latest["checks"]) == 7
        assert (await desk.get(f"/health-checks/{report['id']}")) == latest
        assert len(await desk.get("/health-checks")) == 1
        findings = await desk.get("/findings", only_alerts=True)
        one = findings[0]["id"]
        assert (await desk.post(f"/findings/{one}/mute", {"reason": "meant so"}))["muted_because"]
        alerts = await desk.get("/findings", only_alerts=True)
        assert len(alerts) == len(findings) - 1
        assert (await desk.post(f"/findings/{one}/unmute"))["is_alert"] is True
        await desk.post("/findings/find_x/mute", {"reason": "none"}, status=404)
        score = {"target": "ch1-sc2", "score": 8, "reason": "it sings"}
        assert (await desk.put("/theme-overrides", score))["author"] == "writer"
        assert [e["target"] for e in await desk.get("/theme-overrides")] == ["ch1-sc2"]
        await desk.delete("/theme-overrides", target="ch1-sc2")
        await desk.delete("/theme-overrides", target="ch1-sc2", status=404)
        await desk.put("/scenes/ch1-sc1/tension", {"tension": 9})
        assert (await desk.get("/scenes/ch1-sc1"))["tension"] == 9
        await desk.put("/scenes/ch1-sc1/symbols", {"symbols": [{"name": "brass key"}]})
        challenge = {"type": "growth", "quote": "Ines put the brass key on the counter"}
        await desk.put("/scenes/ch1-sc1/challenge", challenge)
        (known, *_) = desk.factory.rooms.health.challenges()
        assert (known.flaw, known.detected_by) == (PROTAGONIST["fatal_flaw"], "writer")
        await desk.put("/scenes/ch1-sc1/challenge", {})
        await desk.put("/characters/Jun/function", {"function": "foil"})
        await desk.put("/characters/Jun/function", {"function": "furniture"}, status=400)


@pytest.mark.req("WF-G85")
async def test_the_book_is_reported_on_completed_exported_and_reopened(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await desk.post("/export", status=409)
        await write_book(desk.factory, SCENE)
        await desk.move("EDITOR")
        audit = await desk.job("/audit", {"fast": True})
        assert (desk.root / audit["path"]).is_file()
        voiced = await desk.job("/voice-report")
        assert (desk.root / voiced["path"]).is_file()
        exported = await desk.post("/export", {"formats": ["md"], "author": "A. Writer"})
        (book,) = exported["files"]
        assert "*A. Writer*" in (desk.root / book["path"]).read_text("utf-8")
        assert (await desk.get("/completion"))["is_complete"] is False
        await desk.post("/reopen", status=409)
        done = await desk.job("/complete", {"formats": ["md"]})
        assert (done["is_complete"], done["mode"]) == (True, "COMPLETE")
        assert (await desk.get("/completion"))["is_complete"] is True
        assert (await desk.post("/reopen"))["to"] == "EDITOR"
        assert (await desk.get("/mode"))["is_complete"] is False


@pytest.mark.req("WF-G85", "WF-09")
async def test_settings_are_shown_with_what_is_wrong_in_the_writers_file(shop: Shop) -> None:
    own = "health:\n  flaw_gap_warning: many\n  alerts: 3\n"
    (shop.root / ".callboard" / "writers_factory.yaml").write_text(own)
    async with shop.serve() as desk:
        shown = await desk.get("/settings")
        assert shown["values"]["health"]["alerts"] == 3
        assert any("flaw_gap_warning" in each for each in shown["warnings"])


@pytest.mark.req("WF-G85")
async def test_the_server_consolidates_by_the_clock_only_where_there_is_a_book(
    shop: Shop, tmp_path: Path
) -> None:
    async with shop.serve() as desk:
        clock = desk.factory.clock
        assert clock.is_ticking
    assert not clock.is_ticking
    other = Shop.build(tmp_path / "other", pack="control_room")
    async with other.serve() as desk:
        assert not desk.factory.clock.is_ticking
        await desk.put("/project", {"title": "A book after all"})
    async with other.serve() as desk:
        assert desk.factory.clock.is_ticking


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
