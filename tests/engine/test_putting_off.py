"""A step that cannot be done now leaves no trace, and its key may be asked for again."""

from typing import Any

import pytest

from callboard.core.errors import CallboardError, ErrorTier
from callboard.core.run_events import QuestionAsked
from callboard.core.vocabulary import Effect, Question, RunState
from callboard.engine.errors import NotNow, StepFailed
from callboard.engine.run import Run

pytestmark = pytest.mark.anyio


class Closed(CallboardError):
    code = "closed"
    tier = ErrorTier.USER_FIXABLE


def put_off(_scope: Any) -> Any:
    raise NotNow(Closed("closed on Sundays", fix="Come back.", day="Sunday"))


async def test_a_step_that_was_put_off_is_not_journaled_and_may_be_tried_again(
    open_theatre: Any,
) -> None:
    async def body(run: Run) -> Any:
        async def closed(scope: Any) -> Any:
            return put_off(scope)

        async def open_again(_scope: Any) -> str:
            return "bread"

        with pytest.raises(NotNow) as held:
            await run.step("shop", closed)
        assert held.value.reason.code == "closed"
        return await run.step("shop", open_again)

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        journal = theatre.journal(run.id)
    assert (run.state, run.result) == (RunState.DONE, "bread")
    assert list(journal) == ["shop"]


async def test_a_step_put_off_that_nobody_takes_up_fails_the_run_with_its_reason(
    open_theatre: Any,
) -> None:
    async def body(run: Run) -> Any:
        async def closed(scope: Any) -> Any:
            return put_off(scope)

        return await run.step("shop", closed)

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        journal = theatre.journal(run.id)
    assert run.state is RunState.FAILED
    assert (run.error.code, run.error.tier) == ("not_now", ErrorTier.USER_FIXABLE)
    assert (run.error.message, run.error.fix) == ("closed on Sundays", "Come back.")
    assert journal == {}


async def test_a_once_step_cannot_be_put_off_because_its_intent_is_on_record(
    open_theatre: Any,
) -> None:
    async def body(run: Run) -> Any:
        async def closed(scope: Any) -> Any:
            return put_off(scope)

        try:
            await run.step("post", closed, effect=Effect.ONCE)
        except StepFailed as failed:
            return failed.error.code

    async with open_theatre({"body": body}) as theatre:
        run = await theatre.run("body")
        journal = theatre.journal(run.id)
    assert run.result == "not_now"
    assert journal["post"].state.value == "failed"


async def test_an_answer_holds_for_the_inputs_of_a_question_whatever_its_words(
    open_theatre: Any,
) -> None:
    spoken = iter(["It costs 3. Go on?", "It costs 4. Go on?"])

    async def body(run: Run) -> Any:
        question = Question(next(spoken), ("yes", "no"))
        answer = await run.ask_human("price", question, inputs={"step": "draft"})
        second = await run.ask_human("again", Question("Sure?"))
        return [answer, second]

    async with open_theatre({"body": body}) as theatre:
        run_id = await theatre.start("body")
        await theatre.engine.answer(await asked(theatre, run_id, "price"), "yes")
        again = await asked(theatre, run_id, "again")
    async with open_theatre({"body": body}) as theatre:
        await theatre.engine.recover("auto")
        await theatre.engine.answer(again, "sure")
        run = await theatre.engine.wait(run_id)
    assert run.result == ["yes", "sure"]


async def asked(theatre: Any, run_id: str, key: str) -> str:
    async for event in theatre.engine.events(run_id=run_id):
        if isinstance(event.body, QuestionAsked) and event.step_key == key:
            return event.body.question_id
    raise AssertionError(f"{key} was never asked")
