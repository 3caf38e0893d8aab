"""Enhancement: fixes and passes that prove themselves, and changes the writer takes or refuses."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from revision_book import GOLD, SCENE, judge_by, lay_voice, open_book, verdict

from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.model import SceneStatus
from callboard.packs.writers_factory.prose import base_sheet, track_changes
from callboard.packs.writers_factory.revision import Category, ChangedSince
from callboard.packs.writers_factory.revision.analysis.brief import SceneBrief
from callboard.packs.writers_factory.revision.analysis.findings import Verdict
from callboard.packs.writers_factory.revision.analysis.scoring import score_scene
from callboard.packs.writers_factory.revision.enhancement.fixes import (
    Replacement,
    Replacements,
    changes_of,
    check_fixes,
)
from callboard.packs.writers_factory.revision.enhancement.proposal import (
    PASSES,
    ChangeUnknown,
    ScoredText,
    accepted_text,
    decide,
    objection,
    preview_text,
)
from callboard.packs.writers_factory.revision.enhancement.quick import alternatives_for
from callboard.packs.writers_factory.settings import bundled_settings

pytestmark = pytest.mark.anyio
SETTINGS = bundled_settings().analysis
JUDGE = "revision/judge_scene"
PHRASE = "He cut the tape with surgical precision."
FIXED = "He cut the tape along the seam."
SIMILE = "Danny swung the chair like a drunk carpenter."


def fix(issue: int, old: str, new: str) -> dict[str, Any]:
    return {"issue": issue, "old_text": old, "new_text": new, "reason": "It reads better."}


def is_pass(request: ModelRequest) -> bool:
    return str(request.prompt_type).startswith("revision/pass_")


def scene_in(prompt: str) -> str:
    """Return the scene a pass was shown."""
    found = re.search(r'<data origin="story:scene"[^>]*>\n(.*?)\n</data>', prompt, re.DOTALL)
    assert found is not None
    return found[1]


# Fixes


def a_fix(issue: int, old_text: str, new_text: str) -> Replacement:
    return Replacement(issue=issue, old_text=old_text, new_text=new_text, reason="")


@pytest.mark.req("WF-G79")
def test_a_fix_is_made_only_where_its_words_stand_once() -> None:
    text = "He ran. He ran. She stayed behind the door."
    wanted = [
        a_fix(1, "He ran.", "He fled."),
        a_fix(2, "behind the door", "behind the bar"),
        a_fix(3, "nowhere in it", "x"),
        a_fix(4, "the door", "the gate"),
        a_fix(5, "stayed", "stayed"),
    ]
    fixes = check_fixes(text, wanted, [])
    assert [each.unapplied for each in fixes] == [
        "the old text occurs 2 times",
        "",
        "the old text occurs 0 times",
        "another fix changes the same words",
        "it changes nothing",
    ]
    assert preview_text(text, changes_of(text, fixes)) == (
        "He ran. He ran. She stayed behind the bar."
    )


@pytest.mark.req("WF-G79")
@given(
    text=st.text("ab .", min_size=1, max_size=40),
    wanted=st.lists(
        st.builds(a_fix, st.just(1), st.text("ab .", min_size=1, max_size=4), st.text("abx")),
        max_size=6,
    ),
)
def test_fixes_never_overlap_and_refusing_all_restores_the_text(
    text: str, wanted: list[Replacement]
) -> None:
    fixes = check_fixes(text, wanted, [])
    changes = changes_of(text, fixes)
    refused = decide(changes, (), [each.id for each in changes])
    assert accepted_text(text, refused) == text
    spans = sorted((each.start, each.end) for each in changes)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(st.lists(st.tuples(st.integers(), st.text(), st.text()), max_size=30))
def test_no_answer_of_a_writer_breaks_the_reading_of_fixes(
    said: list[tuple[int, str, str]],
) -> None:
    rows = [{"issue": n, "old_text": a, "new_text": b, "reason": b} for n, a, b in said]
    found = Replacements.model_validate({"fixes": rows}).fixes
    fixes = check_fixes(BASE, found, [])
    assert len(fixes) <= 20
    assert all(each.old_text for each in fixes)


# Passes


def draft(text: str, score: int = 8, **changes: Any) -> ScoredText:
    brief = SceneBrief("ch1-sc1", base_sheet(), pov="third")
    said = Verdict.model_validate(verdict(score, "Mickey waited", **changes))
    return ScoredText(text, score_scene(text, brief, said, SETTINGS))


BASE = "Mickey waited by the door until the rain stopped. Then he went home and slept."


@pytest.mark.req("WF-G80")
@pytest.mark.parametrize(
    ("text", "changes", "told"),
    [
        (BASE.replace("slept", "sat"), {}, ""),
        (BASE.replace("slept", "sat"), {"voice_authenticity": 7}, "voice_authenticity fell"),
        (BASE.replace("slept", "sat"), {"beat_compliance": 6}, "the total fell by"),
        (BASE + " He did." * 10, {}, "the length went from 15 to 35"),
        ("Mickey waited.", {}, "the length went"),
    ],
)
def test_a_pass_is_kept_only_if_it_does_no_harm(
    text: str, changes: dict[str, Any], told: str
) -> None:
    why = objection(PASSES[1], draft(BASE), draft(text, **changes), SETTINGS)
    assert bool(why) is bool(told)
    assert told in why


@pytest.mark.req("WF-G80")
def test_a_pass_that_brings_in_zero_tolerance_is_reverted_whatever_it_scores() -> None:
    bad = BASE.replace("and slept", "with grim precision")
    lenient = SETTINGS.model_copy(update={"pass_total_drop": 100})
    why = objection(PASSES[1], draft(BASE), draft(bad), lenient)
    assert why == "it brought in with … precision"


def test_a_pass_that_was_not_judged_is_not_compared_with_what_was() -> None:
    before, after = draft(BASE), draft(BASE.replace("slept", "sat"))
    judged = replace(before, analysis=replace(before.analysis, judged_by="script"))
    assert "has not answered" in objection(PASSES[1], judged, after, SETTINGS)
    assert objection(PASSES[1], before, after, SETTINGS) == ""


@pytest.mark.req("WF-G80")
def test_the_six_passes_come_in_their_order() -> None:
    assert [each.name for each in PASSES] == [
        "structure",
        "voice",
        "prose",
        "character",
        "continuity",
        "polish",
    ]


@pytest.mark.req("WF-102", "WF-G80", "WF-G81")
async def test_six_pass_reverts_the_pass_that_lowers_the_voice_and_keeps_the_others(
    tmp_path: Path,
) -> None:
    def judge(prompt: str) -> dict[str, Any]:
        return verdict(7, voice_authenticity=3 if "O Muse" in prompt else 7)

    def write(request: ModelRequest) -> Line | None:
        if not is_pass(request):
            return None
        scene = scene_in(request.prompt_text)
        if request.prompt_type == "revision/pass_voice":
            return Line(text=scene.replace("Glass broke.", "O Muse, the glass."))
        if request.prompt_type == "revision/pass_prose":
            return Line(text=scene.replace(PHRASE, FIXED))
        if request.prompt_type == "revision/pass_polish":
            return Line(text=scene.replace("A man fell.", "A man went down."))
        return Line(text=scene)

    script = Script(judge_by(judge), write)
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("enhance", scene_id="ch1-sc1", mode="six_pass")
        notes = {note["name"]: note for note in found["passes"]}
        assert list(notes) == [each.name for each in PASSES]
        assert "voice_authenticity fell" in notes["voice"]["reverted"]
        assert notes["structure"]["reverted"] == "nothing was changed"
        assert notes["prose"]["is_kept"] and notes["polish"]["is_kept"]
        assert [(c["pass"], c["old"], c["status"]) for c in found["changes"]] == [
            ("prose", PHRASE, "proposed"),
            ("polish", "A man fell.", "proposed"),
        ]
        assert book.text() == SCENE
        passes = [call for call in script.calls if is_pass(call.request)]
        judged = [call for call in script.calls if call.request.prompt_type == JUDGE]
        assert len(passes) == 6 and len(judged) <= 7
        for call in passes:
            # Each sees the scene as it stands, what may not occur, and only its own issues.
            assert scene_in(call.prompt) and "with … precision" in call.prompt
            is_of_prose = call.request.prompt_type == "revision/pass_prose"
            assert ("quote: with surgical precision" in call.prompt) is is_of_prose
        assert found["after"]["total"] > found["before"]["total"]

        one, two = (each["id"] for each in found["changes"])
        decided = await book.revision.decide(found["id"], accept=[one, two])
        assert FIXED in book.text() and "A man went down." in book.text()
        await book.revision.decide(found["id"], reject=[two])
        assert book.text() == SCENE.replace(PHRASE, FIXED)
        await book.revision.decide(found["id"], reject=[one])
        assert book.text() == SCENE
        assert decided.original == SCENE
        archived = [p.read_text() for p in (book.root / "content/Archive/ch1-sc1").glob("*.md")]
        assert any(SCENE.strip() in text for text in archived)


@pytest.mark.req("WF-G80")
async def test_six_pass_stops_early_when_the_scene_is_good_enough(tmp_path: Path) -> None:
    script = Script(Line(json=verdict(10, "Mickey counted the bottles"), prompt_type=JUDGE))
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", f"{GOLD}\n")
        found = await book.run("enhance", scene_id="ch1-sc1", mode="six_pass")
        assert found["passes"] == [] and found["changes"] == []
        assert "Stopped before pass 1" in found["notes"][0]
        assert len(script.calls) == 1


@pytest.mark.req("WF-101", "WF-102", "WF-G79", "WF-G81")
async def test_action_prompt_previews_fixes_and_each_is_decided_alone(tmp_path: Path) -> None:
    fixes = [
        fix(1, PHRASE, FIXED),
        fix(2, SIMILE, "Danny swung the chair."),
        fix(1, "He", "She"),
        fix(9, "never there", "x"),
    ]
    script = Script(
        Line(json=verdict(9), prompt_type=JUDGE, times=None),
        Line(json={"fixes": fixes}, prompt_type="revision/fix_issues"),
    )
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("enhance", scene_id="ch1-sc1")
        assert book.text() == SCENE
        assert [bool(each["unapplied"]) for each in found["fixes"]] == [False, False, True, True]
        assert found["preview"] == SCENE.replace(PHRASE, FIXED).replace(
            SIMILE, "Danny swung the chair."
        )
        assert found["after"]["total"] > found["before"]["total"]
        kinds = [str(call.request.prompt_type) for call in script.calls]
        assert kinds.count("revision/fix_issues") == 1 and kinds.count(JUDGE) == 2
        prompt = script.prompts[kinds.index("revision/fix_issues")]
        assert len(found["before"]["issues"]) >= 2
        for issue in found["before"]["issues"]:
            assert f"quote: {issue['quote']}" in prompt and issue["problem"] in prompt
        with pytest.raises(ChangeUnknown):
            await book.revision.decide(found["id"], accept=["fix3"])
        await book.revision.decide(found["id"], accept=["fix1"], reject=["fix2"])
        assert book.text() == SCENE.replace(PHRASE, FIXED)
        statuses = {c.id: c.status for c in book.revision.enhancement(found["id"]).changes}
        assert statuses == {"fix1": "accepted", "fix2": "rejected"}
        assert book.meta().status is SceneStatus.DRAFTED
        assert book.revision.enhancements("ch1-sc1")[0].id == found["id"]


async def test_nothing_is_decided_about_a_scene_somebody_changed_since(tmp_path: Path) -> None:
    script = Script(
        Line(json=verdict(9), prompt_type=JUDGE, times=None),
        Line(json={"fixes": [fix(1, PHRASE, FIXED)]}, prompt_type="revision/fix_issues"),
    )
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("enhance", scene_id="ch1-sc1")
        await book.write("ch1-sc1", "Something else altogether.")
        with pytest.raises(ChangedSince):
            await book.revision.decide(found["id"], accept=["fix1"])
        assert book.text() == "Something else altogether."


@pytest.mark.req("WF-G81")
@given(
    old=st.lists(st.sampled_from(["He ran.", "She sat down.", "\n\n", " ", "Rain fell."])),
    new=st.lists(st.sampled_from(["He ran.", "She sat up.", "\n\n", " ", "Rain fell hard."])),
    data=st.data(),
)
def test_what_is_refused_is_restored_byte_for_byte(
    old: list[str], new: list[str], data: Any
) -> None:
    before, after = "".join(old), "".join(new)
    changes = track_changes(before, after)
    ids = [each.id for each in changes]
    taken = data.draw(st.sets(st.sampled_from(ids)) if ids else st.just(set[str]()))
    first = decide(changes, ids, ())
    assert accepted_text(before, first) == after
    mixed = decide(first, (), [each for each in ids if each not in taken])
    made = accepted_text(before, mixed)
    for change in changes:
        if change.id not in taken:
            assert change.old in made
    assert accepted_text(before, decide(mixed, (), ids)) == before


# Small models


def test_code_offers_only_cuts_that_leave_a_sentence() -> None:
    text = f"{PHRASE} {SIMILE} Something stirred within him. He went home."
    brief = SceneBrief("ch1-sc1", base_sheet(), pov="third")
    issues = score_scene(text, brief, None, SETTINGS).issues
    made = [
        preview_text(text, changes_of(text, check_fixes(text, [option], issues)))
        for each in alternatives_for(text, issues)
        for option in each.options.values()
    ]
    assert text.replace(PHRASE, "He cut the tape.") in made
    assert text.replace("Something stirred within him. ", "") in made
    assert all("  " not in each for each in made)


@pytest.mark.req("WF-G79", "WF-G80")
async def test_a_small_model_chooses_cuts_and_its_passes_are_honest(tmp_path: Path) -> None:
    grades = {each.value: "good" for each in Category} | {"line": "1"}

    def choose(request: ModelRequest) -> Line | None:
        if request.prompt_type != "revision/choose_fixes":
            return None
        names = dict.fromkeys(re.findall(r"issue_\d+", request.prompt_text))
        schema: Any = request.json_schema
        return Line(
            json={name: schema["properties"][name]["enum"][0] for name in names}, times=None
        )

    def script() -> Script:
        return Script(Line(json=grades, prompt_type=f"{JUDGE}_small", times=None), choose)

    flags = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    async with open_book(tmp_path / "book", script(), **flags) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("enhance", scene_id="ch1-sc1")
        assert "with surgical precision" not in found["preview"]
        assert "He cut the tape." in found["preview"]
        deep = await book.run("enhance", scene_id="ch1-sc1", mode="six_pass")
        kept = [note["name"] for note in deep["passes"] if note["is_kept"]]
        assert kept == ["prose"]
        assert all(n["reverted"] for n in deep["passes"] if not n["is_kept"])


async def test_a_small_model_is_asked_only_where_there_is_a_choice(tmp_path: Path) -> None:
    sheet = (
        "| pattern | regex or description | severity | why | instead |\n"
        "| --- | --- | --- | --- | --- |\n"
        '| wet floors | `floor was wet` | zero_tolerance | stale | "tiles shone" |\n'
        "| precision | `with surgical precision` | zero_tolerance | stale | the act |\n"
    )
    grades = {each.value: "good" for each in Category} | {"line": "1"}
    script = Script(
        Line(json=grades, prompt_type=f"{JUDGE}_small", times=None),
        Line(json={"issue_1": "put the other words"}, prompt_type="revision/choose_fixes"),
    )
    flags = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    async with open_book(tmp_path / "book", script, has_voice=False, **flags) as book:
        lay_voice(book.root, sheet)
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        found = await book.run("enhance", scene_id="ch1-sc1")
        asked = [c for c in script.calls if c.request.prompt_type == "revision/choose_fixes"]
        assert len(asked) == 1 and "issue_2" not in asked[0].prompt
        assert found["preview"] == SCENE.replace("floor was wet", "tiles shone").replace(
            " with surgical precision", ""
        )


@pytest.mark.req("WF-G80")
async def test_a_pass_that_says_nothing_or_nonsense_leaves_the_scene_alone(tmp_path: Path) -> None:
    replies = iter(["", "```\n\n```", "No.", "I cannot do that.", "Sure!", "..."])

    def write(request: ModelRequest) -> Line | None:
        return Line(text=next(replies)) if is_pass(request) else None

    script = Script(Line(json=verdict(6), prompt_type=JUDGE, times=None), write)
    async with open_book(tmp_path / "book", script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        run = await book.record("enhance", scene_id="ch1-sc1", mode="six_pass")
        assert run.state == "done", run.error
        assert run.result["preview"] == SCENE
        assert all(not note["is_kept"] for note in run.result["passes"])


async def test_an_interrupted_enhancement_goes_on_without_paying_twice(tmp_path: Path) -> None:
    root = tmp_path / "book"
    script = Script(
        Line(json=verdict(9), prompt_type=JUDGE, times=None),
        Line(json={"fixes": []}, prompt_type="revision/fix_issues", hold="fixing"),
    )
    async with open_book(root, script) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE)
        run = await book.studio.start("writers_factory/enhance", {"scene_id": "ch1-sc1"})
        await script.reached("fixing")
    second = Script(
        Line(json={"fixes": [fix(1, PHRASE, FIXED)]}, prompt_type="revision/fix_issues"),
        Line(json=verdict(9), prompt_type=JUDGE),
    )
    async with open_book(root, second) as book:
        # What the writer does meanwhile does not disturb a run that has begun.
        await book.revision.rooms.memory.save_decision("correction", "x", "Say y, not tape.", "")
        done = await book.studio.engine.wait(run.id)
        assert done.state == "done", done.error
        assert FIXED in done.result["preview"]
        assert len(second.calls) == 2
