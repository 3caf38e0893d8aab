"""Scenario 14: edits that can be undone, the audit, the voice report, and a finished book."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import VOICES, Novel, action, message, open_novel, settle, staff

from callboard.models import Failure, Line, ModelRequest, Script
from callboard.packs.writers_factory.model import PlannedScene, SceneStatus
from callboard.store.journal.runs import list_runs

pytestmark = pytest.mark.anyio

FIRST = (
    "Ines came in by the kitchen. The floor was wet. Danny said nothing. He cut the tape with "
    "surgical precision.\n\nIt was clear that he lied. Ines put the log back. Danny left."
)
SCENES = {
    "ch2-sc1": "The third scene ends at the harbour wall, and the tide is out.",
    "ch1-sc2": "They drove all night, and nobody asked where the second scene was going.",
    "ch1-sc1": FIRST,
}


async def draft(novel: Novel) -> None:
    """Write a short book, out of order, with a fault left in it."""
    await novel.found()
    await novel.insist("VOICE_CALIBRATION")
    await novel.calibrate()
    await novel.insist("DIRECTOR")
    book = novel.rooms.manuscript
    plan = [(1, 1, 1), (1, 2, 9), (2, 1, 15)]
    await book.set_outline([PlannedScene(c, s, f"Scene {c}-{s}", b) for c, s, b in plan])
    for name, text in SCENES.items():
        meta = replace(book.scene(name), status=SceneStatus.DRAFTED)
        await book.save(name, text, meta, reason="written")
    await novel.insist("EDITOR")


def edit(old: str, new: str, **more: str) -> str:
    values = {"target": "ch1-sc1", "old_text": old, "new_text": new, "reason": "shown, not said"}
    return action("apply_edit", **values, **more)


def judge_rules(request: ModelRequest) -> Line | dict[str, Any]:
    """Break down over the second chapter: an audit must bear that."""
    if "harbour wall" in request.prompt_text:
        return Line(fail=Failure(status=400, message="too much sea"))
    return {"breaches": []}


@pytest.mark.req("WF-22", "WF-104", "WF-105", "WF-G82", "WF-G83", "WF-G84")
async def test_scenario_14_editor_finish(tmp_path: Path) -> None:
    script = Script(staff({**VOICES, "revision/judge_rules": judge_rules}))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await draft(novel)
        book, revision = novel.rooms.manuscript, novel.rooms.revision
        assert novel.rooms.modes.current() == "EDITOR"

        turn = await novel.hear(
            message("“Danny” is the weak word. Which one do you mean?", edit("Danny", "He")), "Cut."
        )
        (made,) = turn["actions"]
        assert made["status"] == "failed" and "2" in made["detail"]
        assert book.text("ch1-sc1") == FIRST

        wanted = ("It was clear that he lied.", "He straightened the cup.")
        turn = await novel.hear(
            message("“It was clear that he lied” says it aloud. Next line?", edit(*wanted)), "Mend."
        )
        (made,) = turn["actions"]
        assert made["status"] == "executed"
        assert "-" in made["data"]["diff"] and wanted[1] in made["data"]["diff"]
        assert book.text("ch1-sc1") == FIRST.replace(*wanted)
        kept = [book.version_text("ch1-sc1", each.number) for each in book.versions("ch1-sc1")]
        assert FIRST in kept
        # An edit that brings in what is forbidden needs force.
        worse = edit("The floor was wet.", "He moved with animal precision.")
        turn = await novel.hear(message("No precision. Which verb?", worse), "Try it.")
        assert turn["actions"][0]["status"] == "failed"
        await revision.edits.undo("ch1-sc1")
        assert book.text("ch1-sc1") == FIRST

        turn = await novel.hear(
            message(
                "Two reports. I will now write them.",
                action("continuity_audit"),
                action("voice_report"),
            ),
            "Audit it.",
        )
        audit = await novel.job(turn, "continuity_audit")
        report = await novel.job(turn, "voice_report")
        assert audit["path"] == "content/Reports/Continuity_Audit.md"
        for made in (audit, report):
            assert (novel.root / made["path"]).read_text("utf-8").startswith("#")

        assert any("Chapter 2 was not judged" in note for note in audit["notes"])

        # An agent cannot end a book; the writer can, with an error open.
        turn = await novel.hear(
            message("It is done. Do you mark it?", action("mark_complete", by="writer")), "Done?"
        )
        assert turn["actions"][0]["status"] != "executed"
        assert not novel.rooms.modes.is_complete()
        done = await novel.run("finish", by="writer", author="A. Writer")
        assert done["is_complete"] and done["warnings"]
        assert any("surgical precision" in each for each in done["open_errors"])
        assert novel.rooms.modes.current() == "COMPLETE" and done["mode"] == "COMPLETE"
        files = {each["format"]: novel.root / each["path"] for each in done["export"]["files"]}
        assert set(files) == {"md", "epub", "docx"}
        text = files["md"].read_text("utf-8")
        places = [text.index(SCENES[name][:30]) for name in ("ch1-sc1", "ch1-sc2", "ch2-sc1")]
        assert places == sorted(places)
        for kind in ("epub", "docx"):
            assert zipfile.is_zipfile(files[kind])
        # Finished is not the end of it.
        await novel.rooms.modes.reopen(by="writer")
        assert novel.rooms.modes.current() == "EDITOR"
        runs = novel.studio.database.read(list_runs)
        assert {"audit", "voice_report", "finish"} <= {
            run.choreography.removeprefix("writers_factory/") for run in runs
        }
