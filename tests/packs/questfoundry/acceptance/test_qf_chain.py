"""Loops in a row: who is awake in each, what each starts from, and how the chain says it ended."""

import json
from pathlib import Path
from typing import Any

import pytest
from questkit import TOPOLOGY, Company, House, changed, hook, open_house

from callboard.choreography.loop import MissingLoopInput
from callboard.cli.handlers.following import Followed
from callboard.core.vocabulary import RunRecord, RunState
from callboard.packs.questfoundry.doors.telling import conclude_loop
from callboard.packs.questfoundry.operations import begin_book, operations_on
from callboard.packs.questfoundry.roster import ROSTER
from callboard.studio.project import Project
from callboard.testing.witness import finish
from warm_process import call_warm

pytestmark = pytest.mark.anyio
DANGLING = changed(TOPOLOGY, "choices", 1, "to", value="attic")


async def chain(house: House, first: str = "story_spark", **args: Any) -> RunRecord:
    given = {"first": first, "policy": "playbook", "is_interactive": False, **args}
    started = await house.studio.start("questfoundry/chain", given)
    return await finish(house.studio, started.id, {})


def styled(company: Company) -> Company:
    company.usual["drift_report"] = {"sampled": ["pier", "cliff", "dark"]}
    company.usual["revised_prose"] = company.usual["scene_drafts"]
    return company


@pytest.mark.req("QF-34", "QF-65")
@pytest.mark.parametrize(
    ("awake", "then"), [((), "gatecheck"), (("art_director",), "art_touch_up")]
)
async def test_in_each_loop_of_a_chain_those_are_awake_whom_the_plan_and_the_loop_wake(
    tmp_path: Path, awake: tuple[str, ...], then: str
) -> None:
    company = styled(Company())
    async with open_house(tmp_path / "book", company) as house:
        await operations_on(house.studio).perform(begin_book, "The Lamp", awake=awake)
        await house.success("story_spark")
        run = await chain(house, "style_tune_up", most=2)
        assert run.error is None
        results = run.result["loops"]
        # Prose goes to the pictures only if somebody plans them.
        assert results[0]["next_loop"] == then
        unit = house.foundry.units.find(results[0]["unit"])
        assert set(unit.awake) == {*awake}


@pytest.mark.req("QF-65")
def test_fifteen_roles_of_which_six_may_sleep() -> None:
    assert len(ROSTER) == 15
    assert {each.id: each.deferral for each in ROSTER if each.may_sleep} == {
        "researcher": "deferred:research",
        "art_director": "deferred:art",
        "illustrator": "deferred:art",
        "audio_director": "deferred:audio",
        "audio_producer": "deferred:audio",
        "translator": "deferred:translation",
    }


@pytest.mark.req("QF-34", "QF-147")
@pytest.mark.parametrize(
    ("lines", "code", "loops"),
    [
        ({}, 0, ["story_spark", "hook_harvest"]),
        ({"topology_notes": DANGLING}, 4, ["story_spark"]),
        ({"topology_notes": {}}, 1, ["story_spark"]),
    ],
)
async def test_the_exit_code_of_a_chain_is_that_of_its_last_loop(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lines: dict[str, Any],
    code: int,
    loops: list[str],
) -> None:
    company = Company()
    company.usual |= {"hooks": {"hooks": [hook("A bell rings")]}, **lines}
    async with open_house(tmp_path / "book", company) as house:
        if not lines:
            # The harvest decides both: the one of an earlier spark, and the one of this chain.
            await house.success("story_spark")
            (raised,) = house.foundry.hooks.in_state("proposed")
            late = {"decision": "deferred", "wake_condition": "in spring"}
            ids = (raised.id, f"{raised.id[:-2]}02")
            rows = [{"hook_id": each, **late} for each in ids]
            company.usual["triage_decisions"] = {"decisions": rows}
            notes = [{"hook_id": raised.id, "role": "plotwright"}]
            company.usual["hook_annotations"] = {"notes": notes}
        run = await chain(house, most=2)
        capsys.readouterr()
        assert conclude_loop(house.studio, Followed(run), as_json=True) == code
        told = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert [each["loop"] for each in told["loops"]] == loops
        assert told["unit"]["loop"] == loops[-1]
        assert conclude_loop(house.studio, Followed(run), as_json=False) == code
        assert loops[-1] in capsys.readouterr().out


@pytest.mark.req("QF-34")
async def test_a_chain_that_waits_for_a_human_says_three(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_house(tmp_path / "book") as house:
        args = {"first": "story_spark", "policy": "playbook", "is_interactive": True}
        started = await house.studio.start("questfoundry/chain", args)
        waiting = await house.studio.engine.wait(started.id, settled=True)
        assert waiting.state is RunState.WAITING
        assert conclude_loop(house.studio, Followed(waiting), as_json=True) == 3
        # Stopped between two loops, it worked.
        run = await finish(house.studio, started.id, {"hop/1/confirm": "stop here"})
        assert run.state is RunState.DONE
        assert conclude_loop(house.studio, Followed(run), as_json=True) == 0
    assert capsys.readouterr().out


@pytest.mark.req("QF-147")
def test_a_chain_whose_first_loop_fails_ends_with_one(tmp_path: Path) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    (root / "replies.json").write_text('{"replies": [{"text": "No.", "times": "always"}]}', "utf-8")
    words = ("--batch", "--policy", "playbook", "--model", "script:replies.json", "--json")
    called = call_warm("quest", "chain", "story_spark", *words, cwd=root)
    assert called.returncode == 1, called.stderr
    assert json.loads(called.stdout.splitlines()[-1])["unit"]["outcome"] == "failed"


@pytest.mark.req("QF-150")
async def test_a_loop_starts_from_what_is_named_else_the_unit_before_else_the_newest(
    tmp_path: Path,
) -> None:
    company = styled(Company())
    async with open_house(tmp_path / "book", company) as house:
        with pytest.raises(MissingLoopInput, match=r"scene_drafts.*story_spark"):
            await house.run("style_tune_up")
        with pytest.raises(MissingLoopInput, match=r"scene_drafts.*story_spark"):
            await chain(house, "style_tune_up")
        assert company.calls == [] and house.foundry.units.all() == []
        first, second, third = [await house.success("story_spark") for _ in range(3)]

        def prose(ran: Any) -> str:
            return str(ran.unit.made["scene_drafts"]["ref"])

        newest = await house.success("style_tune_up")
        assert newest.unit.inputs["scene_drafts"] == prose(third)
        before = await house.success("style_tune_up", upstream=[second.unit.id])
        assert before.unit.inputs["scene_drafts"] == prose(second)
        named = await house.success(
            "style_tune_up", upstream=[second.unit.id], inputs={"input1": prose(first)}
        )
        assert named.unit.inputs["scene_drafts"] == prose(first)


async def test_five_hundred_story_hooks_are_cut_and_every_door_says_so(tmp_path: Path) -> None:
    many = {"hooks": {"hooks": [hook(f"Hook number {n} of many") for n in range(500)]}}
    company = Company(says={("step_4_hook_generation", "plotwright"): [many]})
    async with open_house(tmp_path / "book", company) as house:
        ran = await house.success("story_spark")
        (told,) = [e for e in ran.events("step.finished") if "hook_generation" in e["step"]]
        assert told["dropped"] == ["hooks.hooks: 500 entries, the first 200 kept"]
        # The other role's one is there, too, and each is filed once.
        assert len(house.foundry.hooks.in_state("proposed")) == 201
