"""Scene variants: what the prompt holds, what is checked, what is written again, what survives."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_stage import BUNDLE, callback_text, staff, strategy_in, update, words

from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line, ModelRequest
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.modes.gates import GateOverride, Overrides
from callboard.packs.writers_factory.scenes.variants import shared_runs
from callboard.packs.writers_factory.scenes.variants.inspection import (
    clean_prose,
    last_words,
    numbered_lines,
    prose_of,
    replaced,
)

pytestmark = pytest.mark.anyio


@pytest.mark.req("WF-G72", "WF-97", "WF-92")
async def test_the_scene_prompt_holds_all_a_scene_is_written_from(story: Any) -> None:
    async with story() as stage:
        await stage.memory.save_decision("correction", "gun", "The gun was lost in chapter 3", "")
        await stage.memory.save_decision("preference", "spelling", "British spelling", "")
        before = words(400, 7000)
        known = stage.book.scene("ch4-sc1")
        drafted = replace(known, status=SceneStatus.DRAFTED)
        await stage.book.save("ch4-sc1", before, drafted, reason="accepted")
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2")
        prompts = [each.prompt_text for each in stage.asked("scene_variant")]
    text = prompts[0]
    for wanted in (
        "Close third, past tense, short sentences.",
        "Ines wound the clock.",
        "with … precision",
        "state: tight",
        "Midpoint – false victory",
        "brass key",
        "The gun was lost in chapter 3",
        "British spelling",
        "character Danny",
        "Length: 100 words",
        '<content_update target="ch4-sc2">',
        # What no prose may hold, in whatever words.
        'some quality of "precision"',
        '"stirs within"',
        'no three paragraphs in a row open with "I"',
        "there are no comparisons",
        "What a line of dialogue means is left to the reader",
    ):
        assert wanted in text, wanted
    gold = text.split("# Gold")[1].split("</data>")[0]
    assert len(gold) <= 2000
    tail = " ".join(before.split()[-300:])
    assert tail in text
    assert " ".join(before.split()[-301:]) not in text


@pytest.mark.req("WF-G71")
async def test_the_winner_writes_unless_another_model_is_named(story: Any) -> None:
    async with story() as stage:
        voice = stage.root / BUNDLE / "voice.json"
        told = {**json.loads(voice.read_text()), "winning_agent": "script:winner"}
        voice.write_text(json.dumps(told))
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2")
        asked = stage.asked("scene_variant")
        assert [strategy_in(each) for each in asked] == ["ACTION", "CHARACTER", "BALANCED"]
        assert {each.model for each in asked} == {"script:winner"}
        await stage.result(
            "write_scene", scaffold_id="ch4-sc2", strategies=["balanced"], model="script:mine"
        )
        assert stage.asked("scene_variant")[-1].model == "script:mine"


@pytest.mark.req("WF-G63")
async def test_prompts_of_two_strategies_differ_in_the_strategy_alone(story: Any) -> None:
    async with story() as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["action", "dialogue"])
        one, two = (each.prompt_text.splitlines() for each in stage.asked("scene_variant"))
    start = next(at for at, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1])
    assert one[start].startswith("Approach:")
    assert one[:start] == two[:start]
    end = one.index("Length: 100 words, give or take a tenth.")
    assert one[end:] == two[two.index(one[end]) :]


@pytest.mark.req("WF-G72")
async def test_anything_but_the_scene_is_stripped(story: Any) -> None:
    said = (
        f"<thinking>hm</thinking>Here you go!\n{update(callback_text(5))}\n"
        '<action type="save_decision"><key>x</key></action>Enjoy.'
    )
    async with story(staff(scene_variant=said)) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
    assert variant.text == callback_text(5)


@pytest.mark.req("WF-G73")
@pytest.mark.parametrize(("first", "wanted"), [(40, "too short"), (190, "too long")])
async def test_a_draft_far_off_its_length_is_sent_back_once(
    story: Any, first: int, wanted: str
) -> None:
    better = callback_text(50)
    async with story(
        staff(scene_variant=update(words(first)), scene_variant_length=update(better))
    ) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
        (asked,) = stage.asked("scene_variant_length")
    assert variant.text == better
    assert wanted in asked.prompt_text
    assert "length" not in {flag.code for flag in variant.flags}


@pytest.mark.req("WF-G73")
async def test_what_stays_wrong_is_flagged_and_still_shown(story: Any) -> None:
    short = "I walk to the harbour and I wait. " * 9
    async with story(
        staff(scene_variant=update(short), scene_variant_length=update(short[:80]))
    ) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
        assert len(stage.asked("scene_variant_length")) == 1
    codes = {flag.code for flag in variant.flags}
    assert variant.text == short.strip()
    assert {"length", "pov", "tense", "callback_missing"} <= codes


@pytest.mark.req("WF-G73")
async def test_forbidden_phrases_are_said_anew_sentence_by_sentence(story: Any) -> None:
    bad = callback_text(3).replace("\n\n", " She cut the rope with surgical precision.\n\n", 1)
    async with story(
        staff(
            scene_variant=update(bad),
            scene_variant_sentences="1. She cut the rope at the knot.",
        )
    ) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
        (asked,) = stage.asked("scene_variant_sentences")
    cut = "She cut the rope with surgical precision."
    assert variant.text == bad.replace(cut, "She cut the rope at the knot.")
    assert f"1. {cut}" in asked.prompt_text
    assert "zero_tolerance" not in {flag.code for flag in variant.flags}


@pytest.mark.req("WF-G73")
async def test_a_rewrite_that_is_no_better_is_not_taken(story: Any) -> None:
    bad = callback_text(3).replace("\n\n", " She cut it with surgical precision.\n\n", 1)
    async with story(
        staff(scene_variant=update(bad), scene_variant_sentences="1. She cut with great precision.")
    ) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
        assert len(stage.asked("scene_variant_sentences")) == 1
    assert variant.text == bad
    flags = [flag for flag in variant.flags if flag.code == "zero_tolerance"]
    assert flags[0].quote == "with surgical precision"


@pytest.mark.req("WF-G73")
async def test_of_two_drafts_that_read_alike_one_is_written_again(story: Any) -> None:
    def answer(request: ModelRequest) -> str:
        is_again = "reads too much like" in request.prompt_text
        return update(callback_text(40_000 if is_again else 5))

    async with story(staff(scene_variant=answer)) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["action", "balanced"])
        one, two = stage.scenes.variants("ch4-sc2")
        assert len(stage.asked("scene_variant")) == 3
    assert one.text == callback_text(5)
    assert two.text == callback_text(40_000)
    assert shared_runs(one.text, two.text) <= 0.6


async def test_a_variant_that_fails_leaves_the_others(story: Any) -> None:
    def answer(request: ModelRequest) -> Any:
        if strategy_in(request) == "ACTION":
            return Line(fail=Failure(400, "no such luck"))
        return update(callback_text(1000 * len(strategy_in(request))))

    async with story(staff(scene_variant=answer)) as stage:
        await stage.brief()
        await stage.result("write_scene", scaffold_id="ch4-sc2")
        failed, *usable = stage.scenes.variants("ch4-sc2")
        assert stage.book.scene("ch4-sc2").status is SceneStatus.VARIANTS_READY
    assert (failed.strategy, failed.text) == ("ACTION_EMPHASIS", "")
    assert failed.error
    assert all(each.is_usable for each in usable)


@pytest.mark.req("WF-G71")
async def test_an_unknown_or_unapproved_scaffold_is_refused(story: Any) -> None:
    async with story() as stage:
        unknown = await stage.run("write_scene", scaffold_id="ch9-sc9")
        assert unknown.state is RunState.FAILED
        assert unknown.error.code == "scaffold_unknown"
        await stage.result("scaffold", chapter=4, scene=2, title="The Vote")
        waiting = await stage.run("write_scene", scaffold_id="ch4-sc2")
        assert waiting.error.code == "scaffold_not_approved"
        strange = await stage.run("write_scene", scaffold_id="ch4-sc2", strategies=["poetry"])
        assert "BALANCED" in (strange.error.fix or "")
        assert stage.asked("scene_variant") == []


@pytest.mark.req("WF-G71")
async def test_without_a_locked_voice_only_an_override_opens_the_way(story: Any) -> None:
    async with story(locked=False) as stage:
        await stage.brief()
        refused = await stage.run("write_scene", scaffold_id="ch4-sc2")
        assert refused.error.code == "voice_unlocked"
        override = GateOverride(
            "override-1",
            "VOICE_CALIBRATION",
            "DIRECTOR",
            ("the writer has not confirmed the voice",),
            "the voice may drift",
            1,
            (("DIRECTOR", "voice_lock"),),
        )
        overrides = Overrides(stage.workspace)
        await stage.studio.database.write(lambda c: overrides.store(c, override))
        await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        (variant,) = stage.scenes.variants("ch4-sc2")
    assert variant.is_voice_locked is False
    assert "unlocked_voice" in {flag.code for flag in variant.flags}


async def test_a_run_that_goes_on_pays_for_no_draft_twice(story: Any) -> None:
    """A run forked at its last step asks no model: every call is in the journal."""
    async with story() as stage:
        await stage.brief()
        first = await stage.run("write_scene", scaffold_id="ch4-sc2")
        calls = len(stage.script.calls)
        again = await stage.studio.engine.fork(first.id, from_step="kept")
        done = await stage.studio.engine.wait(again.id)
        assert done.state is RunState.DONE
        assert len(stage.script.calls) == calls


async def test_a_second_round_keeps_the_first(story: Any) -> None:
    async with story() as stage:
        await stage.brief()
        for _ in range(2):
            await stage.result("write_scene", scaffold_id="ch4-sc2", strategies=["balanced"])
        ids = [each.id for each in stage.scenes.variants("ch4-sc2")]
    assert ids == ["ch4-sc2:BALANCED:1", "ch4-sc2:BALANCED:2"]


@given(st.text())
def test_no_reply_is_too_broken_to_take_prose_from(raw: str) -> None:
    for text in (raw, update(raw), f"<message>{raw}</message>", f'{{"message": "{raw}"}}'):
        prose = prose_of(text)
        assert "<content_update" not in prose.lower()
        assert clean_prose(prose) == prose or "<" in raw


def test_single_sentences_are_replaced_where_they_stand() -> None:
    lines = numbered_lines("1. One.\n3) Three.\n9. Nine.\nnoise", 3)
    assert lines == {1: "One.", 3: "Three."}
    assert replaced("A. B. C.", ["A.", "B.", "C."], lines) == "One. B. Three."


@given(st.lists(st.text("ab", min_size=1), max_size=30), st.integers(1, 10))
def test_the_last_words_are_the_last_words(parts: list[str], count: int) -> None:
    assert last_words(" ".join(parts), count).split() == parts[-count:]


@given(st.text("abc ", max_size=200), st.text("abc ", max_size=200))
def test_likeness_is_symmetric_and_whole_for_the_same(one: str, two: str) -> None:
    assert shared_runs(one, two) == shared_runs(two, one)
    assert 0 <= shared_runs(one, two) <= 1
    if len(one.split()) >= 5:
        assert shared_runs(one, one) == 1
