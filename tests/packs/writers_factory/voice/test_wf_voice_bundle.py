"""The voice bundle: what is written, what is read back, what stays, who may change it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from voice_stage import STRATEGIES, hold, make_bundle, new_project, opened, passage, staff, voice_of

from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line, ModelRequest, Script
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.prose import scan
from callboard.packs.writers_factory.voice import LockRefused, NoWinner, Pick, VoiceLocked
from callboard.packs.writers_factory.voice.bundle.evolution import state_of
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

FOLDER = Path("content") / "Voice Bundle"
ARC = {
    "arc_start": "Mickey believes that loyalty means silence.",
    "arc_midpoint": "He learns that Danny sold him.",
    "arc_resolution": "He speaks, and loses his brother.",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_project(tmp_path / "novel")


async def won(studio: Studio, notes: str = "Plain and salty.") -> str:
    _, tournament_id = await hold(studio, strategies=STRATEGIES[:2], agents=["script:one"])
    pick = Pick("script:one", "CHARACTER", variant_index=2)
    await voice_of(studio).select_winner(tournament_id, pick, notes=notes)
    return tournament_id


def text(root: Path, name: str) -> str:
    return (root / FOLDER / name).read_text("utf-8")


@pytest.mark.req("WF-20", "WF-91", "WF-G67", "WF-G28")
async def test_the_bundle_is_four_files_and_says_where_it_comes_from(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        await Bible(Workspace(studio)).write("protagonist", ARC, source="writer")
        notes = "Plain and salty. Never write “the sweet science”. Avoid weather reports."
        await won(studio, notes)
        result = await make_bundle(studio)
        status, bundle = voice_of(studio).status(), voice_of(studio).bundle()
    names = sorted(each.name for each in (root / FOLDER).iterdir())
    assert names == [
        "Phase-Evolution-Guide.md",
        "Voice-Anti-Pattern-Sheet.md",
        "Voice-Gold-Standard.md",
        "voice.json",
    ]
    assert result["path"] == status.bundle_path == "content/Voice Bundle"
    assert (status.bundle_ready, status.locked, status.steps_done) == (True, False, 4)
    assert status.tournament_state == "bundled"
    gold = text(root, "Voice-Gold-Standard.md")
    assert passage() in gold
    assert "- model: script:one" in gold
    assert "- strategy: CHARACTER_DEPTH" in gold
    assert "| voice_authenticity | 20 | 25 |" in gold
    assert "Open on weather: “Rain fell on the hall”" in gold
    assert "nowhere in it" not in gold
    assert "| share of dialogue |" in gold
    sheet = text(root, "Voice-Anti-Pattern-Sheet.md")
    assert "with … precision" in sheet
    assert "explaining jokes" in sheet
    assert "| “the sweet science” | `the sweet science` | zero_tolerance |" in sheet
    assert "Avoid weather reports" in sheet
    guide = text(root, "Phase-Evolution-Guide.md")
    assert all(told in guide for told in ARC.values())
    assert [line for line in guide.splitlines() if line.startswith("## ")] == [
        "## Act 1",
        "## Act 2A",
        "## Act 2B",
        "## Act 3",
    ]
    data = json.loads(text(root, "voice.json"))
    assert (data["pov"], data["tense"]) == ("first", "past")
    assert data["metaphor_domains"] == ["salt", "rope"]
    assert data["metrics"]["mean_sentence_words"] > 0
    assert len(data["patterns"]) >= 17
    assert bundle is not None
    assert bundle.problems == ()
    assert len(bundle.summary.split()) <= 60
    for told in ("First person", "past tense", "Sentences of about", "salt", "Avoid:"):
        assert told in bundle.summary
    assert scan("The sweet science, he said.", patterns=bundle.patterns)


@pytest.mark.req("WF-51", "WF-G27", "WF-G34", "WF-92")
async def test_what_later_prompts_take_from_the_bundle(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        await won(studio)
        await make_bundle(studio)
        bundle = voice_of(studio).bundle()
    assert bundle is not None
    assert bundle.gold_excerpt == text(root, "Voice-Gold-Standard.md")[:2000]
    assert "Rain fell on the hall." in bundle.gold_excerpt
    assert bundle.antipattern_excerpt == text(root, "Voice-Anti-Pattern-Sheet.md")[:1500]
    assert "with … precision" in bundle.antipattern_excerpt
    assert 0 < len(bundle.one_line.split()) <= 25
    assert 1 <= len(bundle.zero_tolerance()) <= 5
    assert bundle.voice_state("2A") == "tense_determined"
    assert bundle.voice_state("2a", "a cold dread of the bell") == "tense_determined_cold"
    assert bundle.voice_state("3") == "quiet"


@pytest.mark.req("WF-G27")
@given(st.text(max_size=60), st.text(max_size=60))
def test_a_voice_state_has_at_most_three_words(phase: str, note: str) -> None:
    told = state_of(phase, note)
    assert len(told.split("_")) <= 3
    assert told == told.lower().strip("_")


@pytest.mark.req("WF-G67")
async def test_files_edited_by_hand_are_read_anew_and_nonsense_is_told(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        await won(studio)
        await make_bundle(studio)
        voice = voice_of(studio)
        gold = root / FOLDER / "Voice-Gold-Standard.md"
        gold.write_text("# Mine\n\n## Passage\n\nShe runs. She falls.\n\n## Notes\n\nNone.\n")
        guide = root / FOLDER / "Phase-Evolution-Guide.md"
        guide.write_text("## Act 1\n\n- voice_state: wide open\n")
        sheet = root / FOLDER / "Voice-Anti-Pattern-Sheet.md"
        sheet.write_text("| orbs | `orbs` | zero_tolerance | | |\n| bad | `(` | deduction | | |\n")
        (root / FOLDER / "voice.json").write_text("{nonsense")
        bundle = voice.bundle()
        assert bundle is not None
        assert bundle.passage == "She runs. She falls."
        assert bundle.metrics.sentences == 2
        assert bundle.voice_state("1") == "wide_open"
        assert bundle.zero_tolerance() == ("orbs",)
        assert len(bundle.problems) == 2
        assert len(bundle.summary.split()) <= 60
        assert bundle.summary
        gold.unlink()
        assert voice.bundle() is None
        assert not voice.status().bundle_ready


@pytest.mark.req("WF-G67")
async def test_without_a_winner_there_is_no_bundle(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        with pytest.raises(NoWinner):
            await make_bundle(studio)
        await hold(studio, strategies=STRATEGIES[:2], agents=["script:one"])
        with pytest.raises(NoWinner):
            await make_bundle(studio)
        with pytest.raises(LockRefused, match="a winner"):
            await voice_of(studio).lock(True)
    assert not (root / FOLDER).exists()


@pytest.mark.req("WF-20", "WF-G67")
async def test_only_the_writer_locks_and_a_locked_voice_changes_only_with_her_word(
    root: Path,
) -> None:
    async with opened(root, Script(staff())) as studio:
        voice = voice_of(studio)
        tournament_id = await won(studio)
        with pytest.raises(LockRefused, match="bundle"):
            await voice.lock(True)
        await make_bundle(studio)
        with pytest.raises(LockRefused, match="Only the writer"):
            await voice.lock(False)
        assert not voice.status().locked
        assert (await voice.lock(True)).locked
        with pytest.raises(VoiceLocked):
            await make_bundle(studio)
        other = Pick("script:one", "ACTION")
        with pytest.raises(VoiceLocked):
            await voice.select_winner(tournament_id, other)
        assert voice.status().locked
        await voice.select_winner(tournament_id, other, confirmed=True)
        assert not voice.status().locked
        await make_bundle(studio)
        assert voice.status().winning_strategy == "ACTION_EMPHASIS"


@pytest.mark.req("WF-G67")
async def test_making_it_again_keeps_the_old_bundle_as_a_version(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        await won(studio)
        await make_bundle(studio)
        (root / FOLDER / "Voice-Gold-Standard.md").write_text("My own words.\n")
        result = await make_bundle(studio)
        assert result["version"] == voice_of(studio).status().bundle_version == 2
    kept = root / "content" / "Archive" / "Voice Bundle" / "v1"
    assert (kept / "Voice-Gold-Standard.md").read_text() == "My own words.\n"
    assert len(list(kept.iterdir())) == 4
    assert "My own words" not in text(root, "Voice-Gold-Standard.md")


@pytest.mark.req("WF-91")
async def test_the_writer_may_name_the_folder_inside_the_project_only(root: Path) -> None:
    async with opened(root, Script(staff())) as studio:
        await won(studio)
        with pytest.raises(Exception, match="not a path in this project"):
            await make_bundle(studio, output_dir="../elsewhere")
        result = await make_bundle(studio, output_dir="content/Ear")
        assert result["path"] == voice_of(studio).status().bundle_path == "content/Ear"


async def test_a_judge_who_cannot_be_reached_leaves_a_bundle_by_code(root: Path) -> None:
    def silent(request: ModelRequest) -> Line | None:
        is_meant = request.prompt_type == "voice_bundle"
        return Line(fail=Failure(400, "gone")) if is_meant else None

    async with opened(root, Script(staff(silent))) as studio:
        await Bible(Workspace(studio)).write("protagonist", ARC, source="writer")
        await won(studio)
        result = await make_bundle(studio)
        bundle = voice_of(studio).bundle()
    assert "described by code alone" in result["warning"]
    assert bundle is not None
    assert bundle.voice_state("1") == "guarded"
    assert "loyalty means silence" in bundle.phase("1").can_admit
    assert "speaks, and loses" in bundle.phase("3").can_admit


MINIMAL: dict[str, Any] = {
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}},
}


@pytest.mark.req("WF-89", "WF-G64")
async def test_a_tiny_model_gets_through_from_brief_to_lock(root: Path) -> None:
    def tiny(request: ModelRequest) -> str:
        properties = (request.json_schema or {}).get("properties", {})
        if properties:
            return json.dumps({name: each["enum"][-1] for name, each in properties.items()})
        said = "The lamp was out. I waited on the stairs and thought of the storm. "
        about = "The story begins with a keeper. "
        return f"Sure, here is the story:\n{about}{said}{said}" + passage(120) + " And then he"

    script = Script(tiny)
    async with opened(root, script, **MINIMAL) as studio:
        run, tournament_id = await hold(studio, agents=[], strategies=[])
        assert run.state is RunState.DONE, run.error
        voice = voice_of(studio)
        held = voice.tournament(tournament_id)
        await voice.select_winner(tournament_id, Pick(label="A"))
        await make_bundle(studio)
        assert (await voice.lock(True)).steps_done == 5
    assert len(held.usable) == 4
    for variant in held.usable:
        assert 60 <= variant.words <= 220
        assert variant.text.startswith("The lamp was out.")
        assert variant.text.count("The lamp was out.") == 1
        assert variant.text.endswith(".")
        assert all(score.quote and score.quote in variant.text for score in variant.scores)
        assert variant.scores[0].source == "judge"
    assert max(len(call.prompt) for call in script.calls) < 3_000
