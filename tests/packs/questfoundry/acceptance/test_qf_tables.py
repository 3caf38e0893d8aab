"""The loops and roles as the specification tables them, and the texts roles are made of."""

from pathlib import Path
from typing import Any

import pytest
from questkit import Company, envelope, open_house

from callboard.choreography.loop import missing_prompts
from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.packs.questfoundry.artifacts.catalog import index_of, problems_of
from callboard.packs.questfoundry.foundry import read_registry
from callboard.packs.questfoundry.pack import bring
from callboard.packs.questfoundry.roster import ROSTER
from callboard.packs.questfoundry.steps.checks import QuestChecks
from callboard.prompts import list_prompts, load_prompt
from callboard.studio.project import Project
from callboard.testing.opening import open_scripted
from callboard.testing.witness import finish

pytestmark = pytest.mark.anyio
PROMPTS = Path(read_registry.__code__.co_filename).parent / "prompts"
# Steps by their number: required, optional, and required if a condition holds.
REQUIRED = {
    "story_spark": ("1 2 3 7 8", "4 5 6", ""),
    "hook_harvest": ("1 2 3 4 5 6 7", "", ""),
    "lore_deepening": ("1 2 3 5 7 8 9", "6", "4"),
    "codex_expansion": ("1 2 3 5 6 7", "4", ""),
    "style_tune_up": ("1 3 4 5 6 7 8", "2", ""),
    "gatecheck": ("1 2 3 4 6", "", "5 7"),
    "binding_run": ("1 2 3 5 6 7 8 9", "", "4"),
    "narration_dry_run": ("1 2 3 4 5 6", "", ""),
    "art_touch_up": ("1 2 3 5 6 7", "", "4"),
    "audio_pass": ("1 2 3 5 6 7", "", "4"),
    "translation_pass": ("1 2 3 4 6 7 8", "", "5"),
    "post_mortem": ("1 2 3 4 5 7 8", "6", ""),
    "archive_snapshot": ("1 2 3 4 5 6 7", "", ""),
}
BARS = {
    "story_spark": "integrity reachability nonlinearity gateways presentation",
    "hook_harvest": "integrity",
    "lore_deepening": "integrity gateways presentation",
    "codex_expansion": "presentation integrity style accessibility",
    "style_tune_up": "style presentation accessibility",
    "binding_run": "integrity presentation accessibility style determinism",
    "narration_dry_run": "presentation style accessibility",
    "art_touch_up": "presentation accessibility style determinism",
    "audio_pass": "accessibility presentation style determinism",
    "translation_pass": "integrity presentation style accessibility",
    "post_mortem": "integrity",
    "archive_snapshot": "integrity",
}
HANDS_ON = {
    "story_spark": "hand_off_hooks",
    "hook_harvest": "hand_off_harvest",
    "lore_deepening": "hand_off_canon",
    "codex_expansion": "package_codex",
    "style_tune_up": "hand_off_style",
    "gatecheck": "merge_to_cold",
    "binding_run": "hand_off_view",
    "narration_dry_run": "package_playtest",
    "art_touch_up": "package_art",
    "audio_pass": "package_audio",
    "translation_pass": "package_translation",
    "post_mortem": "publish_retro",
    "archive_snapshot": "catalog_archive",
}


@pytest.mark.req("QF-99")
@pytest.mark.parametrize("loop", REQUIRED)
def test_what_is_required_optional_and_conditional_is_as_tabled(loop: str) -> None:
    steps = read_registry().get(loop).steps
    found = {True: "", False: "", None: ""}
    for step in steps:
        kind = step.required if isinstance(step.required, bool) else None
        found[kind] = f"{found[kind]} {step.id.split('_')[1]}".strip()
    assert (found[True], found[False], found[None]) == REQUIRED[loop]


@pytest.mark.req("QF-98")
@pytest.mark.parametrize("loop", REQUIRED)
def test_every_loop_has_one_gate_with_its_bars_and_ends_in_code(loop: str) -> None:
    found = read_registry().get(loop)
    (gate,) = [step for step in found.steps if step.gate]
    assert gate.produces == ("gatecheck_report",)
    last = found.steps[-1]
    assert last.code == HANDS_ON[loop] and not last.roles and not last.can_iterate
    if loop == "gatecheck":
        # All eight, computed and only worsened.
        codes = [step.code or step.after for step in found.steps[1:4]]
        assert codes == ["evidence_scan", "only_worse", "decide"]
        return
    assert set(gate.options["bars"]) == {*BARS[loop].split()}  # type: ignore[arg-type]
    assert gate.roles == ("gatekeeper",)
    assert (gate.before, gate.after) == ("gate_facts", "gate_verdict")


@pytest.mark.req("QF-102", "QF-104")
def test_a_spark_says_what_it_can_and_cannot_and_its_gate_is_shown_what_there_is() -> None:
    spark = read_registry().get("story_spark")
    can, cannot = " ".join(spark.scope.can), " ".join(spark.scope.cannot)
    for each in ("topology", "scenes", "story hooks", "canon allows"):
        assert each in can, each
    for each in ("style guide", "tone", "pictures", "sounds", "change canon"):
        assert each in cannot, each
    fed = {str(need) for need in spark.step("step_7").requires}
    assert fed == {
        "topology_notes",
        "section_briefs",
        "scene_drafts",
        "hooks?",
        "style_feedback?",
        "feasibility_notes?",
    }


@pytest.mark.req("QF-104")
async def test_the_gatekeeper_of_a_spark_reads_what_the_others_noted(tmp_path: Path) -> None:
    company = Company()
    company.usual["style_feedback"] = {
        "verdict": "ok",
        "findings": [{"location": "pier", "tag": "voice", "suggestion": "Softer at the pier."}],
    }
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        gate = next(text for key, _, text in company.prompts if "step_7_preview_gate" in key)
        assert "Softer at the pier." in gate and "Who lit the lamp last?" in gate


@pytest.mark.req("QF-66", "QF-72")
async def test_every_text_a_role_is_made_of_is_there(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        assert missing_prompts(house.studio, bring(house.studio)) == ()
    for folder in ("adapters", "roles"):
        assert {each.stem for each in (PROMPTS / folder).glob("*.md")} == {r.id for r in ROSTER}
    others = ("validation_contract", "patterns/context_management", "patterns/safety_protocol")
    for name in (*others, "showrunner/system_prompt", "showrunner/loop_orchestration"):
        assert (PROMPTS / f"{name}.md").is_file()


@pytest.mark.req("QF-71")
async def test_the_schema_index_of_a_role_has_what_it_may_make_and_no_more(tmp_path: Path) -> None:
    company = Company()
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
    style = next(text for _, role, text in company.prompts if role == "style_lead")
    assert "style_feedback: {" in style and "topology_notes: {" not in style
    for loop in read_registry().loops():
        for role in ROSTER:
            kinds = [k for step in loop.steps if role.id in step.roles for k in step.produces]
            contract = (PROMPTS / "validation_contract.md").read_text("utf-8")
            assert len((index_of(kinds) + contract).splitlines()) <= 300


@pytest.mark.req("QF-73")
async def test_a_project_has_its_own_words_for_a_role_and_the_record_says_which(
    tmp_path: Path,
) -> None:
    root = tmp_path / "book"
    project = Project.init(root, pack="questfoundry")
    own = project.prompts / "adapters" / "plotwright.md"
    own.parent.mkdir(parents=True)
    company = Company()
    async with open_house(root, company) as house:
        first = await house.success("story_spark")
        shown = [text for _, role, text in company.prompts if role == "plotwright"]
        assert "# Plotwright" in shown[0]
        own.write_text("You draw maps of what could happen.\n", "utf-8")
        company.prompts.clear()
        second = await house.success("story_spark")
        shown = [text for _, role, text in company.prompts if role == "plotwright"]
        assert "You draw maps of what could happen." in shown[0] and "# Plotwright" not in shown[0]
        # Each call is on record with the very text it was made of.
        for ran, text in ((first, "# Plotwright"), (second, "You draw maps of what could happen.")):

            def kept(connection: Any, run_id: str = ran.run.id) -> list[str]:
                rows = list_prompts(connection, run_id=run_id)
                held = [load_prompt(connection, each.id) for each in rows]
                return [str(each) for each in held if "plotwright" in str(each.agent_id)]

            texts = house.studio.database.read(kept)
            assert texts and all(text in each for each in texts)


@pytest.mark.req("QF-74")
@pytest.mark.parametrize("role", [each.id for each in ROSTER])
def test_an_adapter_says_what_a_role_is_for_and_how_it_answers(role: str) -> None:
    adapter = (PROMPTS / "adapters" / f"{role}.md").read_text("utf-8")
    full = (PROMPTS / "roles" / f"{role}.md").read_text("utf-8")
    lines = adapter.splitlines()
    assert lines[0].startswith("# ") and lines[2], "its mission comes first"
    headings = [
        "## What you are good at",
        "## What you make",
        "## You may",
        "## You may not",
        "## Where you work",
        "## Company and revisions",
        "## How you answer",
    ]
    places = [adapter.index(f"{each}\n") for each in headings]
    assert places == sorted(places)
    assert "Bars you watch" in adapter and '"artifacts"' in adapter
    for loop in read_registry().loops():
        for step in loop.steps:
            if role in step.roles:
                assert loop.name in adapter, (loop.id, role)
    # The full prompt has all of it, and how to work, an example and manners besides.
    assert all(each in full for each in headings)
    assert "When a human talks to you directly" in full and len(full) > 1.2 * len(adapter)


@pytest.mark.req("QF-79")
def test_what_was_markdown_is_held_to_its_structure() -> None:
    notes = {"start": "a", "sections": [{"id": "a", "title": "A"}], "choices": []}
    assert problems_of("topology_notes", {**notes, "body_md": "# The shape\n\nA pier."}) == []
    assert problems_of("topology_notes", {"body_md": "# The shape\n\nA pier."})
    assert problems_of("topology_notes", "# The shape\n\nA pier.")
    faults = problems_of("scene_drafts", {"sections": [{"section_id": "a", "text_md": ""}]})
    assert "sections.0.text_md" in [each["path"] for each in faults]


@pytest.mark.req("QF-115")
def test_drift_has_five_names() -> None:
    tags = ("voice_shift", "register_mismatch", "motif_missing", "over_exposition", "jargon_spike")
    for tag in tags:
        report = {"sampled": ["pier"], "issues": [{"location": "pier", "tag": tag}]}
        assert problems_of("drift_report", report) == []
    strange = {"sampled": ["pier"], "issues": [{"location": "pier", "tag": "dull"}]}
    assert problems_of("drift_report", strange)[0]["path"] == "issues.0.tag"


@pytest.mark.req("QF-115")
async def test_a_diagnosis_reads_early_in_the_middle_and_late(tmp_path: Path) -> None:
    company = Company(
        says={"step_1_drift_diagnosis": [{"drift_report": {"sampled": ["pier", "room"]}}]}
    )
    company.usual["drift_report"] = {"sampled": ["pier", "cliff", "dark"]}
    company.usual["revised_prose"] = company.usual["scene_drafts"]
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        ran = await house.success("style_tune_up")
        ended = [e for e in ran.events("step.finished") if e["step"] == "step_1_drift_diagnosis"]
        assert [each["status"] for each in ended] == ["failed", "done"]
        assert "middle" in ended[0]["errors"][0] and "late" in ended[0]["errors"][0]


@pytest.mark.req("QF-142", "QF-143")
async def test_a_script_says_which_role_was_asked_for_what_without_a_line(tmp_path: Path) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    usual = Company().usual
    first = Line(
        envelope({"topology_notes": usual["topology_notes"]}),
        agent="plotwright",
        prompt_type="step_1_topology_draft",
    )
    never = Line("x", agent="translator")
    script = Script(first, never)
    async with open_scripted(root, script) as studio:
        args = {"policy": "playbook", "is_interactive": False}
        started = await studio.start("questfoundry/story_spark", args)
        run = await finish(studio, started.id, {})
    assert run.state is RunState.FAILED
    assert "'plotwright'" in str(run.error) and "'step_2_section_briefs'" in str(run.error)
    with pytest.raises(AssertionError, match="translator"):
        script.verify()


@pytest.mark.req("QF-141", "QF-144")
async def test_a_role_may_have_a_model_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "book"
    project = Project.init(root, pack="questfoundry")
    project.agents.write_text("- {id: gatekeeper, model: 'script:stern'}\n", "utf-8")
    company = Company()
    asked: list[tuple[str, str]] = []

    def speak(request: object) -> object:
        asked.append((request.agent_id, request.model))  # type: ignore[attr-defined]
        return company.speak(request)  # type: ignore[arg-type]

    async with open_scripted(root, Script(speak)) as studio:  # type: ignore[arg-type]
        args = {"policy": "playbook", "is_interactive": False}
        started = await studio.start("questfoundry/story_spark", args)
        assert (await finish(studio, started.id, {})).state is RunState.DONE
    models = dict(asked)
    assert "stern" in models["gatekeeper"] and "stern" not in models["plotwright"]


async def test_every_code_a_loop_names_is_known(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        assert {*HANDS_ON.values()} <= QuestChecks(house.foundry).names()
