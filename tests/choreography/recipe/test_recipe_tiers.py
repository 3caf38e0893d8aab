"""Tiers: the same recipe, asked in one call or in a few tiny ones, by what the agent can do."""

import json
from pathlib import Path
from typing import Any

import pytest
from little_house import OpenHouse, detail, mirrored, play, receipt_in, says

from callboard.core.vocabulary import RunState
from callboard.models import Line, ModelRequest, Script

pytestmark = pytest.mark.anyio

MINIMAL = {"catalog": {"script": {"tier": "minimal"}}}


def staff(project: Path, **tiers: Any) -> None:
    lines = [f"- {{id: {name}-001, tier: {tier}}}" for name, tier in tiers.items()]
    (project / ".callboard" / "agents.yaml").write_text("\n".join(lines))


def part_of(request: ModelRequest) -> str:
    return str(request.step_key).split("/")[-1]


def in_parts(**parts: Any) -> Any:
    usual = {"triage": "YES", "finding": "Kael reaches the gate.", **parts}

    def brief(request: ModelRequest) -> Line | str:
        part = part_of(request)
        if part == "evidence" and part not in usual:
            return f"Evidence: receipt_id: {receipt_in(request)}"
        said = usual[part]
        return said if isinstance(said, str | Line) else said(request)

    return brief


@pytest.mark.req("CR-140", "CR-144", "CR-146")
@pytest.mark.parametrize(
    ("tier", "calls", "words"),
    [
        (1, 3, "Is there a beat?"),
        (2, 3, "Is there a beat?"),
        (3, 1, "Write a brief."),
        ("medium", 1, "Write a brief."),
        (5, 1, "A full synthesis"),
        (9, 1, "A full synthesis"),
    ],
)
async def test_the_tier_of_the_agent_decides_how_it_is_asked(
    open_house: OpenHouse, project: Path, tier: Any, calls: int, words: str
) -> None:
    staff(project, planner=tier)
    # In parts the receipt is not shown with the finding, so the evidence is picked by its number.
    script = Script(says(brief=in_parts(evidence="1")) if calls == 3 else says())
    async with open_house(script) as studio:
        run = await play(studio)
        assert run.state is RunState.DONE, run.error
    asked = [call for call in script.calls if call.request.agent_id == "planner-001"]
    assert len(asked) == calls
    assert words in asked[0].request.prompt_text
    lines = mirrored(project, run, "steps.jsonl")
    assert len(lines) == 8
    micro = [each["name"] for each in lines[3]["micro_steps"]]
    assert micro == (["triage", "finding", "evidence"] if calls == 3 else [])


@pytest.mark.req("CR-146")
async def test_parts_read_what_was_answered_before_and_make_one_artifact(
    open_house: OpenHouse, project: Path
) -> None:
    staff(project, planner=1)
    script = Script(says(brief=in_parts(triage="Yes, clearly", evidence="Number 1.")))
    async with open_house(script) as studio:
        run = await play(studio)
        prompts = {part_of(c.request): c.request.prompt_text for c in script.calls[:3]}
        shown = detail(studio, run)
    assert shown["status"] == "done", shown["error"]
    assert "Yes, clearly" in prompts["finding"]
    assert "Kael reaches the gate." in prompts["evidence"]
    assert "1. " in prompts["evidence"], "what would hold is offered by number"
    brief = mirrored(project, run, "cache.json")
    assert brief["scene_brief"]["text"] == "Kael reaches the gate."
    assert brief["scene_brief"]["evidence"].startswith("receipt_id: rcpt_")


@pytest.mark.req("CR-146")
@pytest.mark.parametrize("triage", ["NO", "no.", "ABSTAIN", "No, nothing here."])
async def test_a_no_at_triage_is_an_abstention_after_one_call(
    open_house: OpenHouse, project: Path, triage: str
) -> None:
    staff(project, planner=1)
    script = Script(says(brief=in_parts(triage=triage)))
    async with open_house(script) as studio:
        shown = detail(studio, await play(studio))
    assert len(script.calls) == 1
    assert shown["steps"][3]["status"] == "abstained"
    assert shown["error"]["code"] == "input_abstained"


async def test_evidence_an_agent_makes_up_in_parts_is_refused(
    open_house: OpenHouse, project: Path
) -> None:
    staff(project, planner=1)
    script = Script(says(brief=in_parts(evidence="Evidence: receipt_id: rcpt_forged")))
    async with open_house(script) as studio:
        shown = detail(studio, await play(studio))
    assert shown["error"]["code"] == "evidence_invalid"
    assert "receipt_unknown" in shown["error"]["message"]


@pytest.mark.req("CR-144")
async def test_a_writer_without_tiny_questions_is_asked_the_usual_one(
    open_house: OpenHouse, project: Path
) -> None:
    staff(project, writer=1)
    script = Script(says())
    async with open_house(script) as studio:
        assert (await play(studio)).state is RunState.DONE
    assert [call.request.prompt_type for call in script.calls].count("write") == 1


async def test_a_small_agent_whose_evidence_fails_picks_from_what_would_hold(
    open_house: OpenHouse, project: Path
) -> None:
    staff(project, writer=1)
    said = json.dumps({"choice": "1"})
    script = Script(says(write="Kael crossed the yard at night.", pick_evidence=said))
    async with open_house(script) as studio:
        run = await play(studio)
        assert run.state is RunState.DONE, run.error
    types = [call.request.prompt_type for call in script.calls]
    assert types == ["brief", "write", "pick_evidence", "polish", "check", "react"]
    draft = mirrored(project, run, "cache.json")["draft"]
    assert draft["text"] == "Kael crossed the yard at night."
    assert draft["evidence"].startswith("slot:")
    line = mirrored(project, run, "steps.jsonl")[4]
    assert [each["name"] for each in line["micro_steps"]] == ["reply", "evidence"]


async def test_a_minimal_model_only_chooses_and_its_evidence_always_holds(
    open_house: OpenHouse, project: Path
) -> None:
    def answer(request: ModelRequest) -> Line | str:
        if request.json_schema is not None:
            options = request.json_schema["properties"]["choice"]["enum"]
            return json.dumps({"choice": options[0]})
        if request.prompt_type == "check":
            return "All agrees.\n\nVerdict: PASS"
        return "Kael reaches the gate and waits there for the night."

    script = Script(answer)
    async with open_house(script, models={"default": "script", **MINIMAL}) as studio:
        run = await play(studio)
        assert run.state is RunState.DONE, run.error
    cache = mirrored(project, run, "cache.json")
    assert all(slot["evidence"] for slot in cache.values() if slot["type"] == "artifact")
    triage = next(c for c in script.calls if part_of(c.request) == "triage")
    assert triage.request.json_schema["properties"]["choice"]["enum"] == ["yes", "no"]


@pytest.mark.req("CR-142", "CR-141")
async def test_a_project_template_overrides_the_bundled_one(
    open_house: OpenHouse, project: Path
) -> None:
    (project / ".callboard" / "prompts" / "write.md").write_text(
        "House style!\n\n{{scene_brief}}\n"
    )
    script = Script(says())
    async with open_house(script) as studio:
        assert (await play(studio)).state is RunState.DONE
    assert "House style!" in script.calls[1].request.prompt_text


async def test_what_a_small_agent_is_shown_of_a_tool_is_cut_to_its_size(
    open_house: OpenHouse, project: Path
) -> None:
    text = "# Gate\n\n" + "\n".join(f"### Scene {n} and more words" for n in range(400))
    (project / "Story" / "SCN-outline.md").write_text(text)
    for tier, most in (("medium", 6000), ("full", 12000)):
        staff(project, planner=tier)
        script = Script(says())
        async with open_house(script) as studio:
            await play(studio, scene_path=f"Story/{tier}.md")
        prompt = script.calls[0].request.prompt_text
        assert most - 1500 < len(prompt) < most + 1500
        assert "receipt_id: rcpt_" in prompt
