"""The REST door of Writers Factory: voice, scenes, revision, health and the end of a book."""

import io
import os
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from factory_door_stage import (
    BLOCKED,
    BRIEF,
    PROTAGONIST,
    SCENE,
    Desk,
    Shop,
    lay_foundation,
    write_book,
)

from callboard.packs.writers_factory.model import SceneStatus

pytestmark = pytest.mark.anyio


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
        page = await desk.put("/title-page", {"author": "A. Lee", "contact": ["1 Quay"]})
        assert page == await desk.get("/title-page") and page["author"] == "A. Lee"
        await desk.put("/title-page", {"date": "soon"}, status=400)
        named = await desk.put("/chapters/1/title", {"title": "Low Water"})
        assert "Low Water" in str(named)
        seen = await desk.post("/export/preview")
        assert seen["running_head"] == "Lee / SALT" and len(seen["paths"]) == 3
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


async def test_a_manuscript_in_the_project_is_taken_in_and_taken_back(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        (desk.root / "old.txt").write_text("Chapter One\n\nThe lamp was lit.\n", "utf-8")
        seen = await desk.post("/import/preview", {"path": "old.txt"})
        assert [each["scene_id"] for each in seen["scenes"]] == ["ch1-sc1"]
        assert (desk.root / "old.txt").exists()
        made = await desk.post("/import", {"path": "old.txt"})
        assert desk.factory.rooms.manuscript.text("ch1-sc1") == "The lamp was lit."
        await desk.post("/import", {"path": "../old.txt"}, status=400)
        undone = await desk.post("/import/undo", {"import_id": made["id"]})
        assert undone["is_undone"] and (desk.root / "old.txt").exists()
        await desk.post("/import/undo", {"import_id": made["id"]}, status=404)


FILE = {"content-type": "application/octet-stream"}


async def send(desk: Desk, name: str, data: bytes, to: str = "", **params: Any) -> httpx.Response:
    path = f"/api/factory/import/upload{to}"
    told = {"name": name, **params}
    return await desk.client.post(path, params=told, content=data, headers=FILE)


def zipped(entries: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return held.getvalue()


SCENES = {
    "Book/Chapter 1/Scene 1.md": "---\ntitle: Dusk\nwhen: 1204-01-10\n---\n\nThe lamp was lit.\n",
    "Book/Chapter 2/Scene 1.md": "# Night\n\nNobody came to the rock.\n",
    "Book/cover.png": "no picture",
    "__MACOSX/Book/._Scene 1.md": "litter",
}


async def test_a_manuscript_is_sent_shown_taken_in_and_taken_back(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        book = desk.factory.rooms.manuscript
        made: Any = None
        for name, data, scenes in (
            ("C:\\books\\old.md", b"# Chapter 1\n\nOne," + 30_000 * b" and," + b"\n", 1),
            ("scenes.zip", zipped(SCENES), 2),
        ):
            seen = (await send(desk, name, data, "/preview")).json()
            assert len(seen["scenes"]) == scenes and not seen["id"]
            assert not [each for each in book.scenes() if book.text(each.scene_id)]
            made = (await send(desk, name, data)).json()
            assert made["name"] == name.rpartition("\\")[2] and book.text("ch1-sc1")
            again = await send(desk, "other.txt", b"Chapter 1\n\nOther words.\n")
            assert again.status_code == 409 and again.json()["error"]["code"] == "places_taken"
            undone = await desk.post("/import/undo", {"import_id": made["id"]})
            assert undone["is_undone"] and not book.has_file("ch1-sc1")
        assert "1 x no text: not taken over" in made["problems"]
        assert made["scenes"][0]["title"] == "Dusk"
        # A book that was exported comes back the way it went.
        await write_book(desk.factory, SCENE)
        sent = await desk.post("/export", {"formats": ["docx"]})
        (word,) = [each for each in sent["files"] if each["path"].endswith(".docx")]
        data = (desk.root / word["path"]).read_bytes()
        back = (await send(desk, "book.docx", data, append=True)).json()
        assert book.text(back["scenes"][0]["scene_id"]).startswith("Ines came in by the kitchen.")


def special(mode: int, *names: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, mode << 16
            archive.writestr(entry, "/etc/hostname")
    return held.getvalue()


HOSTILE = {
    "up": zipped({"../Scene 1.md": "x"}),
    "up within": zipped({"a/../../Scene 1.md": "x"}),
    "absolute": zipped({"/tmp/Scene 1.md": "x"}),  # noqa: S108 - refused
    "drive": zipped({"C:/Scene 1.md": "x"}),
    "backslash": zipped({"..\\Scene 1.md": "x"}),
    "control": zipped({"Scene\x071.md": "x"}),
    "long": zipped({f"{'x' * 300}.md": "x"}),
    "deep": zipped({"x/" * 40 + "Scene 1.md": "x"}),
    "link": special(0o120777, "Scene 1.md"),
    "device": special(0o020666, "Scene 1.md"),
    "twice": special(0o100644, "Scene 1.md", "scene 1.md"),
    "bomb": zipped({f"Scene {n}.md": 30_000_000 * "x" for n in range(3)}),
    "many": zipped({f"Scene {n}.md": "x" for n in range(6_000)}),
    "nothing": zipped({"picture.png": "x"}),
    "broken": zipped(SCENES)[:-40],
    "empty": b"PK\x03\x04",
}


async def test_an_archive_that_means_harm_is_refused_whole(shop: Shop, tmp_path: Path) -> None:
    before = set(os.listdir(tmp_path))
    async with shop.serve() as desk:
        await lay_foundation(desk)
        for told, data in HOSTILE.items():
            for to in ("", "/preview"):
                answer = await send(desk, "scenes.zip", data, to)
                assert answer.status_code == 400, (told, answer.text)
                assert answer.json()["error"]["code"] == "import_refused", (told, answer.text)
        large = await send(desk, "book.txt", 20_000_001 * b"x")
        assert large.status_code == 413
        as_json = await desk.client.post("/api/factory/import/upload?name=a.md", json={"a": 1})
        assert as_json.status_code == 400 and "octet-stream" in as_json.text
        assert (await send(desk, "book.exe", b"MZ")).status_code == 400
        assert (await send(desk, "a\nb.md", b"x")).status_code == 400
        assert not desk.factory.rooms.manuscript.has_file("ch1-sc1")
    assert set(os.listdir(tmp_path)) <= {*before, "home"}


async def test_a_text_that_contradicts_a_card_is_accepted_by_force_only(shop: Shop) -> None:
    async with shop.serve() as desk:
        await lay_foundation(desk)
        await write_book(desk.factory, SCENE)
        await desk.move("DIRECTOR")
        card = "# Jun\n\nEyes: brown\n"
        desk.factory.workspace.files.write_text("content/Characters/Jun.md", card)
        false = {"new_text": "Jun’s eyes were green. Jun looked", "old_text": "Jun looked"}
        path = "/scenes/ch1-sc1/edits"
        refused = await desk.post(path, {**false, "reason": "a wish"}, status=409)
        assert refused["error"]["code"] == "text_unproven"
        assert "green" in refused["error"]["details"]["findings"][0]
        made = await desk.post(path, {**false, "reason": "a wish", "force": True}, status=201)
        assert "green" in made["against"][0]
        # One that was never accepted is refused before a run is started.
        book = desk.factory.rooms.manuscript
        await desk.put(
            "/outline",
            {
                "scenes": [
                    {"chapter": 1, "scene": n, "title": "S", "beat_number": n} for n in (1, 2)
                ]
            },
        )
        text = f"Jun’s eyes were green.\n\n{SCENE}"
        meta = replace(book.scene("ch1-sc2"), status=SceneStatus.SCAFFOLDED)
        await book.save("ch1-sc2", text, meta, reason="typed")
        refused = await desk.post("/scenes/ch1-sc2/accept", {}, status=409)
        assert refused["error"]["code"] == "text_unproven"
        done = await desk.job("/scenes/ch1-sc2/accept", {"force": True})
        assert done["scene"]["status"] == "drafted" and done["against"]
