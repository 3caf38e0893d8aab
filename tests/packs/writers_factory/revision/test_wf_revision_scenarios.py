"""The acceptance scenarios of revision: 11 (analysis and enhancement) and 14 (editor finish)."""

from pathlib import Path
from typing import Any

import pytest
from revision_book import SCENE, judge_by, open_book, verdict

from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.revision import EditFailed, EditRequest

pytestmark = pytest.mark.anyio
PHRASE = "He cut the tape with surgical precision."
FIXED = "He cut the tape along the seam."
SIMILE = "Danny swung the chair like a drunk carpenter."


@pytest.mark.req("WF-100", "WF-101", "WF-102", "WF-G76", "WF-G77", "WF-G79", "WF-G80", "WF-G81")
async def test_scenario_11_analysis_and_enhancement(tmp_path: Path) -> None:
    def judge(prompt: str) -> dict[str, Any]:
        return verdict(8, voice_authenticity=2 if "Hark" in prompt else 8)

    def write(request: ModelRequest) -> Line | None:
        kind = str(request.prompt_type)
        if kind == "revision/fix_issues":
            fixes = [
                {"issue": 1, "old_text": PHRASE, "new_text": FIXED, "reason": "exact"},
                {
                    "issue": 2,
                    "old_text": SIMILE,
                    "new_text": "Danny swung the chair.",
                    "reason": "no simile in a fight",
                },
            ]
            return Line(json={"fixes": fixes})
        if kind == "revision/pass_voice":
            return Line(text=SCENE.replace("Glass broke.", "Hark, the glass!"))
        if kind.startswith("revision/pass_"):
            return Line(text=SCENE.replace("A man fell.", "A man went down."))
        return None

    async with open_book(tmp_path / "book", Script(judge_by(judge), write)) as book:
        await book.plan()
        await book.write("ch1-sc1", SCENE, callbacks=("the drowned dog",))
        analysis = await book.run("analyze", scene_id="ch1-sc1")
        assert analysis["total"] < 85
        found = {issue["pattern"]: issue for issue in analysis["issues"]}
        lines = SCENE.splitlines()
        assert {"with … precision", "simile in action", "the drowned dog"} <= set(found)
        for issue in found.values():
            assert issue["quote"] and issue["quote"].splitlines()[0] in lines[issue["line"] - 1]

        quick = await book.run("enhance", scene_id="ch1-sc1", mode="action_prompt")
        assert FIXED in quick["preview"] and SIMILE not in quick["preview"]
        assert quick["after"]["total"] > quick["before"]["total"]

        deep = await book.run("enhance", scene_id="ch1-sc1", mode="six_pass")
        voice = next(note for note in deep["passes"] if note["name"] == "voice")
        assert not voice["is_kept"] and "voice_authenticity fell" in voice["reverted"]
        assert "Hark" not in deep["preview"]

        await book.revision.decide(quick["id"], accept=["fix1", "fix2"])
        await book.revision.decide(quick["id"], reject=["fix2"])
        assert book.text() == SCENE.replace(PHRASE, FIXED)


@pytest.mark.req("WF-22", "WF-104", "WF-105", "WF-G82", "WF-G83", "WF-G84")
async def test_scenario_14_editor_finish(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book") as book:
        await book.plan()
        await book.write("ch1-sc2", "They drove all night.")
        await book.write("ch1-sc1", SCENE)
        with pytest.raises(EditFailed) as failed:
            await book.revision.edits.apply(EditRequest("x", "why", "Mickey", target="ch1-sc1"))
        assert failed.value.context["count"] == 3
        await book.revision.edits.apply(
            EditRequest("It broke.", "why", "Glass broke.", target="ch1-sc1")
        )
        assert "It broke." in book.text()
        await book.revision.edits.undo("ch1-sc1")
        assert book.text() == SCENE
        audit = await book.run("audit", fast=True)
        report = await book.run("voice_report")
        assert (book.root / audit["path"]).is_file() and (book.root / report["path"]).is_file()
        done = await book.run("finish", by="writer")
        assert done["is_complete"] and done["open_errors"] and done["warnings"]
        markdown = next(f["path"] for f in done["export"]["files"] if f["format"] == "md")
        text = (book.root / markdown).read_text()
        assert text.index("Mickey came in") < text.index("They drove all night.")
