"""A budget that is used up does not kill a run: it asks, waits, and goes on where it was."""

import re
from typing import Any

import pytest

from callboard.choreography.holdups import GO_ON, RAISE_PATTERN, STOP, raise_for
from callboard.core.errors import ErrorTier, InvalidInput
from callboard.core.run_events import QuestionAnswered, QuestionAsked
from callboard.core.vocabulary import RunState
from callboard.models import Line, Script, Usage
from callboard.models.accounts import BudgetExceeded, Limits, Scope, list_calls, load_budgets
from callboard.prompts import list_prompts, load_prompt
from callboard.store.journal.events import read_events
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import load_journal

pytestmark = pytest.mark.anyio

THREE = (
    "@choreography\n"
    "async def play(stage: Stage) -> Any:\n"
    "    said = []\n"
    "    for n in range(3):\n"
    "        reply = await stage.ask(f'say/{n}', 'writer', prompt='say')\n"
    "        said.append(reply.text)\n"
    "    return said\n"
)
BRANCHES = (
    "@choreography\n"
    "async def play(stage: Stage) -> Any:\n"
    "    async def one(branch: Stage) -> str:\n"
    "        return (await branch.ask('say', 'writer')).text\n"
    "    done = await stage.collect({str(n): one for n in range(6)})\n"
    "    return [outcome.value for outcome in done.values()]\n"
)


async def session_of(studio: Any) -> Scope:
    session = await studio.sessions.current()
    return Scope.parse(f"session:{session.id}")


async def asked(studio: Any, run_id: str, after: int = 0) -> Any:
    async for event in studio.engine.events(run_id=run_id, after=after):
        if isinstance(event.body, QuestionAsked):
            return event
    raise AssertionError("unreachable")


def keys(studio: Any, run_id: str) -> list[str]:
    return list(studio.database.read(lambda c: load_journal(c, studio.engine.load(run_id))))


async def test_a_used_up_budget_asks_and_the_run_goes_on_when_it_is_raised(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(THREE, {"say": "Say it."})
    script = Script(Line("aye", usage=Usage(10, 5), times=None))
    async with open_studio(script, pack) as studio:
        accounts = studio.accounts
        scope = await session_of(studio)
        await accounts.set_limits(scope, Limits(calls=2))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        waiting = await studio.engine.wait(run.id, settled=True)
        assert waiting.state is RunState.WAITING
        assert question.step_key == "say/2/budget/1"
        assert question.body.choices == (GO_ON, "raise to 4 calls", STOP)
        assert f"callboard budget set {scope} --calls" in question.body.text
        assert keys(studio, run.id) == ["say/0", "say/1"]
        await accounts.set_limits(scope, Limits(calls=3))
        await studio.engine.answer(question.body.question_id, GO_ON)
        run = await studio.engine.wait(run.id)
        calls = studio.database.read(list_calls)
        assert keys(studio, run.id) == ["say/0", "say/1", "say/2/budget/1", "say/2"]
    assert (run.state, run.result) == (RunState.DONE, ["aye"] * 3)
    assert len(script.calls) == len(calls) == 3
    assert {(call.spender.pack, call.spender.agent_id) for call in calls} == {("mine", "writer")}


async def test_going_on_without_raising_asks_again_and_stop_fails_the_step_for_good(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(THREE, {"say": "Say it."})
    script = Script(Line("aye", times=None))
    async with open_studio(script, pack) as studio:
        accounts = studio.accounts
        await accounts.set_limits(await session_of(studio), Limits(calls=1))
        run = await studio.start("play")
        first = await asked(studio, run.id)
        await studio.engine.answer(first.body.question_id, GO_ON)
        second = await asked(studio, run.id, after=first.seq)
        assert second.step_key == "say/1/budget/2"
        await studio.engine.answer(second.body.question_id, STOP)
        run = await studio.engine.wait(run.id)
        journal = studio.database.read(lambda c: load_journal(c, run))
    assert run.state is RunState.FAILED
    assert (run.error.code, run.error.tier) == ("budget_exceeded", ErrorTier.USER_FIXABLE)
    assert run.error.context["limit"] == 1
    assert journal["say/1"].error.code == "budget_exceeded"
    assert len(script.calls) == 1


async def test_the_question_survives_a_restart_and_replay_asks_nothing_twice(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(THREE, {"say": "Say it."})
    script = Script(Line("aye", times=None))
    async with open_studio(script, pack) as studio:
        accounts = studio.accounts
        scope = await session_of(studio)
        await accounts.set_limits(scope, Limits(calls=1))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        await studio.engine.wait(run.id, settled=True)
    async with open_studio(script, pack, engine={"resume_on_start": "manual"}) as studio:
        accounts = studio.accounts
        await accounts.set_limits(scope, Limits(calls=10))
        # Whoever answers takes the run up; the answer is there before the step is tried again.
        await studio.engine.answer(question.body.question_id, GO_ON)
        run = await studio.engine.wait(run.id)
        bodies = [e.body for e in studio.database.read(lambda c: read_events(c, run_id=run.id))]
        open_questions = studio.database.read(lambda c: list_questions(c, run_id=run.id))
    assert (run.state, run.result) == (RunState.DONE, ["aye"] * 3)
    assert len(script.calls) == 3
    assert sum(isinstance(body, QuestionAsked) for body in bodies) == 1
    assert sum(isinstance(body, QuestionAnswered) for body in bodies) == 1
    assert open_questions == []


@pytest.mark.parametrize("answer", [GO_ON, STOP])
async def test_branches_that_are_stopped_together_ask_once(
    open_studio: Any, write_pack: Any, answer: str
) -> None:
    pack = write_pack(BRANCHES, {"say": "Say it."})
    script = Script(Line("aye", times=None))
    async with open_studio(script, pack) as studio:
        accounts = studio.accounts
        scope = await session_of(studio)
        await accounts.set_limits(scope, Limits(calls=2))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        await studio.engine.wait(run.id, settled=True)
        await accounts.set_limits(scope, Limits(calls=6))
        await studio.engine.answer(question.body.question_id, answer)
        run = await studio.engine.wait(run.id)
        questions = studio.database.read(
            lambda c: list_questions(c, run_id=run.id, only_open=False)
        )
    assert len(questions) == 1
    expected = ["aye"] * 6 if answer == GO_ON else ["aye"] * 2 + [None] * 4
    assert sorted(run.result, key=str) == sorted(expected, key=str)


async def test_what_a_cut_reply_had_said_is_kept_with_its_prompt(
    open_studio: Any, write_pack: Any
) -> None:
    body = (
        "@choreography\n"
        "async def play(stage: Stage) -> Any:\n"
        "    return (await stage.ask('say', 'writer', max_tokens=40)).text\n"
    )
    script = Script(Line("word " * 3000), "short")
    async with open_studio(script, write_pack(body, {"say": "Say it."})) as studio:
        accounts = studio.accounts
        scope = await session_of(studio)
        await accounts.set_limits(scope, Limits(tokens=500))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        (prompt,) = studio.database.read(lambda c: list_prompts(c, run_id=run.id))
        kept = studio.database.read(lambda c: load_prompt(c, prompt.id))
        await accounts.set_limits(scope, Limits(tokens=50_000))
        await studio.engine.answer(question.body.question_id, GO_ON)
        run = await studio.engine.wait(run.id)
    assert kept.reply.text.startswith("word word")
    assert kept.reply.warnings == ("partial",)
    assert run.result == "short"


@pytest.mark.parametrize(
    ("answer", "calls"),
    [("raise to 4 calls", 4), ("raise to 3", 3), ("raise to 1,000 calls", 1000)],
)
async def test_the_answer_itself_can_raise_the_budget(
    open_studio: Any, write_pack: Any, answer: str, calls: int
) -> None:
    script = Script(Line("aye", times=None))
    async with open_studio(script, write_pack(THREE, {"say": "Say it."})) as studio:
        scope = await session_of(studio)
        await studio.accounts.set_limits(scope, Limits(calls=2))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        await studio.engine.answer(question.body.question_id, answer)
        run = await studio.engine.wait(run.id)
        (budget,) = studio.database.read(lambda c: load_budgets(c, [scope]))
    assert (run.state, run.result) == (RunState.DONE, ["aye"] * 3)
    assert budget.limits == Limits(calls=calls)


async def test_an_amount_that_does_not_fit_into_the_outer_budget_is_explained_and_asked_again(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script(Line("aye", times=None))
    async with open_studio(script, write_pack(THREE, {"say": "Say it."})) as studio:
        scope = await session_of(studio)
        await studio.accounts.set_limits(Scope.parse("project"), Limits(calls=5))
        await studio.accounts.set_limits(scope, Limits(calls=1))
        run = await studio.start("play")
        first = await asked(studio, run.id)
        with pytest.raises(InvalidInput):
            await studio.engine.answer(first.body.question_id, "raise to a lot")
        await studio.engine.answer(first.body.question_id, "raise to 50 calls")
        second = await asked(studio, run.id, after=first.seq)
        assert "It was not raised: 50 calls for" in second.body.text
        await studio.engine.answer(second.body.question_id, "raise to 5 calls")
        run = await studio.engine.wait(run.id)
    assert run.result == ["aye"] * 3


async def test_an_answer_given_while_nothing_runs_raises_the_budget_when_the_run_is_taken_up(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(THREE, {"say": "Say it."})
    script = Script(Line("aye", times=None))
    async with open_studio(script, pack) as studio:
        await studio.accounts.set_limits(await session_of(studio), Limits(calls=1))
        run = await studio.start("play")
        question = await asked(studio, run.id)
        await studio.engine.wait(run.id, settled=True)
    async with open_studio(script, pack, engine={"resume_on_start": "manual"}) as studio:
        await studio.engine.answer(question.body.question_id, "raise to 3 calls", dispatch=False)
    async with open_studio(script, pack) as studio:
        run = await studio.engine.wait(run.id)
    assert (run.state, run.result) == (RunState.DONE, ["aye"] * 3)


@pytest.mark.parametrize(
    ("dimension", "limit", "choice", "answer", "raised"),
    [
        ("money", 500_000, "raise to $1", "raise to $2.50", Limits(microusd=2_500_000)),
        ("tokens", 1000, "raise to 2,000 tokens", "raise to 2,000 tokens", Limits(tokens=2000)),
        ("time", 60_000, "raise to 2.00 min", "raise to 1.5 min", Limits(ms=90_000)),
    ],
)
def test_amounts_are_written_in_the_units_of_what_is_limited(
    dimension: str, limit: int, choice: str, answer: str, raised: Limits
) -> None:
    figures = {"limit": limit, "spent": 1, "reserved": 0, "wanted": 1}
    error = BudgetExceeded("no", scope="run:run_1", dimension=dimension, can_raise=True, **figures)
    found = raise_for(error)
    assert found is not None
    assert found.choice == choice
    assert re.fullmatch(RAISE_PATTERN, choice)
    assert found.limits(answer) == raised
    assert found.limits(GO_ON) is None
    assert raise_for(BudgetExceeded("no", scope="provider:x per day", dimension="calls")) is None
