"""Steps: executed once, replayed afterwards, failing loudly when the code changed under them."""

import asyncio
from typing import Any

import pytest

from callboard.core.errors import ErrorTier, InvalidInput
from callboard.core.vocabulary import Effect, Question, RunState, StepState
from callboard.engine.errors import StepFailed, TakenOver
from callboard.engine.scope import CannotTell, Happened, NotHappened
from callboard.store.journal.questions import list_questions
from callboard.store.journal.steps import find_step

pytestmark = pytest.mark.anyio

QUESTION = Question("Go on?")


class PowerCut(TakenOver):
    """Ends an execution as a dying process would: nothing more is written."""


def counting(calls: list[str], name: str, value: Any = None):
    async def act(_scope: Any) -> Any:
        calls.append(name)
        return value if value is not None else name

    return act


async def test_a_run_returns_what_its_body_returns(open_theatre: Any) -> None:
    calls: list[str] = []

    async def body(run: Any) -> Any:
        first = await run.step("a", counting(calls, "a", {"n": 1}), inputs={"x": 1})
        second = await run.step("b", counting(calls, "b"), inputs=first)
        return [first, second]

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
    assert run.state is RunState.DONE
    assert run.result == [{"n": 1}, "b"]
    assert calls == ["a", "b"]


async def test_finished_steps_are_not_executed_again_after_a_restart(open_theatre: Any) -> None:
    calls: list[str] = []

    async def body(run: Any) -> Any:
        await run.step("a", counting(calls, "a"))
        answer = await run.ask_human("ok", QUESTION)
        await run.step("b", counting(calls, "b"))
        return answer

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        run = await theatre.engine.wait(run_id, settled=True)
        assert run.state is RunState.WAITING
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        (question,) = theatre.database.read(lambda c: list_questions(c, run_id=run_id))
        await theatre.engine.answer(question.id, "yes")
        run = await theatre.engine.wait(run_id)
    assert (run.state, run.result) == (RunState.DONE, "yes")
    assert calls == ["a", "b"]


async def test_other_inputs_on_replay_are_an_error_not_a_reuse(open_theatre: Any) -> None:
    calls: list[str] = []
    inputs: list[Any] = [{"brief": "one"}]

    async def body(run: Any) -> Any:
        await run.step("draft", counting(calls, "draft"), inputs=inputs[0])
        await run.ask_human("ok", QUESTION)

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await theatre.engine.wait(run_id, settled=True)
    inputs[0] = {"brief": "two"}
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        run = await theatre.engine.wait(run_id)
    assert run.state is RunState.FAILED
    assert run.error.code == "non_deterministic"
    assert "draft" in run.error.message
    assert calls == ["draft"]


async def test_one_key_twice_is_refused(open_theatre: Any) -> None:
    async def body(run: Any) -> Any:
        await run.step("a", counting([], "a"))
        await run.step("a", counting([], "a"))

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
    assert run.error.code == "duplicate_key"
    assert "'a'" in run.error.message


async def test_a_failed_step_fails_the_same_way_on_replay(open_theatre: Any) -> None:
    calls: list[str] = []

    async def broken(_scope: Any) -> Any:
        calls.append("broken")
        raise ConnectionResetError("the line went dead")

    async def body(run: Any) -> Any:
        seen = []
        try:
            await run.step("call", broken)
        except StepFailed as error:
            seen.append([error.error.tier.name, error.key])
        await run.ask_human("ok", QUESTION)
        return seen

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await theatre.engine.wait(run_id, settled=True)
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        (question,) = theatre.database.read(lambda c: list_questions(c, run_id=run_id))
        await theatre.engine.answer(question.id, "go")
        run = await theatre.engine.wait(run_id)
        step = theatre.journal(run_id)["call"]
    assert run.result == [["TRANSIENT", "call"]]
    assert calls == ["broken"]
    assert step.state is StepState.FAILED
    assert step.error.tier is ErrorTier.TRANSIENT


async def test_an_output_json_cannot_hold_names_the_step(open_theatre: Any) -> None:
    async def body(run: Any) -> Any:
        await run.step("bad", counting([], "x", {"set": {1, 2}}))

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
    assert run.state is RunState.FAILED
    assert run.error.code == InvalidInput.code
    assert "bad" in run.error.message


async def test_large_outputs_are_stored_once(open_theatre: Any) -> None:
    text = "word " * 20_000

    async def body(run: Any) -> Any:
        for number in range(5):
            await run.step(f"same/{number}", counting([], "x", text))
        return "ok"

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        assert run.state is RunState.DONE
        blobs = theatre.database.read(
            lambda c: c.execute(
                "SELECT COUNT(*) AS n, SUM(LENGTH(data)) AS size FROM blobs"
            ).fetchone()
        )
        assert blobs["n"] == 1
        assert blobs["size"] < 2 * len(text)
        replayed = await theatre.engine.fork(run.id, from_step="same/4")
        assert (await theatre.engine.wait(replayed.id)).state is RunState.DONE


@pytest.mark.parametrize(
    ("finding", "executions", "result"),
    [(Happened("found"), 1, "found"), (NotHappened(), 2, "done"), (CannotTell(), 1, None)],
)
async def test_an_interrupted_once_step_is_resolved_and_never_blindly_repeated(
    open_theatre: Any, finding: Any, executions: int, result: Any
) -> None:
    calls: list[str] = []
    crash = [True]

    async def effect(_scope: Any) -> Any:
        calls.append("effect")
        if crash[0]:
            raise PowerCut
        return "done"

    async def probe(_before: Any) -> Any:
        return finding

    async def body(run: Any) -> Any:
        return await run.step("pay", effect, effect=Effect.ONCE, probe=probe)

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        live = theatre.engine._dispatcher.live(run_id)
        await asyncio.wait({live.task})
        assert theatre.journal(run_id)["pay"].state is StepState.INTENT
    crash[0] = False
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover()
        if isinstance(finding, CannotTell):
            run = await theatre.engine.wait(run_id, settled=True)
            assert run.state is RunState.WAITING
            (question,) = theatre.database.read(lambda c: list_questions(c, run_id=run_id))
            assert question.question.choices == ("happened", "did not happen")
            await theatre.engine.answer(question.id, "happened")
        run = await theatre.engine.wait(run_id)
    assert run.state is RunState.DONE
    assert run.result == result
    assert len(calls) == executions


async def test_half_a_surrogate_pair_survives_the_journal(open_theatre: Any) -> None:
    odd = {"text": "half \ud83d and é", "long": "\udc00" * 3000}

    async def body(run: Any) -> Any:
        await run.step("odd", counting([], "x", odd), inputs=odd, slot="odd")
        return await run.ask_human("ok", QUESTION)

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await theatre.engine.wait(run_id, settled=True)
        run = theatre.engine.load(run_id)
        step = theatre.database.read(lambda c: find_step(c, run, "odd"))
    assert step.output == odd
