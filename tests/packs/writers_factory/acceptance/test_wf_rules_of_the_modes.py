"""What the modes tell the Foreman to do, and the numbers a project can change."""

from pathlib import Path

import pytest
from acceptance_stage import message, open_novel, settle

from callboard.models import Script

pytestmark = pytest.mark.anyio

# By mode: what has to be said in the rules a full model is given.
TOLD = {
    "ARCHITECT": ("GAP DETECTED", "CHALLENGE", "`SYNTHESIS:`", "ask whether it fits", "next step"),
    "VOICE_CALIBRATION": (
        "propose one from the protagonist's flaw",
        "explain what a tournament is",
        "rhythm, density of metaphor, interiority",
    ),
    "EDITOR": ("quote the sentence", "anti-pattern sheet", "pacing", "the beat"),
}


@pytest.mark.req("WF-29", "WF-33", "WF-88", "WF-103", "WF-14")
async def test_the_prompt_of_a_mode_says_how_to_work_in_it(tmp_path: Path) -> None:
    async with open_novel(settle(tmp_path / "book"), Script()) as novel:
        for mode, told in TOLD.items():
            if mode != "ARCHITECT":
                await novel.insist(mode)
            turn = await novel.hear(message("What now?"), "Go on.", model="openai:gpt-4o")
            text = novel.prompt(turn).text
            for words in told:
                assert words in text, (mode, words)


async def test_numbers_are_settings_of_the_project(tmp_path: Path) -> None:
    async with open_novel(settle(tmp_path / "plain"), Script()) as novel:
        values = novel.factory.settings().values
        assert (values.project.planned_total_words, values.project.concurrency) == (80_000, 4)
        assert (values.foreman.strict_style, values.foreman.max_action_rounds) == (False, 2)
        assert values.consolidation.interval_minutes == 15
        assert (values.analysis.accept_from, values.analysis.six_pass_from) == (85, 70)
        assert (values.health.flaw_gap_warning, values.health.plateau_chapters) == (10, 3)
    own = {
        "project": {"planned_total_words": 1234, "concurrency": "many"},
        "health": {"flaw_gap_warning": 7},
        "models": {"routes": {"prose": "script:bard"}, "fallback": ["script:spare"]},
        "nonsense": {"x": 1},
    }
    async with open_novel(settle(tmp_path / "own", **own), Script()) as novel:
        read = novel.factory.settings()
        assert read.values.project.planned_total_words == 1234
        assert read.values.project.concurrency == 4
        assert read.values.health.flaw_gap_warning == 7
        assert read.values.models.routes == {"prose": "script:bard"}
        told = " ".join(read.warnings)
        assert "concurrency" in told and "nonsense" in told
