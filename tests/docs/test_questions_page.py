"""The page on typed questions: its example runs as it stands."""

import re
from pathlib import Path

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
SCENE = "The lantern went out and nobody moved."


async def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    pack, root = tmp_path / "pack", tmp_path / "project"
    (pack / "prompts").mkdir(parents=True)
    root.mkdir()
    (pack / "play.py").write_text(found[1], encoding="utf-8")
    (pack / "prompts" / "mood.md").write_text("{{scene}}\n\nHow does it feel?", encoding="utf-8")
    (pack / "pack.yaml").write_text(
        "name: mine\nchoreographies: {play: 'play.py:play'}\nagents: [{id: writer, owns: prose}]\n",
        encoding="utf-8",
    )
    Project.init(root)
    script = Script(Line(json={"word": "dark", "quote": "The lantern went out"}))
    opening = Opening((load_pack(pack),), providers={"script": script}, flags=SCRIPTED)
    async with Studio.open(root, opening) as studio:
        for _ in range(2):
            run = await studio.start("mine/play", {"scenes": [SCENE]})
            done = await studio.engine.wait(run.id)
            assert done.state is RunState.DONE, done.error
            assert done.result == ["dark: The lantern went out"]
    assert len(script.calls) == 1
