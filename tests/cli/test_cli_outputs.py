"""What a run made and proposes, as a person reads it: texts as texts, changes as differences."""

import json
from pathlib import Path

import pytest
from clitools import Here

from callboard.cli import exits

PACK = '''
from callboard.choreography import Stage, choreography


@choreography
async def made(stage: Stage) -> str:
    """Fill a slot as an agent that answers in parts does."""

    async def act(_scope):
        return {"agent_id": "writer", "text": "Ines rings.", "data": None, "evidence": {}}

    await stage.run.step("b/draft", act, slot="draft")
    return "done"
'''


def test_the_slot_of_an_agent_is_printed_as_its_text(project: Path, here: Here) -> None:
    pack = project / "pack"
    pack.mkdir()
    (pack / "pack.yaml").write_text("name: own\nchoreographies: {made: made.py:made}\n")
    (pack / "made.py").write_text(PACK)
    assert here("run", "own/made", "--pack", str(pack)).code == exits.OK
    assert here("runs", "slot", "last", "draft").out == "Ines rings.\n"
    assert here("runs", "slot", "last", "draft", "--json").json["slot"]["value"]["data"] is None


def test_applying_shows_what_is_changed(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "novel"
    assert here("init", str(root), "--for", "control_room", "--sample").code == exits.OK
    monkeypatch.chdir(root)
    outline = root / "Story" / "SCN-outline.md"
    first = outline.read_text().splitlines()[0]
    evidence = f'Evidence: Story/SCN-outline.md "{first}"'
    proposed = f"{first}, in another order\n\n### Scene 1: The bell\n\n{evidence}"
    critique = 'Take this, in another order.\n\nEvidence: slot:outline_proposal "in another order"'
    replies = [
        {"prompt_type": "restructure_outline", "text": proposed, "times": "always"},
        {"prompt_type": "critique_outline", "text": critique, "times": "always"},
    ]
    (root / "staff.json").write_text(json.dumps({"replies": replies}))
    words = ("run", "structural_outline", "--arg", "description=Restructure the outline")
    ran = here(*words, "--model", "script:staff.json")
    assert ran.code == exits.OK, ran.err
    applied = here("runs", "apply", "last")
    assert applied.code == exits.OK, applied.err
    assert f"-{first}\n" in applied.out and f"+{first}, in another order\n" in applied.out
    assert applied.out.endswith("Written: Story/SCN-outline.md\n")
    assert outline.read_text().startswith(f"{first}, in another order")
