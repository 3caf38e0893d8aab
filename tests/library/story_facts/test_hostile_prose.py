"""Prose nobody writes: what is checked grows with the text, whatever shape it has.

Compared is the processor time of a text with that of one four times as long: about four times where
the work is linear, sixteen where every claim looks at the whole sentence again.
"""

import time
from pathlib import Path

import pytest
from fact_project import Project

from callboard.tools import TooManyFiles

SHAPES = {
    "one sentence": "her eyes were green and ",
    "two names": "Mara and Tomas and her eyes were green and ",
    "speech": "“No,” Mara said, “her eyes are green,” ",
    "short speeches": "“No!” ",
}


pytestmark = pytest.mark.anyio


async def seconds(root: Path, text: str) -> float:
    project = Project(root)
    project.card("Mara", "- eyes: green", "- age: 31")
    project.card("Tomas", "- eyes: blue")
    path = project.scene(1, f"Mara said {text}.")
    start = time.process_time()
    await project.run("canon_checker", scene_path=path)
    return time.process_time() - start


@pytest.mark.parametrize("shape", list(SHAPES))
async def test_a_sentence_without_end_takes_no_more_than_its_length(
    tmp_path: Path, shape: str
) -> None:
    await seconds(tmp_path / "warm", "his hair was red and " * 10)
    few = 12_000 // len(SHAPES[shape])
    # The best of two: something else may have had the processor's caches.
    short = min([await seconds(tmp_path / f"short{n}", SHAPES[shape] * few) for n in (1, 2)])
    long = min([await seconds(tmp_path / f"long{n}", SHAPES[shape] * few * 4) for n in (1, 2)])
    assert long < short * 9


LIMITED = "facts:\n  max_checked_chars: 400\n"


@pytest.mark.parametrize("tool_id", ["canon_checker", "consistency_checker"])
@pytest.mark.parametrize("is_long", [True, False])
async def test_what_is_not_checked_is_told(tmp_path: Path, tool_id: str, is_long: bool) -> None:
    kept = tmp_path / ".callboard"
    kept.mkdir()
    (kept / "story.yaml").write_text(LIMITED)
    project = Project(tmp_path, kept)
    card = project.card("Mara", "- eyes: green")
    said = "The wind blew over the hills and the rain fell. " * (20 if is_long else 2)
    path = project.scene(1, f"{said}Mara had blue eyes. She ran.")
    if tool_id == "canon_checker":
        result = await project.run(tool_id, scene_path=path)
        found = result.payload["conflicts"]
    else:
        result = await project.run(tool_id, file_paths=[path, card])
        found = result.payload["findings"]
    told = [each for each in result.payload["warnings"] if "were checked" in each]
    # What stands behind the limit cannot be found, so the limit must be told.
    assert bool(found) is not is_long
    assert bool(told) is is_long
    assert ("only the first" in result.summary) is is_long
    if is_long:
        assert told[0].startswith(f"{path}: longer than the 400 characters")


async def test_files_are_bounded_in_all(tmp_path: Path) -> None:
    kept = tmp_path / ".callboard"
    kept.mkdir()
    (kept / "story.yaml").write_text(f"{LIMITED}consistency:\n  max_chars: 2000\n")
    project = Project(tmp_path, kept)
    paths = [project.scene(number, "Mara ran over the hill. " * 30) for number in (1, 2, 3)]
    with pytest.raises(TooManyFiles, match=r"up to 2,000 characters in all.*3 files have 2,\d{3}"):
        await project.consistency(*paths)
    # The budget of claims is one for all: who comes after the one that used it up is told.
    told = (await project.consistency(*paths[:2]))["warnings"]
    assert f"{paths[0]}: longer than the 400 characters" in told[0]
    assert told[1].startswith(f"{paths[1]}: not checked, other files were longer than the 400")


async def test_a_draft_that_is_not_checked_to_its_end_says_so(tmp_path: Path) -> None:
    kept = tmp_path / ".callboard"
    kept.mkdir()
    (kept / "story.yaml").write_text(LIMITED)
    project = Project(tmp_path, kept)
    project.card("Mara", "- eyes: green")
    result = await project.run("scene_draft_validator", text="Mara ran over the hill. " * 40)
    assert any("were checked" in each for each in result.payload["warnings"])
    assert "only the first" in result.summary
