"""A conference of Control Room itself: its staff, its eight tools, its rules of evidence."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hall_cast import leading, viewing

from callboard.choreography.agent_calls import ToolPolicy
from callboard.choreography.conference import Conferences, ReplyStatus
from callboard.core.vocabulary import ReceiptOutcome, RunState
from callboard.models import ModelRequest, Script
from callboard.packs.control_room.evidence import known_names, propose_calls
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.tools import ProjectFiles, ToolContext, list_receipts

pytestmark = pytest.mark.anyio

ASHES = "Story/Scenes/SCN-03-ashes.md"
LOCATE = {"tool": "file_locator", "args": {"search_criteria": "Kael"}}
OUTLINE = {"tool": "outline_analyzer", "args": {}}
CANON = {"tool": "canon_checker", "args": {"scene_path": ASHES}}

OpenRoom = Callable[..., AbstractAsyncContextManager[Studio]]


@pytest.fixture
def open_room(fortress: Path) -> OpenRoom:
    @asynccontextmanager
    async def open_it(script: Script, **flags: Any) -> AsyncIterator[Studio]:
        async with open_scripted(fortress, script, flags=flags) as studio:
            yield studio

    return open_it


def citing(request: ModelRequest) -> str | None:
    """Answer as the role would: with the receipt of the tool it may rest on, or with quotes."""
    if request.prompt_type != "conference_view":
        return None
    receipts = dict(re.findall(r"\] (\w+) \{.*?\}\nreceipt_id: (rcpt_\w+)", request.prompt_text))
    cited = {
        "chief": f"receipt_id: {receipts['file_locator']}",
        "planner": f"receipt_id: {receipts['outline_analyzer']}",
        "writer": f'{ASHES} "Kael\'s eyes were green and tired"',
        "critic": f'{ASHES} "Kael\'s eyes were green and tired"',
        "continuity": f"receipt_id: {receipts['canon_checker']}",
    }
    return f"Kael's eyes are green.\n\nEvidence: {cited[request.agent_id or '']}"


@pytest.mark.req("CR-01", "CR-11", "CR-15", "CR-18", "CR-24", "CR-88")
async def test_five_agents_three_calls_three_receipts(open_room: OpenRoom) -> None:
    script = Script(leading(LOCATE, OUTLINE, CANON), citing)
    roster = ["planner", "writer", "critic", "continuity"]
    async with open_room(script) as studio:
        hall = Conferences(studio, "control_room")
        run = await hall.hold_round("Are Kael's eyes right in scene 3?", agents=roster)
        done = await studio.engine.wait(run.id)
        assert done.state is RunState.DONE, done.error
        held = hall.round(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
        issue = studio.issues.get(held.issue_id or 0)
    assert [each.tool for each in receipts] == ["file_locator", "outline_analyzer", "canon_checker"]
    assert [(each.agent_id, each.status, each.code) for each in held.replies] == [
        (agent, ReplyStatus.ACCEPTED, "") for agent in ("chief", *roster)
    ]
    assert list(issue.receipt_ids) == [each.id for each in receipts]


@pytest.mark.req("CR-16")
async def test_only_what_is_allowed_can_be_called(open_room: OpenRoom) -> None:
    script = Script(leading(CANON, LOCATE), viewing())
    async with open_room(script) as studio:
        hall = Conferences(studio, "control_room")
        policy = ToolPolicy(("file_locator",))
        run = await hall.hold_round("Hello.", agents=["writer"], policy=policy)
        await studio.engine.wait(run.id)
        receipts = studio.database.read(lambda c: list_receipts(c, session_id=run.session_id))
    assert [(each.tool, each.outcome) for each in receipts] == [
        ("canon_checker", ReceiptOutcome.REFUSED),
        ("file_locator", ReceiptOutcome.SUCCEEDED),
    ]


@pytest.mark.req("CR-24")
async def test_what_a_role_may_rest_on_is_kept(open_room: OpenRoom) -> None:
    def wrong(request: ModelRequest) -> str | None:
        if request.prompt_type != "conference_view":
            return None
        (receipt,) = re.findall(r"receipt_id: (rcpt_\w+)", request.prompt_text)
        return f"Kael is named here.\n\nEvidence: receipt_id: {receipt}"

    script = Script(leading(LOCATE), wrong)
    async with open_room(script) as studio:
        hall = Conferences(studio, "control_room")
        run = await hall.hold_round("Hello.", agents=["writer", "librarian"])
        await studio.engine.wait(run.id)
        held = hall.round(run.id)
    assert {each.agent_id: each.code for each in held.replies} == {
        "chief": "",
        "writer": "evidence_source_role",
        "librarian": "",
    }


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("Are Kael's eyes right in scene 3?", ("canon_checker", {"scene_path": ASHES})),
        ("Is the pacing of Ashes too slow?", ("prose_analyzer", {"scene_path": ASHES})),
        (f"Validate {ASHES}", ("scene_draft_validator", {"scene_path": ASHES})),
        ("Are there contradictions in the timeline?", ("consistency_checker", None)),
        ("Where do the stakes fall?", ("stakes_mapper", {})),
        ("Will readers be confused?", ("reader_experience_simulator", {})),
        ("What about the structure?", ("outline_analyzer", None)),
    ],
)
def test_code_prepares_the_call_that_helps(
    fortress: Path, message: str, first: tuple[str, dict[str, Any] | None]
) -> None:
    calls = propose_calls(ToolContext(ProjectFiles(fortress), "sess"), message)
    tool, args = first
    assert calls[0].tool == tool
    assert args is None or calls[0].args == args
    assert calls[-1].tool == "file_locator"
    assert len({call.label for call in calls}) == len(calls)


async def test_every_prepared_call_can_be_made(open_room: OpenRoom) -> None:
    wishes = "Validate scenes 1-3: pacing, contradictions, stakes, readers, structure."
    async with open_room(Script()) as studio:
        context = studio.tools.context("sess")
        calls = propose_calls(context, wishes)
        for call in calls:
            studio.tools.registry.get(call.tool).parse(call.args)
        assert len(calls) >= 5
        assert {"Kael", "Mira"} <= set(known_names(context))
