"""The continuity audit and the voice report: every finding quoted, by chapter, on disk."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from revision_book import GOLD, SCENE, open_book

from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.manuscript import BookScene
from callboard.packs.writers_factory.model import (
    Evidence,
    Finding,
    PlannedScene,
    SceneMeta,
    Severity,
)
from callboard.packs.writers_factory.revision.analysis.forbidden import Correction
from callboard.packs.writers_factory.revision.facts import (
    Planting,
    SceneGround,
    StoryFacts,
    VoiceFacts,
)
from callboard.packs.writers_factory.revision.reports.continuity import audit_manuscript
from callboard.packs.writers_factory.revision.reports.findings import AuditItem, AuditKind
from callboard.packs.writers_factory.revision.reports.voices import (
    audit_page,
    report_voice,
    voice_page,
)

pytestmark = pytest.mark.anyio


def scene(chapter: int, number: int, text: str, **facts: Any) -> BookScene:
    return BookScene(SceneMeta(f"ch{chapter}-sc{number}", chapter, number, **facts), text)


SCENES = (
    scene(1, 1, "Mickey pocketed the brass lighter.", foreshadowing=("the brass lighter",)),
    scene(1, 2, "The gun went into the river.", foreshadowing=("the locked cellar",)),
    scene(2, 1, "He drew the gun. The lighter was warm.", callbacks=("the brass lighter",)),
    scene(3, 1, "She wore the silver ring at last.", callbacks=("the silver ring",)),
    scene(3, 2, ""),
)
STORY = StoryFacts(
    corrections=(Correction("gun", "The gun was lost in chapter 1."),),
    rules=(Correction("rule 1", "Say the Authority, not the police."),),
    conflicts=("Danny is dead and alive",),
    health=(
        Finding(
            "A3_timeline",
            Severity.ERROR,
            "Danny is in two cities the same night",
            "Move one of the scenes.",
            (Evidence("ch1-sc2", "The gun went"), Evidence("ch2-sc1", "He drew the gun")),
        ),
        Finding("A1_pacing", Severity.WARNING, "Flat chapters"),
    ),
)


def of_kind(items: tuple[AuditItem, ...], kind: AuditKind) -> list[AuditItem]:
    return [item for item in items if item.kind is kind]


@pytest.mark.req("WF-104", "WF-G83", "WF-22")
def test_the_audit_finds_every_kind_of_break_with_its_quote_and_a_fix() -> None:
    items = audit_manuscript(STORY, SCENES)
    (timeline,) = of_kind(items, AuditKind.TIMELINE)
    assert timeline.chapter == 1 and timeline.quotes[1] == "ch2-sc1: He drew the gun"
    (unpaid,) = of_kind(items, AuditKind.UNPAID)
    assert unpaid.scene_id == "ch1-sc2" and "'the locked cellar'" in unpaid.problem
    (unplanted,) = of_kind(items, AuditKind.UNPLANTED)
    assert unplanted.quotes == ("the silver ring",) and unplanted.scene_id == "ch3-sc1"
    (broken,) = of_kind(items, AuditKind.CORRECTION)
    assert broken.quotes == ("He drew the gun.",) and broken.severity is Severity.ERROR
    (conflict,) = of_kind(items, AuditKind.CONFLICT)
    assert conflict.chapter == 0
    assert of_kind(items, AuditKind.WORLD_RULE) == []
    assert all(item.fix for item in items)
    assert [item.chapter for item in items] == sorted(item.chapter for item in items)
    assert [AuditItem.from_json(item.to_json()) for item in items] == list(items)


@pytest.mark.req("WF-G83")
def test_the_graph_counts_as_much_as_the_front_matter_and_a_mention_is_told() -> None:
    story = replace(
        STORY,
        plantings=(
            Planting("silver ring", "ch1-sc1"),
            Planting("the locked cellar", "ch2-sc1", is_payoff=True),
            Planting("the drowned dog", "ch1-sc1"),
        ),
    )
    scenes = (*SCENES[:3], scene(3, 1, "A drowned dog lay there. The silver ring.", callbacks=()))
    items = audit_manuscript(story, scenes)
    assert of_kind(items, AuditKind.UNPLANTED) == []
    unpaid = {item.problem: item.severity for item in of_kind(items, AuditKind.UNPAID)}
    assert unpaid == {
        "'silver ring' is planted and never paid off; ch3-sc1 mentions it": Severity.INFO,
        "'the drowned dog' is planted and never paid off; ch3-sc1 mentions it": Severity.INFO,
    }


@pytest.mark.req("WF-G83")
def test_a_rule_that_can_be_read_by_code_is_checked_by_code() -> None:
    broken = (scene(1, 1, "He called the police."),)
    (item,) = of_kind(audit_manuscript(STORY, broken), AuditKind.WORLD_RULE)
    assert item.quotes == ("He called the police.",)


def test_a_page_shows_chapters_quotes_and_fixes_and_no_broken_line() -> None:
    hostile = AuditItem(
        AuditKind.CORRECTION, Severity.ERROR, 2, "ch2-sc1", "a\n# b", "c\nd", ("one\ntwo",)
    )
    page = audit_page("Low\nWater", [hostile], ["a note"])
    assert page.startswith("# Continuity audit: Low Water\n")
    assert "\n## Chapter 2\n" in page and "\n# b" not in page
    assert "  > one\n  > two" in page and "Fix: c d" in page


@pytest.mark.req("WF-104", "WF-G83")
async def test_the_audit_is_written_judged_once_and_drops_what_is_not_quoted(
    tmp_path: Path,
) -> None:
    breaches = [
        {"rule": 1, "quote": "the tap running", "problem": "Water flows.", "fix": "Turn it off."},
        {"rule": 7, "quote": "the tap running", "problem": "No such rule.", "fix": ""},
        {"rule": 1, "quote": "a dragon landed", "problem": "Invented.", "fix": ""},
    ]
    script = Script(
        Line(json={"breaches": breaches}, prompt_type="revision/judge_rules", times=None)
    )
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE, callbacks=("the flood",))
        rules = ["No water flows after dark.", "Say lift, not elevator.", "Nobody owns a car."]
        await book.revision.rooms.bible.write(
            "world_rules", {"rules": rules}, source="writer_stated"
        )
        found = await book.run("audit")
        assert found["path"] == "content/Reports/Continuity_Audit.md"
        page = (book.root / found["path"]).read_text()
        assert "Water flows." in page and "> the tap running" in page and "Turn it off." in page
        assert "'the flood'" in page
        assert "No such rule" not in page and "Invented" not in page
        await book.run("audit")
        assert len(script.calls) == 1
        assert "# Continuity rules" in script.prompts[0]
        fast = await book.run("audit", fast=True)
        assert len(script.calls) == 1
        assert fast["notes"][0] == "Only what code can check was checked."


AT_PENROSE = "Mickey Doyle lived at Penrose, thirty miles from the pier. Danny knew it well."
AT_QUAY_LANE = "Mickey Doyle walked home to Quay Lane, his own house by the pier. Danny nodded."


async def test_the_audit_says_what_nobody_judged_and_a_judge_finds_what_rules_do_not_read(
    tmp_path: Path,
) -> None:
    def judge(request: ModelRequest) -> Line:
        is_it = "lived at Penrose" in request.prompt_text and "Quay Lane" in request.prompt_text
        said = {
            "reason": "He lives in two places.",
            "verdict": "contradicts" if is_it else "unrelated",
            "first_quote": "lived at Penrose, thirty miles" if is_it else "",
            "second_quote": "home to Quay Lane, his own house" if is_it else "",
        }
        return Line(json=said, times=None)

    script = Script(judge)
    async with open_book(tmp_path / "book", script) as book:
        await book.plan(PlannedScene(1, 1, "One"), PlannedScene(2, 1, "Two"))
        await book.write("ch1-sc1", AT_PENROSE)
        await book.write("ch2-sc1", AT_QUAY_LANE)
        unjudged = await book.run("audit")
        assert script.calls == [] and unjudged["items"] == []
        assert any("were not judged" in note and "--judge" in note for note in unjudged["notes"])
        found = await book.run("audit", judge=True)
        (item,) = found["items"]
        assert item["kind"] == "contradiction" and item["scene_id"] == "ch2-sc1"
        assert "Penrose" in item["problem"] and len(item["quotes"]) == 2
        assert "lived at Penrose" in (book.root / found["path"]).read_text()
        asked = len(script.calls)
        assert asked == len(await book.run("audit", judge=True) and script.calls)


DEATH = (
    "Danny Rourke opened the door. Mickey nodded at Danny. The tide was out and Danny looked for "
    "the boat. Then Danny Rourke died on the pier, and nobody came. Mickey buried Danny Rourke at "
    "noon."
)
LIFE = (
    "Mickey was in the bar. Danny Rourke walked in and sat down. \u201cYou look bad,\u201d Danny "
    "said. Danny poured a drink and Mickey watched Danny."
)


@pytest.mark.parametrize(
    ("dies", "lives", "is_found"), [("ch1-sc1", "ch2-sc1", True), ("ch2-sc1", "ch1-sc2", False)]
)
async def test_scenes_that_contradict_each_other_in_the_order_of_the_book_are_found(
    tmp_path: Path, dies: str, lives: str, is_found: bool
) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan(
            PlannedScene(1, 1, "One"), PlannedScene(1, 2, "Two"), PlannedScene(2, 1, "Three")
        )
        people = ("Danny Rourke", "Mickey")
        await book.write(dies, DEATH, characters=people)
        await book.write(lives, LIFE, characters=people)
        found = await book.run("audit", fast=True)
        items = [each for each in found["items"] if each["kind"] == "contradiction"]
        assert bool(items) is is_found
        if is_found:
            assert items[0]["scene_id"] == lives and items[0]["severity"] == "error"
            assert any("died on the pier" in quote for quote in items[0]["quotes"])


# Voice

STRANGE = (
    "Oh, how the luminous, shimmering, incandescent evening unfurled itself before me, as I, "
    "trembling, breathless, infinitely forlorn, contemplated the endless, endless sea, which, "
    "like a thousand silver mirrors, gave back nothing but the pale and wandering ghost of what "
    "I once, in days now lost, had dared, so foolishly, to call my heart, my hope, my home."
)


@pytest.mark.req("WF-104", "WF-G83", "WF-22")
def test_the_voice_report_measures_scenes_drift_patterns_and_quotes_outliers() -> None:
    story = StoryFacts(
        voice=VoiceFacts(gold_text=GOLD, pov="third", evolution={"1": "guarded"}),
        scenes={"ch1-sc1": SceneGround("1"), "ch2-sc1": SceneGround("1")},
    )
    plain = GOLD.replace("\n\n", " ")
    scenes = (
        scene(1, 1, f"{plain}\n\n{plain} He cut it with surgical precision.\n\n{STRANGE}"),
        scene(2, 1, f"{STRANGE}\n\n{STRANGE}"),
        scene(3, 1, ""),
    )
    report = report_voice(story, scenes)
    near, far = report.scenes
    assert near.distance is not None and far.distance is not None
    assert near.distance < far.distance
    assert far.verdict == "out of voice"
    assert near.patterns["with … precision"] == 1
    assert report.drift == {"1": near.distance, "2": far.distance}
    assert [(each.scene_id, each.quote) for each in report.outliers] == [("ch1-sc1", STRANGE)]
    page = voice_page("Low Water", report)
    assert "| ch1-sc1 | 1 |" in page and f"> {STRANGE[:40]}" in page and "Act 1: guarded" in page
    assert json.loads(json.dumps(report.to_json()))["drift_by_chapter"][1]["chapter"] == 2


@pytest.mark.req("WF-G83")
def test_an_act_that_was_meant_to_change_is_not_blamed_for_it() -> None:
    def report(evolution: dict[str, str]) -> list[str]:
        story = StoryFacts(
            voice=VoiceFacts(gold_text=GOLD, pov="third", evolution=evolution),
            scenes={f"ch{n}-sc1": SceneGround("3") for n in (1, 2, 3)},
        )
        scenes = [scene(n, 1, f"{STRANGE}\n\n{STRANGE}") for n in (1, 2, 3)]
        return [each.verdict for each in report_voice(story, scenes).scenes]

    assert report({"3": "undone, lyrical"}) == ["changed with its act"] * 3
    assert report({}) == ["out of voice"] * 3


@pytest.mark.req("WF-G83")
async def test_the_voice_report_is_written_as_page_and_data_without_a_model(tmp_path: Path) -> None:
    script = Script()
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("voice_report")
        data = json.loads((book.root / found["data_path"]).read_text())
        assert data["scenes"][0]["scene_id"] == "ch1-sc1"
        assert data["scenes"][0]["patterns"]["with … precision"] == 1
        assert (book.root / found["path"]).read_text().startswith("# Voice report")
        assert script.calls == []


async def test_a_report_survives_a_book_without_anything(tmp_path: Path) -> None:
    def nobody(request: ModelRequest) -> Line:
        raise AssertionError(request.prompt_type)

    async with open_book(tmp_path / "book", Script(nobody), has_voice=False) as book:
        assert (await book.run("audit"))["items"] == []
        found = await book.run("voice_report")
        assert found["scenes"] == [] and found["notes"]
