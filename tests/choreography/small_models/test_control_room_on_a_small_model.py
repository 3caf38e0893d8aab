"""Control Room with a minimal model: every recipe gets through, and what it leaves is sound."""

import json
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import callboard.packs.control_room as control_room
from callboard.choreography.recipe.view import RunView
from callboard.core.vocabulary import RunState
from callboard.models import ModelRequest, Script
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

SAMPLE = Path(control_room.__file__).parent / "sample"
DRAFT = "Draft scene 5, The Long Bell"
MINIMAL: dict[str, Any] = {
    **SCRIPTED,
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}},
}


def tiny(request: ModelRequest) -> str:
    """Answer like a tiny model: the first choice, or some words where words are asked for."""
    properties = (request.json_schema or {}).get("properties", {})
    if "choice" in properties:
        return json.dumps({"choice": properties["choice"]["enum"][0]})
    if "line" in properties:
        stem = str(properties["line"]["pattern"]).partition("(")[0].removeprefix("^")
        return json.dumps({"line": f"{stem}the wind in the ropes,"})
    return "Ines looks at the clock. It"


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    root = tmp_path / "novel"
    shutil.copytree(SAMPLE, root)
    Project.init(root)
    return root


@asynccontextmanager
async def opened(root: Path, script: Script) -> AsyncGenerator[Studio]:
    async with open_scripted(root, script, flags=MINIMAL) as studio:
        yield studio


async def performed(studio: Studio, recipe: str, description: str) -> RunView:
    started = await studio.start(f"control_room/{recipe}", {"description": description})
    run = await studio.engine.wait(started.id)
    assert run.state is RunState.DONE, run.error
    return studio.database.read(lambda connection: RunView(connection, run))


def text_of(studio: Studio, view: RunView, slot: str) -> str:
    return str(studio.database.read(lambda c: RunView(c, view.run)).slot(slot)["text"])


@pytest.mark.req("CR-146")
async def test_a_scene_is_drafted_beat_by_beat_from_picks_and_finished_sentences(
    novel: Path,
) -> None:
    script = Script(tiny)
    async with opened(novel, script) as studio:
        view = await performed(studio, "creative_draft_scene", DRAFT)
        draft = text_of(studio, view, "draft")
        report = text_of(studio, view, "continuity_report")
        keys = [each["name"] for each in view.lines()[4]["micro_steps"]]
    paragraphs = draft.split("\n\n")
    # The sample is told in the past, the outline's beats are not.
    told = "Ines and Jun carried the mended wheel up the tower in the dark."
    assert paragraphs[1].startswith(told)
    assert paragraphs[1].endswith("They could hear the wind in the ropes.")
    assert paragraphs[2].startswith("The clock would not start, so Jun swung the pendulum by hand.")
    assert paragraphs[3].startswith("Ines rang the long bell and the first boat answered")
    assert len({sentence for each in paragraphs for sentence in each.split(". ")}) == 11
    assert keys[:3] == ["finding", "each_mood/1", "each_sound-1/1"]
    assert "each_sound-3/3" in keys
    assert "Verdict: PASS" in report
    written = novel / "Story" / "Scenes" / "SCN-the-long-bell.md"
    assert written.read_text().strip() == draft
    # Nothing a small model is sent is long, and it is never told what it could only repeat.
    assert max(len(prompt) for prompt in script.prompts) < 2_500
    assert not any("receipt_id" in prompt for prompt in script.prompts)


@pytest.mark.parametrize(
    ("recipe", "description", "slot", "told"),
    [
        (
            "analytical_consistency",
            "Check consistency of scenes 1 to 4",
            "continuity_report",
            "Verdict: FAIL",
        ),
        (
            "analytical_foreshadow",
            "Audit foreshadowing of the silver whistle",
            "foreshadow_audit",
            "silver whistle",
        ),
        ("analytical_prose", "Prose review of scene 2", "revision_notes", "80 words"),
        (
            "analytical_scene_validate",
            "Validate scene 3",
            "continuity_report",
            "canon says blue, the scene says hazel.\n\nVerdict: FAIL",
        ),
        ("structural_canon", "Update canon of Tobias from scene 3", "canon_entry", "Eyes: blue"),
        (
            "structural_outline",
            "Restructure the outline",
            "outline_proposal",
            "### Scene 8: Spring Tide",
        ),
    ],
)
async def test_the_other_recipes_get_through(
    novel: Path, recipe: str, description: str, slot: str, told: str
) -> None:
    async with opened(novel, Script(tiny)) as studio:
        view = await performed(studio, recipe, description)
        assert told in text_of(studio, view, slot)
        evidence = studio.database.read(
            lambda c: c.execute("SELECT accepted FROM evidence_verdicts").fetchall()
        )
    assert evidence
    assert all(row["accepted"] for row in evidence)


async def test_a_small_model_does_not_vote_away_what_a_tool_found(novel: Path) -> None:
    script = Script(tiny)
    async with opened(novel, script) as studio:
        view = await performed(studio, "analytical_scene_validate", "Validate scene 3")
        assert text_of(studio, view, "beat_assessment").endswith("Verdict: FAIL")
    assert not any("verdict" in str(call.request.step_key) for call in script.calls)


async def test_what_is_proposed_for_a_file_keeps_the_file(novel: Path) -> None:
    outline = (novel / "Story" / "SCN-outline.md").read_text()
    async with opened(novel, Script(tiny)) as studio:
        view = await performed(studio, "structural_outline", "Restructure the outline")
        proposed = text_of(studio, view, "outline_proposal")
    assert proposed.startswith(outline.strip())
    assert proposed.endswith("<!-- To be mended first: Scene 4 (Fog) has no beats. -->")
    assert (novel / "Story" / "SCN-outline.md").read_text() == outline


async def test_scenes_do_not_all_open_alike(novel: Path) -> None:
    async with opened(novel, Script(tiny)) as studio:
        openings: set[str] = set()
        for number in (5, 7, 8):
            view = await performed(studio, "creative_draft_scene", f"Draft scene {number}")
            openings.add(text_of(studio, view, "draft").partition("\n")[0])
    assert len(openings) == 3


async def test_where_nothing_was_found_nothing_is_ordered(tmp_path: Path) -> None:
    root = tmp_path / "calm"
    (root / "Scenes").mkdir(parents=True)
    for number, text in ((1, "Ada rowed out at dawn."), (2, "Ada came back with fish.")):
        (root / "Scenes" / f"SCN-0{number}.md").write_text(f"# Scene {number}\n\n{text}\n")
    Project.init(root)
    async with opened(root, Script(tiny)) as studio:
        view = await performed(studio, "analytical_consistency", "Check consistency of scenes 1-2")
        report = text_of(studio, view, "continuity_report")
        fixes = text_of(studio, view, "fix_list")
    assert "No contradiction was found" in report and "Verdict: PASS" in report
    assert fixes.startswith("No fix is due.")
    assert "Cut the sentence" not in fixes
