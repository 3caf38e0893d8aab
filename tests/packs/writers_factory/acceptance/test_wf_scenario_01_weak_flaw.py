"""Scenarios 1 and 2: a weak flaw is challenged, and nobody can talk a template complete."""

from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import (
    PROTAGONIST,
    THEME,
    action,
    fields_of,
    message,
    open_novel,
    reply,
    settle,
)

from callboard.models import Line, Script
from callboard.packs.writers_factory.foreman.talk import style_lint

pytestmark = pytest.mark.anyio

CHALLENGE = message(
    "**CHALLENGE:** Poverty is done to him. A flaw is what he does himself and could stop doing, "
    "or the climax has nothing to test. Two that fit your notes: pride that refuses every gift, "
    "or envy that counts what others have.\n\nWhich of the two costs him more?",
    action(
        "write_template",
        template="protagonist",
        content="<name>Mick Barlow</name><fatal_flaw>He is poor</fatal_flaw>",
        source="writer_stated",
    ),
    action("save_decision", category="character", key="mick_fatal_flaw", value="He is poor"),
    action("save_decision", category="character", key="protagonist_fatal_flaw", value="He is poor"),
    action("update_status", template="protagonist", status="complete"),
)


@pytest.mark.req("WF-11", "WF-13", "WF-28", "WF-32", "WF-35", "WF-G05", "WF-G09", "WF-G14")
async def test_scenario_1_new_project_weak_flaw(tmp_path: Path) -> None:
    root = settle(tmp_path / "book")
    async with open_novel(root, Script(reply(CHALLENGE))) as novel:
        turn = await novel.say("Mick Barlow is poor, that is his flaw.")
        shown = turn["message"]
        assert "CHALLENGE:" in shown
        # A craft reason, alternatives, and a question at the end.
        assert "climax has nothing to test" in shown
        assert "pride" in shown and "envy" in shown
        assert shown.rstrip().endswith("?")
        # What the code finds by itself says the same, whatever the model had written.
        (told, *_) = [each for each in turn["notices"] if "CHALLENGE:" in each]
        assert "Instead:" in told

        template = novel.rooms.bible.template("protagonist")
        assert template.status.value == "in_progress"
        assert [check.field for check in template.failed_checks] == ["fatal_flaw"]
        (row,) = novel.state().findall("work_order/template[@name='protagonist']")
        assert row.get("status") == "in_progress"
        results = [(each["type"], each["status"]) for each in turn["actions"]]
        assert results.count(("save_decision", "failed")) == 2
        assert novel.rooms.memory.decisions() == ()
        assert turn["style"] == [] and style_lint(shown) == ()
        kept = novel.factory.foreman.turn(next(iter(novel.factory.foreman.turns())))
        assert kept is not None and kept["style"] == []

        # Nothing of it counts later either: the gate names the flaw, the next prompt shows why.
        assert any(
            each.startswith("protagonist") for each in novel.rooms.modes.gate(MODE_AFTER).unmet
        )
        later = await novel.hear(message("Pride or envy: which one?"), "I am not sure.")
        assert 'status="in_progress"' in novel.prompt(later).text


MODE_AFTER = "VOICE_CALIBRATION"


@pytest.mark.req("WF-26", "WF-27", "WF-47", "WF-G10", "WF-G13", "WF-G24", "WF-G09")
async def test_scenario_2_completion_arithmetic(tmp_path: Path) -> None:
    four = {name: text for name, text in PROTAGONIST.items() if name != "arc_resolution"}
    said = message(
        "SYNTHESIS: flaw, lie and half of the arc stand. What does it cost her in the end?",
        action("write_template", template="protagonist", content=fields_of(four)),
        action("write_template", template="theme", content=fields_of(THEME)),
        action("update_status", template="protagonist", status="complete"),
        action("update_status", template="beat_sheet", status="draft_ready"),
    )
    async with open_novel(settle(tmp_path / "book"), Script(reply(said))) as novel:
        turn = await novel.say(". ".join([*four.values(), *THEME.values()]))
        state = novel.state()
        assert state.findtext("completion_pct") == "45"
        rows = {row.get("name"): row.attrib for row in state.findall("work_order/template")}
        assert rows["protagonist"]["missing"] == "arc_resolution"
        assert rows["protagonist"]["status"] == "in_progress"
        assert rows["theme"]["status"] == "complete"
        assert rows["beat_sheet"]["status"] == "not_started"
        assert rows["world_rules"]["status"] == "not_started"

        claims = [each for each in turn["actions"] if each["type"] == "update_status"]
        assert [each["data"]["status"] for each in claims] == ["in_progress", "not_started"]
        assert any("protagonist is in_progress, not complete" in n for n in turn["notices"])
        assert any("beat_sheet is not_started, not draft_ready" in n for n in turn["notices"])
        assert novel.rooms.bible.work_order().completion_percentage == 45

        # The next prompt says so too, and the model that claimed it is told.
        later = await novel.hear(message("What does it cost her?"), "And now?")
        text = novel.prompt(later).text
        assert "<completion_pct>45</completion_pct>" in text
        assert 'missing="arc_resolution"' in text
        assert "in_progress, not complete" in text


@pytest.mark.req("WF-34", "WF-30", "WF-70")
async def test_a_foundation_is_talked_into_files_and_read_back_from_them(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    root = settle(tmp_path / "book" / "novel")
    (root / "notes").mkdir()
    (root / "notes" / "keepers.md").write_text(
        "# Keepers\n\nThe keeper decided for the crew and called it care.\n", "utf-8"
    )
    quote = "decided for the crew and called it care"
    answer = {"answer": f"The keeper {quote}.", "citations": [{"passage": 1, "quote": quote}]}

    def notebook(request: Any) -> Any:
        return Line(json=answer) if request.prompt_type == "memory/notebook_answer" else None

    looking = message(
        "I look at the keepers first.",
        action("query_notebook", notebook_id="keepers", query="What did the keeper decide?"),
    )
    joined = message(
        "SYNTHESIS: the keeper of your notes and Ines share one habit: both decide for others and "
        "call it care. Does that fit, or is hers colder?"
    )
    documented = message(
        "It stands. What does she believe that makes her do it?",
        action(
            "save_decision",
            category="character",
            key="protagonist_fatal_flaw",
            value=PROTAGONIST["fatal_flaw"],
            source="notebook:keepers",
        ),
    )
    script = Script(notebook, reply(looking), reply(joined), reply(documented))
    async with open_novel(root, script) as novel:
        await novel.rooms.notebooks.register("keepers", "Keepers", "character_voice", "notes")
        asked = await novel.say("What do my notes say about her flaw?")
        assert "SYNTHESIS:" in asked["message"] and asked["message"].endswith("?")
        assert "keepers.md" in novel.prompt(asked).text and quote in novel.prompt(asked).text
        # Shown and asked first; nothing is documented until the writer says that it fits.
        assert novel.rooms.memory.decisions() == ()
        await novel.say("It fits.")
        template = novel.rooms.bible.template("protagonist")
        assert template.fields["fatal_flaw"] == PROTAGONIST["fatal_flaw"]
        assert template.sources["fatal_flaw"] == "notebook:keepers"
        (line,) = novel.rooms.memory.timeline()
        assert (line.key, line.source) == ("protagonist_fatal_flaw", "notebook:keepers")
        assert (root / template.file_path).is_file()


@pytest.mark.req("WF-G14", "WF-32", "WF-28")
async def test_a_judge_reads_what_the_rules_let_pass_and_the_writer_may_keep_it(
    tmp_path: Path,
) -> None:
    def judge(request: Any) -> Line | None:
        if request.agent_id != "judge":
            return None
        is_lie = request.prompt_type == "judging/lie"
        reason = "No scene of this arc can prove it wrong"
        return Line(json={"verdict": "fail" if is_lie else "pass", "reason": reason})

    told = message(
        "All five stand. What is the theme?",
        action("write_template", template="protagonist", content=fields_of(PROTAGONIST)),
    )
    async with open_novel(settle(tmp_path / "book"), Script(judge, reply(told))) as novel:
        turn = await novel.say(". ".join(PROTAGONIST.values()))
        assert turn["actions"][0]["status"] == "executed"
        (challenge,) = [each for each in turn["notices"] if "CHALLENGE:" in each]
        assert "No scene of this arc can prove it wrong" in challenge
        bible = novel.rooms.bible
        assert bible.template("protagonist").status.value == "draft_ready"
        asked = len(novel.script.calls)
        later = await novel.hear(message("Which scene would refute it?"), "Which one?")
        assert "prove it wrong" in novel.prompt(later).text
        # Judged once; and the writer's word outweighs a judge's.
        ran = await novel.run("judge")
        assert ran["statuses"]["protagonist"] == "draft_ready"
        assert len(novel.script.calls) == asked + 1
        await bible.accept("protagonist", "lie")
        assert bible.template("protagonist").status.value == "complete"
