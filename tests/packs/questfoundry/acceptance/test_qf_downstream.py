"""Scenarios 11 to 14: the dry run, sleeping specialists, context, and modes."""

from pathlib import Path
from typing import Any

import pytest
from questkit import Company, House, open_house

from callboard.packs.questfoundry.doors.telling import context_rows
from callboard.packs.questfoundry.steps.reading_aloud import routes_of

pytestmark = pytest.mark.anyio


async def bound(house: House) -> Any:
    await house.success("story_spark")
    await house.success("gatecheck")
    return await house.success("binding_run")


@pytest.mark.req("QF-124", "QF-125", "QF-126")
async def test_a_dry_run_passes_every_kind_of_place_and_changes_nothing(tmp_path: Path) -> None:
    company = Company()
    note = {"id": "n1", "section_id": "room", "tag": "tone_wobble", "severity": "med"}
    company.usual["pn_playtest_notes"] = {
        "notes": [{**note, "snippet": "wait for you", "fix": "another verb"}]
    }
    turn = {"route": "route_1", "section_id": "pier"}
    company.usual["narration_transcript"] = {
        "turns": [
            {**turn, "spoken": "You stand on the pier. The tower is dark."},
            {**turn, "spoken": "Recap: the lamp is out. A dragon lands beside you."},
        ]
    }
    async with open_house(tmp_path / "book", company) as house:
        await bound(house)
        before = house.foundry.cold.tip()
        ran = await house.success("narration_dry_run")
        plan = house.content(ran, "route_plan")
        covers = {each for route in plan["routes"] for each in route["covers"]}
        assert covers == {"hub", "loop_return", "gate_met", "gate_refused", "terminal"}
        assert 0 < plan["coverage"]["sections"] <= 100
        notes = house.content(ran, "pn_playtest_notes")["notes"]
        assert [each["snippet"] for each in notes] == ["wait for you", "A dragon lands beside you."]
        loops = {row["note_id"]: row["loop"] for row in house.content(ran, "issue_triage")["items"]}
        assert loops["n1"] == "style_tune_up"
        assert house.foundry.cold.tip() == before
        spoken = [text for _, role, text in company.prompts if role == "player_narrator"]
        assert spoken and all("What happens at" not in text for text in spoken)
        assert all("has_lamp" not in text for text in spoken)


@pytest.mark.req("QF-127", "QF-65")
async def test_without_an_illustrator_pictures_stay_plans(tmp_path: Path) -> None:
    company = Company()
    plan = {"id": "p1", "section_id": "room", "subject": "The great glass"}
    company.usual["art_plans"] = {"plans": [plan]}
    words = {"plan_id": "p1", "alt_text": "A round room under a great cold glass."}
    company.usual["visual_descriptions"] = {"items": [words]}
    async with open_house(tmp_path / "book", company) as house:
        await bound(house)
        art = await house.success("art_touch_up")
        assert "art_assets" not in art.result.artifacts
        assert art.unit.deferral_tags == ("deferred:art",)
        assert house.content(art, "art_manifest")["deferral_tags"] == ["deferred:art"]
        await house.success("gatecheck", upstream=[art.unit.id])
        company.usual["binding_request"] = {"snapshot": "x", "include": {"art": True}}
        ran = await house.success("binding_run")
        assert "deferred:art" in house.content(ran, "view_log")["limitations"]


@pytest.mark.req("QF-128")
async def test_a_woken_illustrator_does_only_what_was_left(tmp_path: Path) -> None:
    company = Company()
    plan = {"id": "p1", "section_id": "room", "subject": "The great glass"}
    company.usual["art_plans"] = {"plans": [{**plan, "determinism": "promised"}]}
    words = {"plan_id": "p1", "alt_text": "A round room under a great cold glass."}
    company.usual["visual_descriptions"] = {"items": [words]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        art = await house.success("art_touch_up")
        company.calls.clear()
        again = await house.success("art_touch_up", unit=art.unit.id, awake=["illustrator"])
        steps = {key.split("/")[1] for key, _ in company.calls}
        assert "step_4_render" in steps and "step_1_select_subjects" not in steps
        assert "step_2_art_plan" not in steps
        assert house.content(again, "art_assets")["assets"][0]["path"] == "art/p1.svg"
        assert house.content(again, "determinism_log")["runs"][0]["sha256"]


@pytest.mark.req("QF-130", "QF-131")
async def test_every_sound_needs_its_words(tmp_path: Path) -> None:
    company = Company()
    cue = {"cue_id": "q1", "kind": "stinger", "purpose": "mood", "intensity": "high"}
    company.usual["audio_plans"] = {"cues": [cue]}
    company.usual["captions"] = {"items": [{"cue_id": "q1", "caption": "the long bell"}]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        ran = await house.run("audio_pass")
        assert ran.result.status == "stalled"
        report = house.foundry.shelf.newest("gatecheck_report")
        assert report is not None
        checks = {row["check"] for row in house.foundry.shelf.body(report.sha256)["findings"]}
        assert {"caption", "text", "loud"} <= checks


@pytest.mark.req("QF-132", "QF-133")
async def test_a_translation_keeps_its_sources(tmp_path: Path) -> None:
    company = Company()
    company.usual["coverage_plan"] = {"locale": "de"}
    async with open_house(tmp_path / "book", company) as house:
        await bound(house)
        from callboard.packs.questfoundry.formats.edition import pieces_of

        book = house.foundry.cold_book(house.foundry.snapshot_named(None))
        first, second, *_ = pieces_of(book)
        company.usual["localized_surfaces"] = {
            "segments": [
                {**first, "target": "Die Lampe"},
                {**second, "target": "Alt", "source_sha256": "0" * 64},
            ]
        }
        ran = await house.success("translation_pass")
        pack = house.content(ran, "language_pack")
        assert pack["status"] == "incomplete" and pack["open_issues"] == [second["id"]]
        rows = house.content(ran, "localized_surfaces")["segments"]
        states = {row["id"]: row["status"] for row in rows}
        assert states[first["id"]] == "done" and states[second["id"]] == "outdated"
        assert "todo" in states.values()
        await house.success("gatecheck", upstream=[ran.unit.id])
        assert "localized_surfaces/de" in house.foundry.snapshot_named(None).files


@pytest.mark.req("QF-132", "QF-133")
async def test_a_translation_is_bound_as_files_and_its_gaps_are_told(tmp_path: Path) -> None:
    from callboard.core.errors import Conflict, NotFound
    from callboard.packs.questfoundry.by_code import bind_by_code
    from callboard.packs.questfoundry.formats.edition import pieces_of
    from callboard.packs.questfoundry.operations import operations_on

    company = Company()
    company.usual["coverage_plan"] = {"locale": "de"}
    async with open_house(tmp_path / "book", company) as house:
        await bound(house)
        book = house.foundry.cold_book(house.foundry.snapshot_named(None))
        told = [{**each, "target": f"§{each['source']}"} for each in pieces_of(book)]
        company.usual["localized_surfaces"] = {"segments": told[1:]}
        ran = await house.success("translation_pass")
        await house.success("gatecheck", upstream=[ran.unit.id])
        operations = operations_on(house.studio)
        with pytest.raises(NotFound, match="no translation 'fr'") as refused:
            await operations.perform(bind_by_code, "", ("html",), ("fr",))
        assert refused.value.fix == "There are de."
        with pytest.raises(Conflict, match="1 are not translated: title"):
            await operations.perform(bind_by_code, "", ("html",), ("de",))
        made = await operations.perform(bind_by_code, "", ("html",), ("de",), True)
        assert made["limitations"] == ["de: 1 are not translated: title"]
        names = {row["path"].rpartition("/")[2]: row["locale"] for row in made["files"]}
        assert names == {"book.html": "", "book.de.html": "de"}
        paths = [tmp_path / "book" / row["path"] for row in made["files"]]
        assert '<html lang="de">' in paths[1].read_text("utf-8")
        company.usual["localized_surfaces"] = {"segments": told[:1]}
        ran = await house.success("translation_pass")
        await house.success("gatecheck", upstream=[ran.unit.id])
        company.usual["binding_request"] = {
            "snapshot": "x",
            "formats": ["html"],
            "include": {"locales": ["de"]},
        }
        bound_again = await house.success("binding_run")
        files = house.content(bound_again, "export_bundle")["files"]
        assert {row["locale"] for row in files} == {"", "de"}


@pytest.mark.req("QF-132", "QF-133")
async def test_an_outdated_piece_stays_so_until_somebody_looks_at_it(tmp_path: Path) -> None:
    from callboard.packs.questfoundry.formats.edition import pieces_of

    company = Company()
    company.usual["coverage_plan"] = {"locale": "de"}
    async with open_house(tmp_path / "book", company) as house:
        await bound(house)
        book = house.foundry.cold_book(house.foundry.snapshot_named(None))
        first, second, *_ = pieces_of(book)
        old = {**second, "target": "Alt", "source_sha256": "0" * 64}
        for segments in ([old], [{**first, "target": "Die Lampe"}]):
            company.usual["localized_surfaces"] = {"segments": segments}
            ran = await house.success("translation_pass")
            await house.success("gatecheck", upstream=[ran.unit.id])
        pack = house.content(ran, "language_pack")
        assert pack["open_issues"] == [second["id"]]


@pytest.mark.req("QF-19", "QF-21", "QF-22")
async def test_the_showrunner_is_shown_little(tmp_path: Path) -> None:
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark", policy="llm")
        assert len(company.calls) == 17
        started = await house.studio.start("questfoundry/next_loop", {"policy": "llm"})
        chosen = await house.studio.engine.wait(started.id)
        assert chosen.error is None and chosen.result["suggested_loop"] == "hook_harvest"
        told = [*ran.events("decision"), *house.ran(chosen).events("decision")]
        rows = {row["kind"]: row for row in context_rows(told)}
        assert rows["strategic"]["lines"] <= 600
        assert rows["tactical"]["lines"] <= 1_400 and rows["tactical"]["state"] <= 120
        assert rows["strategic"]["below_baseline_percent"] >= 94
        for key, role, text in company.prompts:
            assert "step_3_localize" not in text, key
            if role != "showrunner":
                assert "often_precedes" not in text and "stabilization_criteria" not in text


@pytest.mark.req("QF-67", "QF-68", "QF-70")
async def test_a_role_alone_has_its_full_prompt_and_a_role_in_a_loop_its_adapter(
    tmp_path: Path,
) -> None:
    company = Company(says={"alone": ["A hub, I would say."]})
    async with open_house(tmp_path / "book", company) as house:
        args = {"role": "plotwright", "message": "What shape fits a lighthouse?"}
        started = await house.studio.start("questfoundry/ask_role", args)
        run = await house.studio.engine.wait(started.id)
        assert run.error is None and run.result["text"] == "A hub, I would say."
        alone = company.prompts[-1][2]
        assert "When a human talks to you directly" in alone
        await house.success("story_spark")
        within = next(text for _, role, text in company.prompts[1:] if role == "plotwright")
        assert "When a human talks to you directly" not in within and "# Plotwright" in within
        order = [
            "What counts as work",
            "What you are shown",
            "What readers must not",
            "# Plotwright",
        ]
        places = [within.index(each) for each in order]
        assert places == sorted(places)


async def test_routes_of_a_book_without_hubs_cover_what_there_is() -> None:
    from callboard.packs.questfoundry.book.model import Book, Section, SectionKind, StoryChoice

    end = Section("b", kind=SectionKind.TERMINAL)
    book = Book("T", "a", (Section("a", choices=(StoryChoice("c", "Go", "b"),)), end))
    assert [each["covers"] for each in routes_of(book)] == [["terminal"]]
