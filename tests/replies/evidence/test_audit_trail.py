"""The audit trail of a run: receipts and responses lie beside each other, and nowhere else."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import Script
from callboard.prompts import list_prompts, load_prompt
from callboard.store.journal.steps import load_journal
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

_PLAY = """
from typing import Any
from callboard.choreography import Stage, choreography

@choreography
async def play(stage: Stage) -> Any:
    found = await stage.tool("look", "search_text", text="lantern")
    reply = await stage.ask("say", "writer", found=found)
    return reply.text
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    root = tmp_path / "pack"
    (root / "prompts").mkdir(parents=True)
    (root / "play.py").write_text(_PLAY)
    (root / "prompts/say.md").write_text("{{found}}\n\nSay what you see.")
    (root / "pack.yaml").write_text(
        "name: mine\nchoreographies: {play: 'play.py:play'}\nagents:\n  - {id: writer}\n"
    )
    return root


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.req("CR-81", "CR-87")
async def test_receipts_and_responses_are_audited_and_runs_only_point_at_them(
    tmp_path: Path, pack: Path
) -> None:
    root = tmp_path / "story"
    root.mkdir()
    (root / "one.md").write_text("A lantern of peculiar make.\n")
    Project.init(root)
    async with open_scripted(root, Script("I see a lantern."), pack) as studio:
        run = await studio.start("mine/play")
        ended = await studio.engine.wait(run.id)
        assert ended.state is RunState.DONE, ended.error
        steps = studio.database.read(lambda c: load_journal(c, run))
        (summary,) = studio.database.read(lambda c: list_prompts(c, run_id=run.id))
        prompt = studio.database.read(lambda c: load_prompt(c, summary.id))
    folder = root / ".callboard/audit/sessions" / run.session_id
    (receipt,) = lines_of(folder / "tool_receipts.jsonl")
    (response,) = lines_of(folder / "agent_responses.jsonl")
    assert receipt["receipt_id"].startswith("rcpt_")
    assert "peculiar make" in json.dumps(receipt["payload"])
    assert response["id"].startswith("resp_")
    assert response["text"] == "I see a lantern."
    assert response["prompt_sha256"] == hashlib.sha256(prompt.text.encode()).hexdigest()
    assert response["usage"]["output_tokens"] > 0
    assert response["usage"]["duration_ms"] >= 0
    by_key = {step.key: step for step in steps.values()}
    assert by_key["look"].receipt_id == receipt["receipt_id"]
    assert by_key["say"].receipt_id is None
    told = "".join(p.read_text() for p in (root / ".callboard/runs" / run.id).iterdir())
    assert receipt["receipt_id"] in told
    assert "peculiar make" not in told
