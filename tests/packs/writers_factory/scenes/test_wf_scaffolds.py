"""Scaffolds: derived from the story, worded by a model, never against what is known."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_stage import FILLED, staff

from callboard.models import Line, ModelRequest
from callboard.packs.writers_factory.memory.notebooks import Notebooks
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.scenes.drafts import ScaffoldInvalid, ScaffoldUnknown
from callboard.packs.writers_factory.scenes.scaffolds import (
    ESSENTIAL_FIELDS,
    BeatNote,
    Person,
    SceneThread,
    SmartScaffold,
    StoryView,
    TiedThread,
    breaches,
    derive,
    read_enrichment,
    scaffold_faults,
)

pytestmark = pytest.mark.anyio

BEATS = (
    BeatNote(8, "Fun and Games", "Ines plays.", "", 20, 50),
    BeatNote(9, "Midpoint", "Ines wins the vote.", "false_victory", 50, 50),
    BeatNote(10, "Bad Guys Close In", "Danny turns.", "", 50, 75),
)
VIEW = StoryView(
    4,
    2,
    "The Vote",
    summary="Ines faces Danny.",
    planned_beat=9,
    protagonist="Ines",
    flaw="She decides for others",
    lie="Nobody can be trusted",
    people=(
        Person("character:ines", "Ines", ("Vale",)),
        Person("character:danny", "Danny"),
        Person("character:marek", "Marek", is_alive=False),
    ),
    beats=BEATS,
    owed=tuple(
        TiedThread(SceneThread(f"object:{n}", f"thing {n}", f"ch1-sc{n}"), ("character:ines",))
        for n in range(1, 9)
    ),
    coming=tuple(
        TiedThread(SceneThread(f"event:{n}", f"event {n}", "", 9 + n), ("character:danny",))
        for n in range(6)
    ),
    rules=("No ship may leave at night",),
)


@pytest.mark.req("WF-G68")
def test_what_code_derives_is_complete_and_within_its_limits() -> None:
    scaffold = derive(VIEW)
    assert scaffold.beat_alignment == "Midpoint – false victory"
    assert [each.name for each in scaffold.callbacks] == [f"thing {n}" for n in range(1, 6)]
    assert [each.beat_number for each in scaffold.foreshadowing] == [10, 11, 12]
    assert scaffold.characters_present == ("Ines", "Danny")
    assert scaffold.pov_character == "Ines"
    assert scaffold.protagonist_constraint
    assert scaffold.scene_goal
    assert scaffold.world_rules == VIEW.rules
    assert scaffold_faults(scaffold, VIEW) == ()


@pytest.mark.req("WF-G68")
@pytest.mark.parametrize(
    ("beat", "gap", "is_due"),
    [(9, 0, True), (8, 5, False), (8, 6, True), (8, None, False), (10, 0, False)],
)
def test_the_flaw_is_challenged_when_it_is_due(beat: int, gap: int | None, is_due: bool) -> None:
    assert derive(replace(VIEW, planned_beat=beat, flaw_gap=gap)).flaw_challenge is is_due
    assert derive(replace(VIEW, planned_beat=beat, flaw_gap=gap, flaw="")).flaw_challenge is False


@pytest.mark.req("WF-G68")
@pytest.mark.parametrize(("at", "number"), [(30.0, 8), (50.0, 9), (60.0, 10), (99.0, 10)])
def test_without_a_plan_the_place_in_the_book_says_the_beat(at: float, number: int) -> None:
    assert derive(replace(VIEW, planned_beat=None, position_pct=at)).beat_number == number


@pytest.mark.req("WF-G69")
def test_every_fault_of_a_scaffold_is_named() -> None:
    good = derive(VIEW)
    bad = replace(
        good,
        characters_present=("Marek", "Nobody Known"),
        pov_character="Danny",
        beat_number=14,
        callbacks=(SceneThread("object:1", "late thing", "ch5-sc1"),),
        foreshadowing=(SceneThread("event:1", "old event", "", 3),),
        scene_goal="Ines draws the gun.",
    )
    view = replace(VIEW, corrections=("The gun was lost in chapter 3",))
    told = " ".join(f"{name}: {fault}" for name, fault in scaffold_faults(bad, view))
    for wanted in (
        "Marek is dead",
        "Nobody Known is not in the story",
        "Danny is not present",
        "no beat 14",
        "late thing is planted in ch5-sc1",
        "old event is not later",
        "'Ines draws the gun' goes against: The gun was lost in chapter 3",
    ):
        assert wanted in told, wanted


@pytest.mark.req("WF-G69")
def test_marked_people_need_not_be_known() -> None:
    scaffold = replace(
        derive(VIEW), characters_present=("Vale", "New: the envoy", "Background: gulls")
    )
    assert scaffold_faults(replace(scaffold, pov_character="Ines"), VIEW) == ()


@pytest.mark.parametrize(
    ("text", "chapter", "is_breach"),
    [
        ("She reaches for the gun.", 4, True),
        ("She reaches for the gun.", 2, False),
        ("The gun is still missing.", 4, False),
        ("Her blue eyes narrow.", 4, True),
        ("Her green eyes narrow.", 4, False),
    ],
)
def test_corrections_are_kept(text: str, chapter: int, is_breach: bool) -> None:
    corrections = ["The gun was lost in chapter 3", "Her eyes are green, not blue"]
    assert bool(breaches(text, corrections, chapter)) is is_breach


@pytest.mark.req("WF-G69", "WF-96")
def test_an_unknown_source_is_a_warning() -> None:
    sources, warnings = read_enrichment(["beat_sheet", "horoscope", "notebook:tides"])
    assert sources == ("beat_sheet", "notebook:tides")
    assert "horoscope" in warnings[0]
    assert read_enrichment([])[0] == (
        "beat_sheet",
        "character_arcs",
        "world_rules",
        "prior_scenes",
        "future_scenes",
    )
    bare = derive(VIEW, ("beat_sheet",))
    assert (bare.callbacks, bare.foreshadowing, bare.world_rules) == ((), (), ())


@pytest.mark.req("WF-G70")
def test_the_essential_fields_are_those_a_middling_model_needs() -> None:
    lines = derive(VIEW).lines(essential=True)
    named = {line.partition(":")[0].replace(" ", "_") for line in lines}
    assert named <= set(ESSENTIAL_FIELDS)
    assert {"scaffold_id", "beat_alignment", "callbacks", "word_target"} <= named
    assert len(derive(VIEW).lines()) > len(lines)


@pytest.mark.req("WF-G69")
async def test_a_model_that_errs_may_put_it_right_once(story: Any) -> None:
    def answer(request: ModelRequest) -> Line:
        is_repair = "Put this right" in request.prompt_text
        cast = ["Ines", "Danny"] if is_repair else ["Ines", "Marek"]
        return Line(json={**FILLED, "characters_present": cast}, times=None)

    async with story(staff(scene_scaffold=answer)) as stage:
        made = await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        assert len(stage.asked("scene_scaffold")) == 2
        assert "Marek is dead" in stage.asked("scene_scaffold")[1].prompt_text
    assert made["characters_present"] == ["Ines", "Danny"]
    assert made["warnings"] == []


@pytest.mark.req("WF-G69")
async def test_a_model_that_errs_twice_is_replaced_by_the_plan_with_a_warning(story: Any) -> None:
    wrong = Line(
        json={**FILLED, "characters_present": ["Marek"], "pov_character": "Marek"}, times=None
    )
    async with story(staff(scene_scaffold=lambda _request: wrong)) as stage:
        made = await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        assert len(stage.asked("scene_scaffold")) == 2
    assert "Marek" not in made["characters_present"]
    assert made["pov_character"] == "Ines"
    assert any("Marek is dead" in each for each in made["warnings"])
    assert made["location"] == "Harbour office"


async def test_a_model_without_an_answer_leaves_the_plan(story: Any) -> None:
    async with story(staff(scene_scaffold="I would rather not.")) as stage:
        made = await stage.result("scaffold", chapter=4, scene=2, title="", enrichment=["nonsense"])
        approved = await stage.scenes.approve_scaffold("ch4-sc2")
    assert made["title"] == "Scene 4-2"
    assert len(made["warnings"]) == 2
    assert approved.scene_goal


@pytest.mark.req("WF-95")
async def test_the_writer_may_change_what_is_approved(story: Any) -> None:
    async with story() as stage:
        with pytest.raises(ScaffoldUnknown, match="ch1-sc1"):
            await stage.scenes.approve_scaffold("ch1-sc1")
        await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        with pytest.raises(ScaffoldInvalid, match="sources"):
            await stage.scenes.approve_scaffold("ch4-sc2", {"sources": ["x"]})
        changed = await stage.scenes.approve_scaffold(
            "ch4-sc2", {"location": "Pier", "word_target": 250}
        )
        assert (changed.location, changed.word_target, changed.version) == ("Pier", 250, 2)
        assert stage.book.scene("ch4-sc2").status is SceneStatus.SCAFFOLDED


async def test_a_scene_outside_the_outline_can_be_briefed(story: Any) -> None:
    async with story() as stage:
        made = await stage.result("scaffold", chapter=4, scene=3, title="Aftermath")
        await stage.scenes.approve_scaffold("ch4-sc3")
        assert stage.book.scene("ch4-sc3").title == "Aftermath"
    assert 1 <= made["beat_number"] <= 15


async def test_remembered_continuity_is_owed_until_it_is_paid(story: Any) -> None:
    async with story() as stage:
        await stage.memory.save_decision(
            "continuity", "danny_oath", "Danny swore an oath in ch2-sc1", "writer_stated"
        )
        await stage.memory.save_decision(
            "continuity", "danny_later", "Danny leaves in ch6-sc1", "writer_stated"
        )
        made = await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
    names = [each["name"] for each in made["callbacks"]]
    assert names == ["ledger page", "brass key", "Danny swore an oath in ch2-sc1"]


texts = st.text(max_size=40)


@given(texts, texts, st.lists(texts, max_size=4), st.lists(texts, max_size=3))
def test_any_scaffold_can_be_stored_and_judged(
    goal: str, pov: str, people: list[str], corrections: list[str]
) -> None:
    scaffold = replace(
        derive(VIEW), scene_goal=goal, pov_character=pov, characters_present=tuple(people)
    )
    assert SmartScaffold.from_json(scaffold.to_json()) == scaffold
    view = replace(VIEW, corrections=tuple(corrections))
    assert StoryView.from_json(view.to_json()) == view
    scaffold_faults(scaffold, view)


@pytest.mark.req("WF-G69")
async def test_a_notebook_may_be_a_source(story: Any) -> None:
    async with story() as stage:
        folder = stage.root / "notes"
        folder.mkdir()
        (folder / "vote.md").write_text("The vote of the council is held by lamp light.")
        await Notebooks(stage.workspace).register("tides", "Tides", "world_building", "notes")
        made = await stage.result(
            "scaffold",
            chapter=4,
            scene=2,
            title="The vote of the council",
            enrichment=["beat_sheet", "notebook:tides", "notebook:gone"],
        )
        (asked,) = stage.asked("scene_scaffold")
    assert "held by lamp light" in asked.prompt_text
    assert any("gone" in each for each in made["warnings"])
    assert made["sources"] == ["beat_sheet", "notebook:tides", "notebook:gone"]


@pytest.mark.req("WF-95")
async def test_an_approved_scaffold_that_is_replaced_can_be_brought_back(story: Any) -> None:
    async with story() as stage:
        approved = await stage.brief(weather="fog", scene_goal="She wants the vote at any price.")
        await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        made = stage.scenes.scaffold("ch4-sc2")
        assert (made.weather, made.is_approved) == ("rain", False)
        versions = stage.scenes.scaffold_versions("ch4-sc2")
        assert [each.version for each in versions] == [1, 2, 3]
        assert versions[1] == approved and versions[2] == made
        assert stage.scenes.require_scaffold("ch4-sc2", version=2) == approved
        back = await stage.scenes.approve_scaffold("ch4-sc2", version=2)
        assert back == replace(approved, version=4)
        assert stage.scenes.active_scaffold() == back
        with pytest.raises(ScaffoldUnknown, match="no version 9"):
            await stage.scenes.approve_scaffold("ch4-sc2", version=9)
