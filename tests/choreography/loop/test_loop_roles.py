"""Roles at work: what they are shown, what they may give, who may help, what fails a step."""

from collections.abc import Callable
from typing import Any

import pytest
from loopkit import HARVEST, SPARK, Company, Kit, envelope

from callboard.choreography.loop import LoopSettings, LoopStatus, RecordWorkspace, missing_prompts
from callboard.core.errors import ErrorTier
from callboard.core.vocabulary import RunState
from callboard.models import Failure, Line

pytestmark = pytest.mark.anyio
DRAFT = "step_1_topology_draft"
HOOKS = "step_4_hook_generation"
BARE = {"hooks": [{"hook_id": "HK-1"}]}


def said(kind: str, content: Any, **more: Any) -> str:
    return envelope({kind: content}, **more)


@pytest.mark.req("QF-44")
@pytest.mark.req("QF-80")
async def test_an_invalid_artifact_goes_back_with_index_and_field_and_is_mended(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={(HOOKS, "plotwright"): [BARE]}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    repair = f"4/{HOOKS}/plotwright/repair/1"
    assert (repair, "plotwright") in made.company.calls
    assert "hooks.0.title: is missing" in dict(made.company.prompts)[repair]


@pytest.mark.req("QF-44")
async def test_a_role_that_never_gives_what_fits_fails_the_step_and_nothing_is_stored(
    kit: Callable[..., Kit],
) -> None:
    text = SPARK.replace("produces: [hooks], required: false", "produces: [hooks]")
    made = kit(company=Company(says={(HOOKS, "plotwright"): [BARE] * 9}), loops=(text, HARVEST))
    ran = await made.run(policy="playbook")
    assert ran.run.state is RunState.FAILED
    assert ran.closed["status"] == "failed"
    assert ran.closed["error_code"] == "limit_reached"
    assert f"{HOOKS} failed 3 times: plotwright: hooks.0.title: is missing" in ran.closed["error"]
    assert not [each for each in ran.events("artifact.stored") if each["kind"] == "hooks"]
    # Three attempts of one call and two repairs; the other role was right the first time.
    assert len([k for k in made.company.asked(of="plotwright") if HOOKS in k]) == 9
    assert len([k for k in made.company.asked(of="scene_smith") if HOOKS in k]) == 1


async def test_the_human_may_let_a_failed_step_be_tried_again(kit: Callable[..., Kit]) -> None:
    text = SPARK.replace("produces: [hooks], required: false", "produces: [hooks]")
    made = kit(company=Company(says={(HOOKS, "plotwright"): [BARE] * 9}), loops=(text, HARVEST))
    ran = await made.run(policy="playbook", answers={"6/limit": "retry"})
    assert ran.result.success


async def test_an_optional_step_that_keeps_failing_is_left_out(kit: Callable[..., Kit]) -> None:
    made = kit(company=Company(says={(HOOKS, "plotwright"): [BARE] * 9}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert ran.result.steps[HOOKS] == "skipped"
    assert "hooks" not in ran.result.artifacts


@pytest.mark.req("QF-46")
async def test_roles_of_one_step_work_side_by_side_and_merge_in_the_order_of_the_roster(
    kit: Callable[..., Kit],
) -> None:
    mine = [{"hook_id": "HK-2", "title": "Mine"}, {"hook_id": "HK-9", "title": "Both"}]
    theirs = [{"hook_id": "HK-1", "title": "Theirs"}, {"hook_id": "HK-9", "title": "Both"}]
    company = Company(
        says={(HOOKS, "plotwright"): [{"hooks": mine}], (HOOKS, "scene_smith"): [{"hooks": theirs}]}
    )
    made = kit(company=company)
    async with made.open() as studio:
        started = await studio.start("loops/story_spark", {"policy": "playbook"})
        run = await studio.engine.wait(started.id)
        held = made.bring(studio).workspace
        stored = made.ran(studio, run).result.artifacts["hooks"]
        assert [each["hook_id"] for each in held.content(stored)] == ["HK-2", "HK-9", "HK-1"]


@pytest.mark.req("QF-46")
async def test_what_was_valid_of_a_failed_step_is_kept_for_the_next_attempt(
    kit: Callable[..., Kit],
) -> None:
    settings = LoopSettings(repairs=0)
    made = kit(company=Company(says={(HOOKS, "scene_smith"): [BARE]}), settings=settings)
    ran = await made.run(policy="playbook")
    assert ran.result.success
    asked = [key for key in made.company.asked() if HOOKS in key]
    assert [key.split("/")[2] for key in sorted(asked)] == [
        "plotwright",
        "scene_smith",
        "scene_smith",
    ]


@pytest.mark.req("QF-61")
async def test_what_is_missing_is_named_and_what_nobody_asked_for_is_dropped_and_told(
    kit: Callable[..., Kit],
) -> None:
    extra = {"topology_notes": {"body": "x"}, "hooks": []}
    company = Company(says={(DRAFT, "plotwright"): [{}, extra]})
    made = kit(company=company)
    ran = await made.run(policy="playbook")
    assert ran.result.success
    prompt = dict(made.company.prompts)[f"1/{DRAFT}/plotwright/repair/1"]
    assert "topology_notes: missing" in prompt
    first = next(each for each in ran.events("step.finished") if each["step"] == DRAFT)
    assert first["dropped"] == ["hooks"]


@pytest.mark.req("QF-47")
async def test_a_kind_that_no_step_of_the_loop_makes_is_a_scope_violation(
    kit: Callable[..., Kit],
) -> None:
    outside = {"topology_notes": {"body": "x"}, "style_addendum": {"body": "blue"}}
    made = kit(company=Company(says={(DRAFT, "plotwright"): [outside]}))
    ran = await made.run(policy="playbook")
    ended = [each for each in ran.events("step.finished") if each["step"] == DRAFT]
    assert [each["status"] for each in ended] == ["failed", "done"]
    assert ended[0]["errors"] == ["scope_violation: story_spark may not store style_addendum"]
    assert not [e for e in ran.events("artifact.stored") if e["kind"] == "style_addendum"]


@pytest.mark.req("QF-64")
@pytest.mark.parametrize(
    "reply",
    [
        "Here it is:\n```json\n{}\n```\nDone.",
        "{} Bye!",
    ],
)
async def test_an_envelope_is_found_in_whatever_surrounds_it(
    kit: Callable[..., Kit], reply: str
) -> None:
    said = '{"artifacts": [{"type": "topology_notes", "content": {"body": "x"}},]}'
    company = Company(says={(DRAFT, "plotwright"): [reply.replace("{}", said)]})
    made = kit(company=company)
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert len(made.company.calls) == 8


@pytest.mark.req("QF-64")
async def test_an_envelope_with_a_field_more_is_not_one(kit: Callable[..., Kit]) -> None:
    reply = said("topology_notes", {"body": "x"}, verdict="fine")
    made = kit(company=Company(says={(DRAFT, "plotwright"): [reply]}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert "verdict" in dict(made.company.prompts)[f"1/{DRAFT}/plotwright/repair/1"]


async def test_five_hundred_hooks_are_cut_to_what_somebody_can_read_and_told(
    kit: Callable[..., Kit],
) -> None:
    flood = [{"hook_id": f"HK-{n}", "title": "x"} for n in range(500)]
    made = kit(company=Company(says={(HOOKS, "plotwright"): [{"hooks": flood}]}))
    ran = await made.run(policy="playbook")
    ended = next(each for each in ran.events("step.finished") if each["step"] == HOOKS)
    assert ended["dropped"] == ["hooks: 500 entries, the first 200 kept"]


def suggesting(*roles: str) -> str:
    wish = {"roles": list(roles), "reason": "the timeline"}
    return said("topology_notes", {"body": "mine", "x_more": {"a": "1"}}, collaboration=wish)


@pytest.mark.req("QF-26")
@pytest.mark.req("QF-62")
async def test_a_helper_that_is_approved_adds_to_the_work_and_the_lead_has_the_word(
    kit: Callable[..., Kit],
) -> None:
    helped = {"topology_notes": {"body": "theirs", "x_more": {"b": "2"}}}
    company = Company(
        says={(DRAFT, "plotwright"): [suggesting("lore_weaver")], (DRAFT, "lore_weaver"): [helped]}
    )
    made = kit(company=company)
    async with made.open() as studio:
        started = await studio.start("loops/story_spark", {"is_interactive": False})
        run = await studio.engine.wait(started.id)
        held = made.bring(studio).workspace
        ran = made.ran(studio, run)
        stored = ran.result.artifacts["topology_notes"]
        assert held.content(stored) == {"body": "mine", "x_more": {"a": "1", "b": "2"}}
        row = held._records.get("artifact", stored.id)
        assert row["alternatives"] == {"lore_weaver": {"body": "theirs"}}
    (told,) = ran.events("collaboration")
    assert (told["suggested"], told["approved"], told["valid"]) == ("lore_weaver", True, True)
    assert "the timeline" in dict(made.company.prompts)[f"1/{DRAFT}/with/lore_weaver/ask"]
    assert ran.decisions("decide_collaboration")[0]["decision"]["approved"]


@pytest.mark.req("QF-26")
async def test_a_helper_that_is_denied_is_not_asked_and_the_step_goes_on(
    kit: Callable[..., Kit],
) -> None:
    company = Company(says={(DRAFT, "plotwright"): [suggesting("lore_weaver")]})
    company.decides["join"] = [{"approved": False, "reason": "no time"}]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert not [key for key, _ in made.company.calls if "/with/" in key]
    (told,) = ran.events("collaboration")
    assert (told["approved"], told["reason"]) == (False, "no time")
    # The playbook would have asked one who is consulted.
    assert ran.decisions("decide_collaboration")[0]["deviates_from_playbook"]


@pytest.mark.req("QF-57")
async def test_nobody_decides_about_a_helper_that_cannot_be(kit: Callable[..., Kit]) -> None:
    wanted = suggesting("plotwright", "illustrator", "researcher", "lore_weaver", "style_lead")
    company = Company(says={(DRAFT, "plotwright"): [wanted]})
    text = SPARK + "limits: {collaborators: 1}\n"
    made = kit(company=company, loops=(text, HARVEST))
    ran = await made.run()
    reasons = {each["suggested"]: each["reason"] for each in ran.events("collaboration")}
    assert reasons == {
        "plotwright": "plotwright is already at work on this step",
        "illustrator": "there is no role illustrator",
        "researcher": "researcher is asleep for this unit",
        "lore_weaver": "it helps",
        "style_lead": "1 helpers are as many as a step may have",
    }
    assert len([key for key, _ in made.company.calls if "/join/" in key]) == 1


@pytest.mark.req("QF-21")
async def test_a_role_is_shown_its_task_and_its_inputs_and_neither_registry_nor_context(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    await made.run()
    for key, prompt in made.company.prompts:
        is_role = not key.endswith(("/next", "/stable", "/block"))
        assert ("typical_inputs" in prompt) is False
        assert ("available_steps" in prompt) is not is_role
        if is_role:
            assert "stabilization_criteria" not in prompt and "often_follows" not in prompt
    prose = next(text for key, text in made.company.prompts if "step_3_prose_pass" in key)
    assert "topology_notes 2" in prose and "section_briefs 4" in prose
    briefs = next(text for key, text in made.company.prompts if "step_2_section" in key)
    assert "scene_drafts" not in briefs


@pytest.mark.req("QF-66", "QF-71")
@pytest.mark.req("QF-67")
@pytest.mark.req("QF-69")
async def test_the_parts_of_a_prompt_stand_in_their_order(kit: Callable[..., Kit]) -> None:
    made = kit()
    await made.run()
    lead = dict(made.company.prompts)["1/next"]
    first = "CONTRACT\n\n---\n\nCONTEXT\n\n---\n\nSAFETY\n\n---\n\nADAPTER OF showrunner"
    assert f"{first}\n\n---\n\nSYSTEM\n\n---\n\nORCHESTRATION\n\n---\n\n" in lead
    role = dict(made.company.prompts)[f"1/{DRAFT}/plotwright/ask"]
    parts = role.split("\n\n---\n\n")
    assert parts[0].endswith("CONTRACT") and parts[1].startswith("topology_notes: ")
    assert parts[2:4] == ["CONTEXT", "SAFETY"]
    assert parts[4].startswith("ADAPTER OF plotwright")
    assert "SYSTEM" not in role and "FULL PROMPT" not in role
    # Of the schemas, only those the role may have to fill.
    assert "style_feedback" not in role and "section_briefs" in parts[1]


@pytest.mark.req("QF-72")
async def test_a_missing_prompt_fails_before_anybody_is_asked(kit: Callable[..., Kit]) -> None:
    made = kit(without=("adapters/style_lead",))
    ran = await made.run()
    assert ran.run.state is RunState.FAILED
    assert made.company.calls == []
    assert ran.run.error is not None
    assert "adapters/style_lead.md of role 'style_lead' is not there" in ran.run.error.message
    async with made.open() as studio:
        (missing,) = missing_prompts(studio, made.bring(studio))
        assert missing.context["path"] == "prompts/adapters/style_lead.md"


@pytest.mark.req("QF-52")
@pytest.mark.req("QF-54")
async def test_a_role_that_is_woken_again_remembers_what_it_did(kit: Callable[..., Kit]) -> None:
    made = kit()
    ran = await made.run(policy="playbook")
    second = dict(made.company.prompts)["2/step_2_section_briefs/plotwright/ask"]
    assert "# step_1_topology_draft" in second
    woken = [each["role"] for each in ran.events("role.woken")]
    assert woken == [*dict.fromkeys(woken)] and "plotwright" in woken
    assert sorted(each["role"] for each in ran.events("role.dormant")) == sorted(woken)


async def test_old_exchanges_of_a_session_are_summed_up_in_a_line(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "again"}] * 4
    made = kit(company=company, settings=LoopSettings(history_turns=4))
    await made.run()
    fifth = dict(made.company.prompts)[f"4/{DRAFT}/plotwright/ask"]
    assert "Earlier in this session:\n- step_1_topology_draft: made topology_notes" in fifth
    assert fifth.count("# step_1_topology_draft") == 3


@pytest.mark.req("QF-65")
async def test_a_step_of_a_sleeping_role_is_skipped_with_a_tag_and_done_when_it_is_awake(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    await made.run(policy="playbook")
    ran = await made.run("hook_harvest", policy="playbook")
    assert ran.result.success
    assert ran.result.steps["step_2_research"] == "skipped"
    assert ran.result.deferrals == ("deferred:research",)
    made.company.calls.clear()
    again = await made.run(
        "hook_harvest", policy="playbook", unit="unit-hook_harvest", awake="researcher"
    )
    assert again.result.success and again.result.deferrals == ()
    # What was made before still holds: only the new step and the gate, which was fed less, run.
    assert made.company.steps_taken == ["step_2_research", "step_3_gate"]
    assert again.result.steps["step_1_collect"] == "reused"


async def test_a_role_may_not_be_shown_what_it_may_not_read(kit: Callable[..., Kit]) -> None:
    class Guarded(RecordWorkspace):
        def content(self, artifact: Any, reader: str | None = None) -> Any:
            if reader == "style_lead":
                raise PermissionError("style_lead may not read drafts")
            return super().content(artifact, reader)

    made = kit(workspace=Guarded)
    ran = await made.run(policy="playbook")
    assert ran.run.state is RunState.FAILED
    assert "style_lead may not read drafts" in ran.closed["error"]
    assert made.company.asked(of="style_lead") == []


@pytest.mark.req("QF-07")
async def test_whatever_goes_wrong_inside_is_told_in_the_result_and_closes_the_unit(
    kit: Callable[..., Kit],
) -> None:
    class Broken(RecordWorkspace):
        def check(self, kind: str, content: Any) -> Any:
            if kind == "scene_drafts":
                raise ZeroDivisionError("a fault of the pack")
            return super().check(kind, content)

    made = kit(workspace=Broken)
    ran = await made.run(policy="playbook")
    assert ran.result.status is LoopStatus.FAILED
    assert ran.closed["error"] == "ZeroDivisionError: a fault of the pack"
    assert ran.events("closed") == [{"unit": "unit-story_spark", "status": "failed"}]
    assert len(ran.events("role.dormant")) == 2
    assert len(ran.events("checkpoint")) == 1
    assert set(ran.closed["artifacts"]) == {"topology_notes", "section_briefs"}


async def test_code_of_the_pack_that_fails_fails_its_step(kit: Callable[..., Kit]) -> None:
    def broken(_view: Any) -> Any:
        raise ZeroDivisionError("a fault of the pack")

    made = kit(code={"hand_on": broken})
    ran = await made.run(policy="playbook")
    assert "step_8_triage_handoff failed 3 times" in ran.closed["error"]
    assert len(made.company.calls) == 8


@pytest.mark.req("QF-144")
async def test_a_provider_that_stumbles_fails_an_attempt_and_one_without_a_key_the_run(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={(DRAFT, "plotwright"): [Line(fail=Failure(500))]}))
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert ran.result.validation["failed_attempts"] == 1
    second = Kit(
        made.root / "b", company=Company(says={(DRAFT, "plotwright"): [Line(fail=Failure(401))]})
    )
    ran = await second.run(policy="playbook")
    assert ran.run.state is RunState.FAILED
    assert len(second.company.calls) == 1
    assert ran.run.error is not None and ran.run.error.tier is ErrorTier.USER_FIXABLE
    assert "HTTP 401" in ran.run.error.message and ran.run.error.fix


async def test_the_roster_of_a_project_may_prefer_somebody_else(kit: Callable[..., Kit]) -> None:
    made = kit(overrides={"step_3_prose_pass": "plotwright", "gatekeeper": "plotwright"})
    ran = await made.run(policy="playbook")
    assert ran.result.success
    assert [k for k in made.company.asked(of="plotwright") if "step_3" in k]
    # Nobody takes the gate from its keeper.
    assert [k for k in made.company.asked(of="gatekeeper") if "step_7" in k]
