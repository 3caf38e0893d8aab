"""A book grown with a small model: it picks and finishes sentences, and no bar is red."""

import json
from pathlib import Path

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import ModelRequest, Script
from callboard.packs.questfoundry.foundry import foundry_of
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio


def speak(request: ModelRequest) -> str:
    properties = (request.json_schema or {}).get("properties", {})
    if "choice" in properties:
        return json.dumps({"choice": properties["choice"]["enum"][0]})
    if "s00001" in (request.step_key or ""):
        return json.dumps({"line": "You notice a gull that watches the gate."})
    # What no form lets through: a key, an id, another person.
    return "I was using has_lamp with HK-20260101-01 and the seed of the model."


async def test_a_grown_book_is_bound_without_a_red_bar(tmp_path: Path) -> None:
    Project.init(tmp_path / "book", pack="questfoundry")
    async with open_scripted(tmp_path / "book", Script(speak)) as studio:
        started = await studio.start("questfoundry/grow", {"seed": 3})
        run = await studio.engine.wait(started.id)
        assert run.state is RunState.DONE, run.error
        assert "red" not in run.result["bars"].values()
        assert run.result["decision"] in ("pass", "conditional_pass")
        book = foundry_of(studio).cold_book(foundry_of(studio).snapshot_named(None))
        texts = " ".join(each.text for each in book.sections)
        assert "You notice a gull that watches the gate." in texts
        assert "has_lamp" not in texts and "seed" not in texts
        assert all((studio.project.root / path).is_file() for path in run.result["files"])
