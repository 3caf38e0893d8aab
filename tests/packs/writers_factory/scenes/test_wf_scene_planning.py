"""Planning scenes: whoever proposes, every beat has its scene and every number is right."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_stage import BEATS, staff

from callboard.core.errors import Conflict
from callboard.core.vocabulary import RunState
from callboard.models import Line
from callboard.packs.writers_factory.manuscript import outline_faults, uncovered_beats
from callboard.packs.writers_factory.model import PlannedScene
from callboard.packs.writers_factory.scenes.planning import (
    PlannedSize,
    complete,
    outline_from_beats,
)
from callboard.packs.writers_factory.scenes.proposal import ProposedScene

pytestmark = pytest.mark.anyio


@pytest.mark.req("WF-G11")
@given(
    st.integers(100, 200_000),
    st.integers(50, 5_000),
    st.dictionaries(st.integers(1, 15), st.text()),
)
def test_code_alone_makes_an_outline_that_holds(
    total: int, scene: int, contents: dict[int, str]
) -> None:
    size = PlannedSize(total, scene)
    outline = outline_from_beats(contents, size)
    assert outline_faults(outline) == ()
    assert uncovered_beats(outline) == ()
    assert len(outline) == size.scene_count
    assert [each.beat_number for each in outline] == sorted(e.beat_number or 0 for e in outline)


rows = st.builds(
    ProposedScene,
    title=st.text(),
    beat_number=st.integers() | st.integers(1, 15),
    summary=st.text(),
    word_target=st.integers(),
)


@pytest.mark.req("WF-G11")
@given(st.lists(rows, max_size=30))
def test_any_proposal_becomes_an_outline_that_holds(proposed: list[ProposedScene]) -> None:
    outline, _notes = complete(proposed, BEATS, PlannedSize(80_000, 1500))
    assert outline_faults(outline) == ()
    assert uncovered_beats(outline) == ()


@pytest.mark.req("WF-G11")
async def test_the_foreman_proposes_and_the_writer_approves(story: Any) -> None:
    proposed = {
        "scenes": [
            {"title": f"Turn {n}", "beat_number": n, "summary": f"Ines turns {n}."}
            for n in (2, 1, 9, 9)
        ]
    }
    answer = Line(json=proposed, times=None)
    async with story(staff(plan_scenes=lambda _request: answer)) as stage:
        before = stage.book.outline()
        result = await stage.result("plan_scenes")
        assert stage.book.outline() == before
        scenes, notes = stage.scenes.outline_proposal()
        assert [each["title"] for each in result["scenes"]][:3] == [
            "Turn 1",
            "Turn 2",
            scenes[2].title,
        ]
        assert len(scenes) == 16
        assert any("beat 3" in note for note in notes)
        (asked,) = stage.asked("plan_scenes")
        assert BEATS[9] in asked.prompt_text
        approved = await stage.scenes.approve_outline()
        assert stage.book.outline() == approved == scenes
        own = (PlannedScene(1, 1, "Only", 1),)
        await stage.scenes.approve_outline(own)
        assert stage.book.outline() == own


async def test_a_model_that_proposes_nothing_leaves_the_plan_to_code(story: Any) -> None:
    async with story(staff(plan_scenes="no")) as stage:
        result = await stage.result("plan_scenes")
    assert len(result["scenes"]) == 15
    assert "beat sheet" in result["notes"][0]
    assert "was not chosen" in result["notes"][1]


async def test_length_and_shape_are_the_writers_and_nothing_is_said_twice(story: Any) -> None:
    async with story(staff(plan_scenes="no")) as stage:
        result = await stage.result("plan_scenes", scenes=24, words=36_000, chapters=8)
        scenes = stage.scenes.outline_proposal()[0]
        assert len(scenes) == 24 and {each.word_target for each in scenes} == {1500}
        assert len(result["notes"]) == 1
        # Eight chapters of three, and what a beat says stands in one scene only.
        assert [sum(s.chapter == n for s in scenes) for n in range(1, 9)] == [3] * 8
        told = [each.summary for each in scenes if each.summary]
        assert len(told) == len(set(told)) == 15
        opened = [each for each in scenes if not each.summary]
        assert len(opened) == 9 and all("open" in each.title for each in opened)
        run = await stage.run("plan_scenes", scenes=8)
        assert run.error is not None and run.error.code == "invalid_input"


async def test_a_scene_the_outline_does_not_have_is_not_briefed(story: Any) -> None:
    async with story(staff()) as stage:
        await stage.scenes.approve_outline((PlannedScene(1, 1, "Only", 1),))
        run = await stage.run("scaffold", chapter=9, scene=9)
        assert run.error is not None and run.error.code == "scene_not_planned"
        assert "ch1-sc1" in run.error.message
        assert not stage.book.has("ch9-sc9")


async def test_a_phantom_of_an_older_book_can_be_dropped(story: Any) -> None:
    async with story(staff()) as stage:
        await stage.book.open_scene("ch9-sc9", "Nowhere")
        await stage.scenes.drop("ch9-sc9")
        assert not stage.book.has("ch9-sc9")
        with pytest.raises(Conflict, match="in the outline"):
            await stage.scenes.drop(stage.book.outline()[0].id)


@given(st.integers(15, 120), st.integers(1, 60))
def test_chapters_are_even_and_numbered_from_one(scenes: int, chapters: int) -> None:
    outline = outline_from_beats({}, PlannedSize(None, 1500, scenes, chapters))
    assert outline_faults(outline) == ()
    counts = [sum(s.chapter == n for s in outline) for n in range(1, outline[-1].chapter + 1)]
    assert len(counts) == min(chapters, scenes) and max(counts) - min(counts) <= 1


async def test_without_beats_there_is_nothing_to_plan(project: Any) -> None:
    from scene_stage import open_stage

    async with open_stage(project) as stage:
        run = await stage.run("plan_scenes")
        assert run.state is RunState.FAILED
        assert run.error is not None
        assert run.error.code == "no_beats"
