"""Scenario 15: each step sees its part and no more, and the core knows no kitchen."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alfred_home import LISTEN, SUM, open_home, plan, silent_host, step

from callboard.models import Line
from callboard.prompts import OfflineTokenCounter

pytestmark = pytest.mark.anyio

SCHEMA, SYNTAX, DATA = "## Database Schema", "## Query Syntax", "## Data to Analyze"
KEYS, IDS, PREFERENCES = "## Foreign Keys", "## Entity IDs", "## User Preferences"
PRIOR, REFERENCED = "## Prior Context", "## Referenced Entities"
ALL = {SCHEMA, SYNTAX, DATA, KEYS, IDS, PREFERENCES, PRIOR}
WANTED = {
    "act/read": {SCHEMA, SYNTAX},
    "act/analyze": {DATA, PREFERENCES},
    "act/generate": {PREFERENCES, PRIOR},
    "act/write": {SCHEMA, KEYS, IDS},
}
BUDGETS = {"understand": 1500, "think": 2000, "quick": 2000, "reply": 2000, "summarize": 3000}
EVERYTHING = plan(
    step("read", "recipes", description="Read the recipes"),
    step("analyze", "recipes", 1, description="Judge them"),
    step("generate", "recipes", 2, content_type="recipe", description="Make a better one"),
    step("write", "tasks", 3, description="Note it"),
)
SOUP: dict[str, Any] = {
    "name": "Better Soup",
    "servings": 2,
    "ingredients": [{"name": "leek", "quantity": 2}],
    "steps": [{"text": "Boil."}],
}


def said(kind: str, **data: Any) -> Line:
    return Line(json=data, prompt_type=kind, times=None)


ACTS = (
    said("act/read", table="recipes", include=["ingredients", "steps", "tags"], limit=200),
    said("act/analyze", analysis="All fine.", matches=[]),
    said("act/generate", **SOUP),
    said("act/write", op="create", table="tasks", records=[{"description": "Try the soup"}]),
)


@pytest.mark.req(
    "AL-55", "AL-56", "AL-60", "AL-81", "AL-93", "AL-94", "AL-95", "AL-96", "AL-98", "AL-114",
    "AL-115", "AL-135",
)  # fmt: skip
async def test_scenario_15_prompt_isolation(tmp_path: Path):
    counter = OfflineTokenCounter()
    async with open_home(tmp_path, LISTEN, EVERYTHING, *ACTS, silent_host, SUM) as home:
        home.seed()
        await home.alfred.set_profile(home.who, {"allergies": ["sesame"], "equipment": ["wok"]})
        asked = await home.say("do all of it, and do it well", "plan")
        assert asked.action == "propose"
        await home.say("yes")
        assert [row["description"] for row in await home.rows("tasks")] == ["Try the soup"]
    for kind, headings in WANTED.items():
        (prompt,) = home.prompts(kind)
        assert {each for each in ALL if each in prompt} == headings, kind
    for call in home.script.calls:
        limit = BUDGETS.get(str(call.request.prompt_type), 3000)
        assert counter.count(call.prompt) <= limit * 1.02, call.request.prompt_type
    (write,) = home.prompts("act/write")
    assert "### tasks" in write
    assert "required" in write.casefold()
    assert "### recipes" not in write
    for kind in ("think", "act/analyze", "act/generate", "reply"):
        assert all("sesame" in prompt for prompt in home.prompts(kind)), kind
    # One call of a model for one step, each with what came of it.
    assert [each for each in home.asked() if each.startswith("act/")] == list(WANTED)


@pytest.mark.req("AL-117", "AL-119")
def test_scenario_15_the_core_knows_no_kitchen():
    code = (
        "import sys, callboard.choreography.turn.talk, callboard.choreography.turn.turn\n"
        "import callboard.knowledge.entities\n"
        "bad = [m for m in sys.modules if m.startswith('callboard.packs')]\n"
        "sys.exit(', '.join(bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    root = Path(__file__).resolve().parents[4] / "src" / "callboard"
    for folder in (root / "choreography", root / "knowledge"):
        for file in folder.rglob("*.py"):
            assert "callboard.packs" not in file.read_text("utf-8"), file
