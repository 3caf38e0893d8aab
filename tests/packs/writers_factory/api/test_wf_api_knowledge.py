"""The REST door of Writers Factory: the Story Bible, decisions, notebooks and the graph."""

import json
from pathlib import Path

import pytest
from factory_door_stage import (
    BEATS,
    THEME,
    Shop,
    lay_foundation,
    staff,
)

from callboard.models import Line, Script

pytestmark = pytest.mark.anyio


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
