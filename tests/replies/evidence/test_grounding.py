"""Grounding in real runs: real files, real receipts, every verdict on record."""

import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callboard.core.events import EvidenceChecked
from callboard.core.vocabulary import RunState
from callboard.models import Script
from callboard.store.journal.events import read_events
from callboard.store.journal.verdicts import (
    VerdictFilter,
    count_codes,
    count_verdicts,
    list_verdicts,
)
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.tools import list_receipts, verify

pytestmark = pytest.mark.anyio

OpenStudio = Callable[[], AbstractAsyncContextManager[Studio]]

SCENE = "Story/Scenes/SCN-03-ashes.md"
CARD = "Compendium/Characters/CHAR-Kael.md"
GREEN = f'{SCENE} "Kael\'s eyes were green and tired"'
GREY = f'{CARD} "Eyes: grey"'

_PLAY = """
from importlib.resources import files
from pathlib import Path
from typing import Any

from callboard.choreography import Stage, choreography
from callboard.choreography.grounding import Grounding, SlotText
from callboard.choreography.grounding import candidates, ground, render_evidence
from callboard.replies.evidence import EvidenceRules, verdict_to_json


def kind_of(path: str) -> str:
    if path.startswith("Story/Scenes/"):
        return "scene"
    if "outline" in path:
        return "outline"
    return "canon" if path.startswith("Compendium/") else "other"


def grounding() -> Grounding:
    rules = files("callboard.packs.control_room") / "evidence.yaml"
    return Grounding(EvidenceRules.load(Path(str(rules))), lambda _studio: kind_of)


@choreography
async def look(stage: Stage) -> Any:
    return (await stage.tool("look", "search_text", text="Kael")).receipt_id


@choreography
async def play(stage: Stage, reply: str, agent: str, slots: dict[str, str]) -> Any:
    verdict = await ground(
        stage, reply, agent=agent, grounding=grounding(), key="check",
        slots={name: SlotText(text) for name, text in slots.items()},
    )
    await stage.step("end", lambda: 1)
    return verdict_to_json(verdict)


@choreography
async def offer(stage: Stage, agent: str, about: str, draft: str) -> Any:
    looked = await stage.tool("look", "search_text", text="Kael")
    shown = {"found": SlotText(looked.summary, looked.receipt_id)}
    if draft:
        shown["draft"] = SlotText(draft)
    offered = await candidates(
        stage, agent=agent, grounding=grounding(), slots=shown, about=about
    )
    verdicts = []
    for number, each in enumerate(offered):
        line = render_evidence(each)
        verdict = await ground(
            stage, "It is so.\\n" + line, agent=agent, grounding=grounding(), slots=shown,
            key=f"check/{number}",
        )
        verdicts.append({"label": each.label, "line": line, "accepted": verdict.accepted})
    return verdicts
"""
_PACK = """
name: mine
choreographies: {play: 'play.py:play', look: 'play.py:look', offer: 'play.py:offer'}
agents:
  - {id: chief, archetype: chief}
  - {id: critic, archetype: critic}
  - {id: editor, archetype: editor}
  - {id: planner, archetype: planner}
  - {id: librarian, archetype: librarian}
  - {id: continuity, archetype: continuity}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "fortress"
    shutil.copytree(Path(__file__).parents[2] / "fortress/project", root)
    Project.init(root)
    return root


@pytest.fixture
def open_studio(tmp_path: Path, project: Path) -> OpenStudio:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "play.py").write_text(_PLAY)
    (pack / "pack.yaml").write_text(_PACK)

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Studio]:
        async with open_scripted(project, Script("unused"), pack) as studio:
            yield studio

    return open_it


async def perform(studio: Studio, name: str, session: str | None = None, **args: Any) -> Any:
    run = await studio.start(f"mine/{name}", args, session_id=session)
    ended = await studio.engine.wait(run.id)
    assert ended.state is RunState.DONE, ended.error
    return ended.result


async def judge(studio: Studio, agent: str, reply: str, **slots: str) -> Any:
    return await perform(studio, "play", agent=agent, reply=reply, slots=slots)


@pytest.mark.req("CR-23", "CR-25", "CR-26", "CR-33")
async def test_each_kind_of_false_evidence_has_its_own_code_and_none_is_a_tool_failure(
    open_studio: OpenStudio,
) -> None:
    async with open_studio() as studio:
        other = await studio.sessions.create("other")
        foreign = await perform(studio, "look", other.id)
        mine = await studio.sessions.create("mine")
        own = await perform(studio, "look", mine.id)
        before = studio.database.read(list_receipts)
        told = {
            "The eyes differ.": "evidence_missing",
            f"Evidence: {GREEN}\nWrong.\nEvidence: {GREEN}": "evidence_multiple",
            f'Wrong.\nEvidence: {SCENE} "his eyes were blue"': "quote_not_found",
            "Wrong.\nEvidence: receipt_id: rcpt_00000000000000": "receipt_unknown",
            f"Wrong.\nEvidence: receipt_id: {foreign}": "receipt_foreign_session",
            f"Wrong.\n**Evidence:** receipt_id: {own}": "",
            "ABSTAIN": "",
        }
        codes = [(await judge(studio, "chief", reply))["codes"] for reply in told]
        bold = await judge(studio, "critic", f"Wrong.\n**Evidence:** {GREEN}")
        counted = studio.database.read(count_codes)
        totals = studio.database.read(count_verdicts)
        after = studio.database.read(list_receipts)
    assert codes == [[code] if code else [] for code in told.values()]
    assert bold["accepted"]
    assert counted == {code: 1 for code in told.values() if code}
    assert totals == {"accepted": 2, "abstained": 1, "rejected": 5}
    assert len(after) == len(before)


@pytest.mark.req("CR-33")
async def test_a_verdict_is_recorded_with_what_was_checked_and_told_as_an_event(
    open_studio: OpenStudio,
) -> None:
    async with open_studio() as studio:
        reply = f'Wrong.\nEvidence: {GREEN}; {CARD} "Eyes: violet"'
        run = await studio.start("mine/play", {"agent": "continuity", "reply": reply, "slots": {}})
        await studio.engine.wait(run.id)
        (record,) = studio.database.read(list_verdicts)
        events = studio.database.read(lambda c: read_events(c, run_id=run.id))
        nothing = studio.database.read(lambda c: list_verdicts(c, VerdictFilter(code="cot_leak")))
        by_code = studio.database.read(
            lambda c: list_verdicts(c, VerdictFilter(code="quote_not_found", run_id=run.id))
        )
    assert (record.agent_id, record.role, record.accepted) == ("continuity", "continuity", False)
    assert record.codes == ("quote_not_found",)
    assert (record.run_id, record.session_id, record.step_key) == (run.id, run.session_id, "check")
    assert [(s["source"], s["holds"]) for s in record.sources] == [(SCENE, True), (CARD, False)]
    (told,) = [event.body for event in events if isinstance(event.body, EvidenceChecked)]
    assert (told.accepted, told.codes) == (False, ["quote_not_found"])
    assert nothing == []
    assert by_code == [record]


@pytest.mark.req("CR-30")
async def test_only_slots_that_were_shown_can_be_cited(open_studio: OpenStudio) -> None:
    async with open_studio() as studio:
        seen = await judge(
            studio,
            "editor",
            'Better.\nEvidence: slot:draft "The rain had stopped"',
            draft="The rain had *stopped*\nby dawn.",
        )
        unseen = await judge(studio, "editor", 'Better.\nEvidence: slot:brief "The rain had"')
    assert seen["accepted"]
    assert seen["body"] == "Better."
    assert unseen["codes"] == ["slot_not_visible"]


@pytest.mark.req("CR-25", "CR-36")
@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "/{root}/secret.md",
        "Story/../../secret.md",
        "Story/link.md",
        ".callboard/own.md",
    ],
)
async def test_nothing_outside_of_the_users_files_is_read(
    open_studio: OpenStudio, project: Path, path: str
) -> None:
    secret = project.parent / "secret.md"
    secret.write_text("the vault code is hidden here")
    (project / ".callboard/own.md").write_text("the vault code is hidden here")
    (project / "Story/link.md").symlink_to(secret)
    cited = path.replace("{root}", str(project.parent).strip("/"))
    async with open_studio() as studio:
        verdict = await judge(
            studio, "critic", f'Look.\nEvidence: {cited} "the vault code is hidden"'
        )
    assert verdict["codes"] == ["file_not_found"]


@pytest.mark.req("CR-26")
async def test_an_issue_can_be_cited_only_if_it_is_there(open_studio: OpenStudio) -> None:
    from callboard.core.vocabulary import IssueDraft, IssueKind, IssueSource

    async with open_studio() as studio:
        issue = await studio.issues.add(IssueDraft("Eyes", IssueSource(IssueKind.NOTE)))
        there = await judge(studio, "librarian", f"Filed.\nEvidence: issue:#{issue.id}")
        gone = await judge(studio, "librarian", "Filed.\nEvidence: issue:#99")
    assert there["accepted"]
    assert gone["codes"] == ["issue_unknown"]


def _in_the_database(project: Path, receipt_id: str) -> None:
    with sqlite3.connect(project / ".callboard/callboard.db") as connection:
        connection.execute(
            "UPDATE receipts SET body = replace(body, 'Kael', 'Mael') WHERE id = ?", (receipt_id,)
        )


def _past_reading(project: Path, receipt_id: str) -> None:
    with sqlite3.connect(project / ".callboard/callboard.db") as connection:
        connection.execute("UPDATE receipts SET body = 'x' WHERE id = ?", (receipt_id,))


def _in_the_mirror(project: Path, _receipt_id: str) -> None:
    (mirror,) = (project / ".callboard/audit/sessions").glob("*/tool_receipts.jsonl")
    mirror.write_text(mirror.read_text().replace('"Kael"', '"Mael"', 1))


def _its_id_in_the_mirror(project: Path, receipt_id: str) -> None:
    (mirror,) = (project / ".callboard/audit/sessions").glob("*/tool_receipts.jsonl")
    mirror.write_text(mirror.read_text().replace(receipt_id, receipt_id[:-1] + "!", 1))


def _beyond_json_in_the_mirror(project: Path, _receipt_id: str) -> None:
    (mirror,) = (project / ".callboard/audit/sessions").glob("*/tool_receipts.jsonl")
    mirror.write_text("[" + mirror.read_text()[1:])


@pytest.mark.req("CR-86", "CR-26")
@pytest.mark.parametrize(
    "tamper",
    [
        _in_the_database,
        _past_reading,
        _in_the_mirror,
        _its_id_in_the_mirror,
        _beyond_json_in_the_mirror,
    ],
)
async def test_a_receipt_somebody_touched_is_refused_as_evidence(
    open_studio: OpenStudio, project: Path, tamper: Callable[[Path, str], None]
) -> None:
    async with open_studio() as studio:
        receipt = await perform(studio, "look")
        sound = await judge(studio, "chief", f"Seen.\nEvidence: receipt_id: {receipt}")
    tamper(project, receipt)
    async with open_studio() as studio:
        touched = await judge(studio, "chief", f"Seen.\nEvidence: receipt_id: {receipt}")
        verification = verify(studio.database, studio.project.trail)
    assert sound["accepted"]
    assert touched["codes"] == ["receipt_signature_invalid"]
    assert not verification.is_sound
    assert {flaw.seq for flaw in verification.flaws} == {1}


@pytest.mark.req("CR-86")
async def test_a_mirror_that_is_gone_says_nothing_against_a_receipt(
    open_studio: OpenStudio, project: Path
) -> None:
    async with open_studio() as studio:
        receipt = await perform(studio, "look")
    shutil.rmtree(project / ".callboard/audit/sessions")
    async with open_studio() as studio:
        verdict = await judge(studio, "chief", f"Seen.\nEvidence: receipt_id: {receipt}")
    assert verdict["accepted"]


async def test_a_finished_check_is_not_made_again(open_studio: OpenStudio, project: Path) -> None:
    async with open_studio() as studio:
        args = {"agent": "critic", "reply": f"Wrong.\nEvidence: {GREEN}", "slots": {}}
        run = await studio.start("mine/play", args)
        await studio.engine.wait(run.id)
        (project / SCENE).write_text("All is different now.")
        fork = await studio.engine.fork(run.id, from_step="end")
        ended = await studio.engine.wait(fork.id)
        records = studio.database.read(list_verdicts)
    assert ended.result["accepted"]
    assert len(records) == 1


@pytest.mark.parametrize(
    ("agent", "draft"),
    [
        ("chief", ""),
        ("librarian", ""),
        ("planner", ""),
        ("critic", ""),
        ("editor", "Kael looked up. The rain had stopped by dawn, and \u201cnobody\u201d spoke."),
        ("continuity", "Kael's eyes were green. He put down the bread; he slept."),
        ("continuity", ""),
    ],
)
async def test_every_candidate_befits_its_role_and_holds(
    open_studio: OpenStudio, agent: str, draft: str
) -> None:
    async with open_studio() as studio:
        offered = await perform(
            studio, "offer", agent=agent, about="The colour of Kael's eyes", draft=draft
        )
    assert 1 <= len(offered) <= 5
    assert all(each["accepted"] for each in offered), json.dumps(offered, indent=1)
    assert all(len(each["label"]) <= 120 for each in offered)
    assert len({each["line"] for each in offered}) == len(offered)


async def test_a_pair_is_offered_whole_and_what_bears_on_the_matter_comes_first(
    open_studio: OpenStudio,
) -> None:
    async with open_studio() as studio:
        offered = await perform(
            studio,
            "offer",
            agent="continuity",
            about="Kael's eyes have the wrong colour",
            draft="The gate stood open all night. Kael's eyes were green that day. Nobody spoke.",
        )
    first = offered[0]["line"]
    assert 'slot:draft "Kael\'s eyes were green that day."' in first
    assert f'; {CARD} "Eyes: grey"' in first
