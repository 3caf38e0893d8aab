"""The pages tell the truth: code in them runs, tables are fresh, links lead somewhere."""

import re
from pathlib import Path

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import Script
from callboard.store.journal.questions import list_questions
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted
from warm_process import run_warm

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FILE_BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.anyio
async def test_the_tutorials_pack_runs_as_written(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    blocks = dict(FILE_BLOCK.findall(text))
    assert set(blocks) == {"advice/pack.yaml", "advice/prompts/advice.md", "advice/advise.py"}
    for name, content in blocks.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    Project.init(tmp_path / "garden")
    (tmp_path / "garden" / "notes.md").write_text("The rosemary flowers in March.\n")
    script = Script("Cut it after it has flowered.")
    async with open_scripted(tmp_path / "garden", script, tmp_path / "advice") as studio:
        run = await studio.start("advise", {"plant": "rosemary"})
        assert (await studio.engine.wait(run.id, settled=True)).state is RunState.WAITING
        (question,) = studio.database.read(list_questions)
        await studio.engine.answer(question.id, "yes")
        done = await studio.engine.wait(run.id)
    assert done.result == {"advice": "Cut it after it has flowered.", "kept": True}
    assert "flowers in March" in script.prompts[0]


def test_the_architecture_page_lists_every_module() -> None:
    done = run_warm(ROOT / "tools" / "architecture.py", "--check", cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_examples_stay_small_and_the_readme_names_both_commands() -> None:
    examples = [path for path in (ROOT / "examples").glob("*.py") if path.stem != "__init__"]
    assert len(examples) == 5
    assert max(len(path.read_text().splitlines()) for path in examples) < 60
    first_screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:20]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_the_api_reference_is_up_to_date() -> None:
    done = run_warm(ROOT / "tools" / "api_reference.py", "--check", cwd=ROOT)
    assert done.returncode == 0, "run tools/api_reference.py"
