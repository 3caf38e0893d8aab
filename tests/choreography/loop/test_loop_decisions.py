"""The Showrunner: what it may decide, what code makes of it, and what stands on record."""

from collections.abc import Callable
from typing import Any

import pytest
from loopkit import Company, Kit

from callboard.choreography.loop import (
    LoopDriver,
    LoopRequest,
    LoopResult,
    LoopSettings,
    LoopStatus,
    PromptMode,
    StoredArtifact,
    ask_alone,
    decide_next_loop,
    play_chain,
    suggest_loop,
)
from callboard.choreography.loop.prompting import LoopPrompts, prompt_parts
from callboard.choreography.stage import Stage
from callboard.core.vocabulary import RunState

pytestmark = pytest.mark.anyio


def orders(*numbers: int, **more: Any) -> list[Any]:
    """Return decisions for steps by number; `more` belongs to the last."""
    made: list[Any] = [{"step": f"step_{n}", "reason": "because"} for n in numbers]
    made[-1] |= more
    return made


@pytest.mark.req("QF-25")
@pytest.mark.req("QF-37")
async def test_a_step_may_be_given_to_another_role_and_that_is_a_deviation_on_record(
    kit: Callable[..., Kit],
) -> None:
    company = Company()
    company.decides["next"] = orders(1, 2, 3, role="plotwright")
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert [k for k in made.company.asked(of="plotwright") if "step_3" in k]
    assert not [k for k in made.company.asked(of="scene_smith") if "step_3" in k]
    # The fourth step wakes who was not woken before.
    assert [k for k in made.company.asked(of="scene_smith") if "step_4" in k]
    record = ran.decisions("decide_step")[2]
    assert record["deviates_from_playbook"] and not record["fallback"]
    assert record["decision"]["role"] == "plotwright"
    assert record["decision"]["reason"] == "because"
    assert ran.result.stats["deviations"] == 1


@pytest.mark.req("QF-32")
@pytest.mark.parametrize(
    ("order", "fault"),
    [
        ({"step": "step_9_dance", "reason": "x"}, "'step_9_dance' is no step of this loop."),
        ({"step": "step_3", "reason": "x"}, "it needs topology_notes, section_briefs"),
        ({"step": "step_1", "reason": "x", "role": "baker"}, "There is no role 'baker'."),
        ({"step": "step_1", "reason": "x", "role": "researcher"}, "researcher is asleep"),
        ({"step": "step_1", "reason": "x", "adopt": True}, "Nothing that exists can be adopted"),
        (
            {"step": "step_1", "reason": "x", "drop": [{"step": "step_2", "reason": "x"}]},
            "step_2 cannot be dropped",
        ),
        (
            {"step": "step_1", "reason": "x", "dismiss": [{"request": "R1", "reason": "x"}]},
            "R1 cannot be dismissed",
        ),
    ],
)
async def test_a_decision_that_cannot_be_followed_is_asked_again_then_the_playbook_stands_in(
    kit: Callable[..., Kit], order: Any, fault: str
) -> None:
    company = Company()
    company.decides["next"] = [order, order]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    first = ran.decisions("decide_step")[0]
    assert first["fallback"] and fault in first["why"]
    assert first["decision"]["step"] == "step_1_topology_draft"
    again = dict(made.company.prompts)["1/next/again"]
    assert f"Your last answer cannot be used: {first['why']}" in again
    # One call more than a straight pass.
    assert len(made.company.calls) == 18
    assert ran.result.stats["fallbacks"] == 1


async def test_a_decision_that_is_mended_is_followed(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next"] = [{"step": "step_7", "reason": "x"}, {"step": "step_1", "reason": "y"}]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.stats["fallbacks"] == 0
    assert ran.decisions("decide_step")[0]["decision"]["reason"] == "y"


@pytest.mark.req("QF-08")
async def test_no_decision_takes_the_gate_from_its_keeper_or_leaves_out_a_required_step(
    kit: Callable[..., Kit],
) -> None:
    company = Company()
    company.decides["next"] = [*orders(1, 2, 3), *orders(7, role="plotwright") * 2]
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert not [k for k in made.company.asked(of="plotwright") if "step_7" in k]
    assert "step_7_preview_gate is done by gatekeeper and nobody else." in [
        each["why"] for each in ran.decisions("decide_step")
    ]
    taken = {each["step"] for each in ran.events("step.started")}
    assert {f"step_{n}" for n in (1, 2, 3, 7, 8)} <= {"_".join(s.split("_")[:2]) for s in taken}


async def test_a_loop_may_stop_as_soon_as_it_is_stable(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next"] = orders(1, 2, 3, 7, 8)
    made = kit(company=company)
    ran = await made.run()
    assert ran.result.success
    assert len(made.company.calls) == 5 + 4 + 1
    assert ran.result.steps["step_5_style_check"] == "pending"
    assert ran.result.next_loop is None


@pytest.mark.req("QF-35")
async def test_only_what_can_be_taken_is_offered(kit: Callable[..., Kit]) -> None:
    made = kit()
    await made.run()
    prompts = dict(made.company.prompts)
    assert prompts["1/next"].count("(pending") == 2
    assert "- step_1_topology_draft (pending, plotwright)" in prompts["1/next"]
    assert "- step_4_hook_generation (pending, plotwright, scene_smith)" in prompts["4/next"]
    assert "step_3_prose_pass (pending" not in prompts["2/next"]


@pytest.mark.req("QF-41")
async def test_an_existing_draft_is_adopted_only_if_what_it_was_made_from_is_unchanged(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    await made.run()
    made.company.calls.clear()
    made.company.decides["next"] = [
        *orders(1, adopt=True),
        *orders(2, adopt=True),
        *orders(3, 4, 5, 6, 7),
    ]
    ran = await made.run()
    assert ran.result.success
    assert made.company.steps_taken[0] == "step_3_prose_pass"
    assert ran.result.steps["step_1_topology_draft"] == "reused"
    told = [e for e in ran.events("step.finished") if e["status"] == "reused"]
    assert "topology_notes-" in told[0]["why"]
    assert all(each["deviates_from_playbook"] for each in ran.decisions("decide_step")[:2])
    # After another topology the old briefs are of no use.
    another = {"topology_notes": {"body": "another"}}
    made.company.says[("step_1_topology_draft", "plotwright")] = [another]
    made.company.decides["next"] = [*orders(1), *orders(2, adopt=True) * 2]
    ran = await made.run()
    second = ran.decisions("decide_step")[1]
    assert second["fallback"]
    assert second["why"] == "Nothing that exists can be adopted for step_2_section_briefs."


@pytest.mark.req("QF-30")
async def test_the_human_is_asked_with_options_and_words_of_their_own_and_never_in_a_batch(
    kit: Callable[..., Kit],
) -> None:
    asked = {"text": "Shall she live?", "options": ["yes", "no"], "default": "yes"}
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "x", "ask_human": asked}]
    made = kit(company=company)
    ran = await made.run(answers={"1/ask": "Only until spring."})
    assert ran.result.success
    assert "the answer is 'Only until spring.'" in dict(made.company.prompts)["2/next"]
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "x", "ask_human": asked}]
    batch = Kit(made.root / "batch", company=company)
    ran = await batch.run()
    assert ran.result.success
    assert "the answer is 'yes'" in dict(batch.company.prompts)["2/next"]


@pytest.mark.req("QF-30")
async def test_a_question_with_one_option_or_five_is_no_question(kit: Callable[..., Kit]) -> None:
    asked = {"text": "Well?", "options": ["yes"], "default": "yes"}
    company = Company()
    company.decides["next"] = [{"step": "step_1", "reason": "x", "ask_human": asked}] * 9
    made = kit(company=company)
    ran = await made.run()
    assert ran.decisions("decide_step")[0]["fallback"]
    assert ran.result.success


@pytest.mark.req("QF-22")
async def test_every_prompt_is_measured_by_component_and_stands_in_the_decision_log(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    ran = await made.run()
    record = ran.decisions("decide_step")[3]
    assert set(record["context"]) == {"contract", "system", "tier2", "state", "message"}
    assert record["context"]["system"]["lines"] == 5
    assert record["context_lines"] == sum(each["lines"] for each in record["context"].values())
    assert record["context_tokens"] > 50
    assert record["model"].startswith("script") and record["prompt_id"].startswith("prm_")
    assert record["context"]["state"]["lines"] <= 120


async def test_the_state_is_never_longer_than_allowed(kit: Callable[..., Kit]) -> None:
    made = kit(settings=LoopSettings(state_lines=6))
    ran = await made.run()
    sizes = [each["context"]["state"]["lines"] for each in ran.decisions("decide_step")]
    assert max(sizes) == 6
    assert "more lines)" in dict(made.company.prompts)["5/next"]


@pytest.mark.req("QF-18")
async def test_the_context_of_a_loop_holds_all_that_is_needed_to_run_it(
    kit: Callable[..., Kit],
) -> None:
    import yaml

    made = kit()
    async with made.open() as studio:
        prompts = LoopPrompts(studio, made.bring(studio), made.registry.get("story_spark"))
        tree = yaml.safe_load(prompts.context_layer().content.text)
        assert set(tree) == {
            "goal",
            "available_steps",
            "scope_constraints",
            "stabilization_criteria",
            "typical_flow",
        }
        assert list(tree["available_steps"]["step_3_prose_pass"]) == [
            "description",
            "playbook_recommends",
            "produces",
            "requires",
            "can_iterate",
        ]
        criteria = tree["stabilization_criteria"]
        short = [name.split("_")[1] for name in criteria["required_steps"]]
        assert short == ["1", "2", "3", "7", "8"]
        assert criteria["gatekeeper_approved"] and criteria["all_artifacts_valid"]
        assert criteria["no_pending_revisions"]
        assert "hook_harvest" not in prompts.context_layer().content.text


@pytest.mark.req("QF-19")
async def test_the_context_is_there_while_the_loop_runs_and_not_after(
    kit: Callable[..., Kit],
) -> None:
    made = kit()
    drivers: list[LoopDriver] = []

    async def perform(stage: Stage) -> Any:
        house = made.bring(stage.studio)
        request = LoopRequest("story_spark", policy="llm", is_interactive=False)
        drivers.append(LoopDriver(stage, house, house.registry.get("story_spark"), request))
        return (await drivers[0].perform()).to_json()

    await on_stage(made, perform)
    assert not drivers[0].play.prompts.holds_context
    assert "available_steps" in dict(made.company.prompts)["1/next"]


async def on_stage(made: Kit, perform: Callable[[Stage], Any], answers: Any = None) -> Any:
    """Have a function over a stage performed in a run of its own."""
    from callboard.choreography import choreography
    from callboard.testing.witness import finish

    async def play(stage: Stage) -> Any:
        """Play it."""
        return await perform(stage)

    made.extra["play"] = choreography(play)
    async with made.open() as studio:
        started = await studio.start("loops/play", {})
        run = await finish(studio, started.id, answers or {})
        assert run.state is RunState.DONE, run.error
        return run.result


DONE = LoopResult("story_spark", LoopStatus.SUCCESS, "unit-1", next_loop="hook_harvest")
CARDS = (StoredArtifact("hooks", "hooks-1", "0" * 64, note="12 cards"),)


@pytest.mark.req("QF-23")
async def test_the_next_loop_is_chosen_from_the_registry_alone_with_reasons(
    kit: Callable[..., Kit],
) -> None:
    company = Company()
    said = {"suggested_loop": "hook_harvest", "reasoning": ["twelve cards wait"], "confidence": 0.9}
    company.decides["next_loop"] = [said]
    made = kit(company=company)

    async def perform(stage: Stage) -> Any:
        chosen = await decide_next_loop(stage, made.bring(stage.studio), DONE, CARDS, "llm")
        assert chosen is not None
        return chosen.answer.model_dump(mode="json")

    found = await on_stage(made, perform)
    assert found["suggested_loop"] == "hook_harvest"
    assert found["reasoning"] == ["twelve cards wait"]
    prompt = dict(made.company.prompts)["next_loop"]
    assert "often_precedes" in prompt and "hooks v1, 12 cards" in prompt
    assert "available_steps" not in prompt


async def test_a_loop_that_does_not_exist_is_not_chosen(kit: Callable[..., Kit]) -> None:
    company = Company()
    company.decides["next_loop"] = [{"suggested_loop": "hook_harvst", "reasoning": ["x"]}] * 2
    made = kit(company=company)

    async def perform(stage: Stage) -> Any:
        chosen = await decide_next_loop(stage, made.bring(stage.studio), DONE, CARDS, "llm")
        assert chosen is not None and chosen.is_fallback
        return [chosen.answer.suggested_loop, chosen.why]

    loop, why = await on_stage(made, perform)
    assert loop == "hook_harvest"
    assert why == "Unknown loop: hook_harvst. Closest: hook_harvest, harvest."


def test_the_playbook_suggests_what_was_handed_on_and_can_be_run(kit: Callable[..., Kit]) -> None:
    registry = kit().registry
    found = suggest_loop(registry, DONE, CARDS)
    assert found is not None and found.suggested_loop == "hook_harvest"
    assert "it takes hooks" in found.reasoning
    # Without cards nothing can be harvested.
    none = suggest_loop(registry, DONE, ())
    assert none is not None and none.suggested_loop == "story_spark"


@pytest.mark.req("QF-34")
@pytest.mark.parametrize(("answer", "loops"), [("go on", 2), ("stop here", 1)])
async def test_a_chain_goes_on_as_far_as_the_human_agrees(
    kit: Callable[..., Kit], answer: str, loops: int
) -> None:
    made = kit()

    async def perform(stage: Stage) -> Any:
        request = LoopRequest("story_spark", policy="playbook")
        played = await play_chain(stage, made.bring, "story_spark", request)
        return [each.to_json() for each in played]

    played = await on_stage(made, perform, {"hop/1/confirm": answer})
    assert [each["status"] for each in played] == ["success"] * loops
    assert [each["loop"] for each in played] == ["story_spark", "hook_harvest"][:loops]


@pytest.mark.req("QF-68")
@pytest.mark.req("QF-70")
async def test_a_role_alone_has_its_full_prompt_no_driver_and_the_same_checks(
    kit: Callable[..., Kit],
) -> None:
    made = kit(company=Company(says={("alone", "plotwright"): ["no envelope", {"hooks": []}]}))

    async def perform(stage: Stage) -> Any:
        house = made.bring(stage.studio)
        said = await ask_alone(stage, house, "plotwright", "Any hooks?", ["hooks"])
        assert said.response is not None and said.response.valid
        layers = prompt_parts(
            stage.studio.prompts("loops"),
            "showrunner",
            PromptMode.STANDALONE,
            "INDEX",
            showrunner=True,
        )
        return [[each.kind for each in said.artifacts], [each.content.text for each in layers]]

    kinds, parts = await on_stage(made, perform)
    assert kinds == ["hooks"]
    assert parts == ["CONTRACT", "INDEX", "CONTEXT", "SAFETY", "FULL PROMPT OF showrunner"]
    prompt = dict(made.company.prompts)["ask"]
    assert "FULL PROMPT OF plotwright" in prompt and "ADAPTER" not in prompt
    assert len(made.company.calls) == 2
