"""Starting a recipe: arguments, agents, one at a time, and how many at once."""

from pathlib import Path

import anyio
import pytest
from little_house import SCENE, OpenHouse, detail, held, play, says

from callboard.choreography.recipe import MissingArgs, RecipeRunning
from callboard.choreography.staffing import AgentUnavailable
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.vocabulary import RunState, SignalKind
from callboard.models import Line, ModelRequest, Script
from callboard.store.journal.runs import list_runs
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio


@pytest.mark.req("CR-168", "CR-154")
async def test_arguments_come_from_the_call_then_from_the_words(open_house: OpenHouse) -> None:
    async with open_house() as studio:
        run = await play(studio)
        assert detail(studio, run)["task"]["initial_args"] == {"scene_path": SCENE}
        run = await play(studio, args={"scene_path": "Story/Scenes/SCN-09.md"})
        assert detail(studio, run)["committed"][0]["path"] == "Story/Scenes/SCN-09.md"
        run = await play(studio, scene_path="Story/Scenes/SCN-10.md")
        assert detail(studio, run)["committed"][0]["path"] == "Story/Scenes/SCN-10.md"
        run = await play(studio, description="", scene_path="Story/Scenes/SCN-11.md")
        described = detail(studio, run)["task"]["description"]
        assert described == "Draft a scene: Story/Scenes/SCN-11.md"


@pytest.mark.req("CR-168")
async def test_what_is_missing_or_unknown_is_named_before_anything_starts(
    open_house: OpenHouse,
) -> None:
    async with open_house() as studio:
        with pytest.raises(MissingArgs) as caught:
            await studio.start("little/draft", {"description": "Draft something"})
        assert caught.value.context["missing_args"] == ["scene_path"]
        with pytest.raises(NotFound, match="no choreography 'little/sing'"):
            await studio.start("little/sing", {})
        for wrong in ({"args": 3}, {"agents": ["x"]}, {"description": 4}):
            with pytest.raises(InvalidInput):
                await studio.start("little/draft", wrong)
        assert studio.database.read(list_runs) == []


@pytest.mark.req("CR-08", "CR-05")
async def test_the_first_enabled_agent_of_a_role_plays_it_unless_another_is_named(
    open_house: OpenHouse, project: Path
) -> None:
    script = Script(says())
    async with open_house(script) as studio:
        await play(studio)
        await play(studio, agents={"writer": "writer-002"}, scene_path="Story/b.md")
        asked = [c.request.agent_id for c in script.calls if c.request.prompt_type == "write"]
        assert asked == ["writer-001", "writer-002"]
        with pytest.raises(InvalidInput, match="poet"):
            await studio.start("little/draft", {"scene_path": "a.md", "agents": {"poet": "x"}})
        with pytest.raises(AgentUnavailable):
            await studio.start("little/draft", {"scene_path": "a.md", "agents": {"writer": "x"}})
    agents = "- {id: writer-001, enabled: false}\n- {id: writer-002, enabled: false}\n"
    (project / ".callboard" / "agents.yaml").write_text(agents)
    async with open_house() as studio:
        with pytest.raises(AgentUnavailable, match="'writer'"):
            await studio.start("little/draft", {"description": "Draft scene 5"})
        assert len(studio.database.read(list_runs)) == 2


@pytest.mark.req("CR-168")
async def test_one_recipe_is_not_run_twice_at_once(open_house: OpenHouse) -> None:
    script = Script(says(brief=held("brief")))
    async with open_house(script, single_flight="recipe") as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("brief")
        with pytest.raises(RecipeRunning) as caught:
            await studio.start("little/draft", {"description": "Draft scene 6"})
        assert caught.value.context["run_id"] == run.id
        other = await studio.start("little/report", {"scene_path": "Story/Scenes/SCN-01.md"})
        assert (await studio.engine.wait(other.id)).state is RunState.DONE
        await studio.engine.signal(run.id, SignalKind.CANCEL)
        again = await studio.retry(run.id)
        with pytest.raises(RecipeRunning):
            await studio.retry(run.id)
        script.release("brief")
        assert (await studio.engine.wait(again.id)).state is RunState.DONE


def states(studio: Studio, *runs: str) -> list[str]:
    return [studio.engine.load(run).state.value for run in runs]


async def until(studio: Studio, wanted: dict[str, str]) -> None:
    with anyio.fail_after(10):
        while states(studio, *wanted) != list(wanted.values()):
            await studio.engine._changes.next()


@pytest.mark.req("CR-120")
async def test_so_many_at_once_and_the_others_say_that_they_wait(open_house: OpenHouse) -> None:
    def answer(request: ModelRequest) -> Line | str:
        text = says()(request)
        return Line(str(text), hold=str(request.run_id)) if request.prompt_type == "brief" else text

    script = Script(answer)
    async with open_house(script, max_concurrent_runs=2) as studio:
        ids = [
            (await studio.start("little/draft", {"description": f"Draft scene {n}"})).id
            for n in range(5, 9)
        ]
        first, second, third, fourth = ids
        await script.reached(first)
        await script.reached(second)
        await until(studio, {third: "waiting", fourth: "waiting"})
        assert len(script.calls) == 2, "who waits has not begun"
        shown = detail(studio, third)
        assert (shown["status"], shown["steps"][0]["status"]) == ("waiting", "pending")
        script.release(first)
        await studio.engine.wait(first)
        await script.reached(third)
        await until(studio, {second: "running", third: "running", fourth: "waiting"})
        await studio.engine.signal(fourth, SignalKind.CANCEL)
        for each in (second, third):
            script.release(each)
            assert (await studio.engine.wait(each)).state is RunState.DONE
        assert states(studio, fourth) == ["cancelled"]


@pytest.mark.req("CR-120")
async def test_the_users_own_request_goes_before_a_plans(open_house: OpenHouse) -> None:
    script = Script(says(brief=held("brief")))
    async with open_house(script, max_concurrent_runs=1) as studio:
        plan = {"description": "Draft scene 5", "session_plan_task_id": 1}
        planned = await studio.start("little/draft", plan)
        await script.reached("brief")
        queued = await studio.start("little/draft", {**plan, "session_plan_task_id": 2})
        own = await studio.start("little/report", {"scene_path": "Story/Scenes/SCN-01.md"})
        await until(studio, {queued.id: "waiting", own.id: "waiting"})
        script.release("brief")
        for run in (own, planned, queued):
            await studio.engine.wait(run.id)
    order = list(dict.fromkeys(call.request.run_id for call in script.calls))
    assert order == [planned.id, own.id, queued.id]
    types = [(c.request.run_id == own.id, c.request.prompt_type) for c in script.calls]
    assert types[1] == (True, "report"), "the plan's run stands aside after its step"


@pytest.mark.req("CR-120")
async def test_a_paused_run_holds_nobody_up(open_house: OpenHouse) -> None:
    script = Script(says(brief=held("brief")))
    async with open_house(script, max_concurrent_runs=1) as studio:
        run = await studio.start("little/draft", {"description": "Draft scene 5"})
        await script.reached("brief")
        async with anyio.create_task_group() as group:
            group.start_soon(studio.engine.signal, run.id, SignalKind.PAUSE)
            await anyio.lowlevel.checkpoint()
            script.release("brief")
        await until(studio, {run.id: "paused"})
        other = await play(studio, "report", scene_path="Story/Scenes/SCN-01.md")
        assert other.state is RunState.DONE
        await studio.engine.signal(run.id, SignalKind.RESUME)
        assert (await studio.engine.wait(run.id)).state is RunState.DONE


async def test_fifty_runs_in_one_project_stay_correct(open_house: OpenHouse, project: Path) -> None:
    def answer(request: ModelRequest) -> Line | str:
        if request.prompt_type == "polish":
            number = request.prompt_text.partition("Draft scene ")[2].split()[0]
            return f'Scene number {number}.\n\nEvidence: slot:draft "Kael crossed the yard"'
        if request.prompt_type == "react":
            return 'Well.\n\nEvidence: slot:edited_draft "Scene number"'
        return says()(request)

    async with open_house(Script(answer), max_concurrent_runs=50) as studio:
        runs = {
            number: await studio.start("little/draft", {"description": f"Draft scene {number}"})
            for number in range(10, 60)
        }
        for run in runs.values():
            ended = await studio.engine.wait(run.id)
            assert ended.state is RunState.DONE, ended.error
    for number in runs:
        text = (project / f"Story/Scenes/SCN-{number}.md").read_text()
        assert text == f"Scene number {number}.\n"
