"""When no model can be reached: told at once, remedied if possible, and then the human decides."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from callboard.choreography.holdups import STOP, TRY_AGAIN, remedies, told
from callboard.core.errors import ErrorTier, ProviderError
from callboard.core.events import CallRetried, LimitPaused, ModelSwitched, ReplyChunk
from callboard.core.run_events import QuestionAsked, StepDone
from callboard.core.settings import Settings
from callboard.core.vocabulary import RunState, SignalKind
from callboard.models import Failure, Line, ModelRequest, ProviderChunk, Script, TextChunk
from callboard.models.accounts import CallOutcome, list_calls
from callboard.prompts import list_prompts, load_prompt
from callboard.store.journal.events import read_events
from callboard.store.journal.questions import list_questions

pytestmark = pytest.mark.anyio

PLAY = (
    "@choreography\n"
    "async def play(stage: Stage) -> Any:\n"
    "    return (await stage.ask('say', 'writer')).text\n"
)
PROMPTS = {"say": "Say it."}
FAST = {"max_attempts": 3, "initial_delay_seconds": 0, "max_delay_seconds": 0}
SOON = {"max_attempts": 3, "initial_delay_seconds": 0.02, "max_delay_seconds": 0.02}
RETRY = {"transient": FAST, "external_rate_limit": SOON, "external_degrading": FAST}
ASKING = {
    "errors": {"when_stuck": "ask", "retry": RETRY},
    "circuit": {"llm": {"consecutive_failures": 50}},
}


def down(status: int = 503, *, but: str = "") -> Callable[[ModelRequest], Line | str]:
    """Return a provider that fails every model but one."""

    def answer(request: ModelRequest) -> Line | str:
        if request.model == but:
            return "Calm."
        return Line(fail=Failure(status, "out of order"))

    return answer


async def question_of(studio: Any, run_id: str, after: int = 0) -> Any:
    async for event in studio.engine.events(run_id=run_id, after=after):
        if isinstance(event.body, QuestionAsked):
            return event
    raise AssertionError("unreachable")


def bodies(studio: Any, run_id: str) -> list[Any]:
    return [each.body for each in studio.database.read(lambda c: read_events(c, run_id=run_id))]


@pytest.mark.req("ERR-06", "ERR-24", "ERR-29")
async def test_a_provider_in_trouble_is_told_at_once_retried_and_then_the_human_is_asked(
    open_studio: Any, write_pack: Any
) -> None:
    script = Script(down(but="script:spare"))
    async with open_studio(script, write_pack(PLAY, PROMPTS), **ASKING) as studio:
        run = await studio.start("play")
        asked = await question_of(studio, run.id)
        assert (await studio.engine.wait(run.id, settled=True)).state is RunState.WAITING
        # Each failure was told when it happened, loudly, before the next attempt.
        alerts = [body for body in bodies(studio, run.id) if isinstance(body, CallRetried)]
        assert [(body.attempt, body.is_quiet) for body in alerts] == [(1, False), (2, False)]
        assert asked.step_key == "say/stuck/1"
        assert "out of order" in asked.body.text
        assert "asked 3 times" in asked.body.text
        # Most promising first: with a provider down, another one.
        assert asked.body.choices == ("ask local instead", TRY_AGAIN, STOP)
        await studio.engine.answer(asked.body.question_id, "ask script:spare instead")
        run = await studio.engine.wait(run.id)
        (done,) = [body for body in bodies(studio, run.id) if isinstance(body, StepDone)][-1:]
    assert (run.state, run.result) == (RunState.DONE, "Calm.")
    assert done.detail["model"] == "script:spare"


@pytest.mark.req("ERR-15", "ERR-19")
async def test_a_rate_limit_is_waited_out_and_only_escalates_when_that_does_not_help(
    open_studio: Any, write_pack: Any
) -> None:
    failing = Line(fail=Failure(429, "slow down"), times=3)
    script = Script(failing, "Calm.")
    async with open_studio(script, write_pack(PLAY, PROMPTS), **ASKING) as studio:
        run = await studio.start("play")
        asked = await question_of(studio, run.id)
        pauses: list[Any] = []
        # All but the last refusal were waited out, each with the moment at which it goes on.
        while len(pauses) < 2:
            await studio.database.write(lambda _connection: None)
            pauses = [body for body in bodies(studio, run.id) if isinstance(body, LimitPaused)]
        assert all(body.resume_at > 0 for body in pauses)
        assert len(script.calls) == 3
        assert asked.body.choices == (TRY_AGAIN, "ask local instead", STOP)
        await studio.engine.answer(asked.body.question_id, TRY_AGAIN)
        run = await studio.engine.wait(run.id)
    assert (run.state, run.result) == (RunState.DONE, "Calm.")


async def test_a_rate_limit_that_passes_asks_nobody(open_studio: Any, write_pack: Any) -> None:
    script = Script(Line(fail=Failure(429, "slow down"), times=2), "Calm.")
    async with open_studio(script, write_pack(PLAY, PROMPTS), **ASKING) as studio:
        run = await studio.start("play")
        run = await studio.engine.wait(run.id)
        questions = studio.database.read(lambda c: list_questions(c, only_open=False))
    assert (run.result, questions) == ("Calm.", [])


@pytest.mark.req("ERR-16")
async def test_a_stand_in_is_the_first_remedy_and_if_it_answers_work_goes_on(
    open_studio: Any, write_pack: Any
) -> None:
    flags = {**ASKING, "models": {"default": "script", "fallback_default": ["script:spare"]}}
    script = Script(down(but="script:spare"))
    async with open_studio(script, write_pack(PLAY, PROMPTS), **flags) as studio:
        run = await studio.start("play")
        run = await studio.engine.wait(run.id)
        told_of = [
            type(body)
            for body in bodies(studio, run.id)
            if isinstance(body, CallRetried | ModelSwitched | StepDone)
        ]
    assert (run.state, run.result) == (RunState.DONE, "Calm.")
    assert told_of == [CallRetried, CallRetried, ModelSwitched, StepDone]


async def test_stop_fails_the_step_and_by_default_nobody_is_asked(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(PLAY, PROMPTS)
    async with open_studio(Script(down()), pack, **ASKING) as studio:
        run = await studio.start("play")
        asked = await question_of(studio, run.id)
        await studio.engine.answer(asked.body.question_id, STOP)
        stopped = await studio.engine.wait(run.id)
    async with open_studio(Script(down()), pack) as studio:
        run = await studio.start("play")
        failed = await studio.engine.wait(run.id)
    for run in (stopped, failed):
        assert (run.state, run.error.code) == (RunState.FAILED, "provider_error")
        assert run.error.tier is ErrorTier.EXTERNAL_DEGRADING


async def test_the_question_survives_a_restart_and_so_does_its_answer(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(PLAY, PROMPTS)
    async with open_studio(Script(down()), pack, **ASKING) as studio:
        run = await studio.start("play")
        asked = await question_of(studio, run.id)
        await studio.engine.wait(run.id, settled=True)
    manual = {**ASKING, "engine": {"resume_on_start": "manual"}}
    async with open_studio(Script(), pack, **manual) as studio:
        answer = "ask script:spare instead"
        await studio.engine.answer(asked.body.question_id, answer, dispatch=False)
    async with open_studio(Script(down(but="script:spare")), pack, **ASKING) as studio:
        run = await studio.engine.wait(run.id)
    assert (run.state, run.result) == (RunState.DONE, "Calm.")


class Halting:
    """A provider that says two words and then nothing more, until it is left."""

    constrains_json = False

    def __init__(self) -> None:
        self.was_left = False

    async def stream(self, _request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        try:
            yield TextChunk("Once upon")
            await asyncio.Event().wait()
        finally:
            self.was_left = True

    async def close(self) -> None:
        pass


@pytest.mark.req("LLM-41")
async def test_what_a_cancelled_call_had_said_is_kept_and_no_task_is_left(
    open_studio: Any, write_pack: Any
) -> None:
    provider = Halting()
    async with open_studio(provider, write_pack(PLAY, PROMPTS)) as studio:
        spoke = asyncio.Event()
        studio.backstage.live_listeners.append(
            lambda event: spoke.set() if isinstance(event.body, ReplyChunk) else None
        )
        run = await studio.start("play")
        await spoke.wait()
        await studio.engine.signal(run.id, SignalKind.CANCEL)
        run = await studio.engine.wait(run.id)
        (prompt,) = studio.database.read(lambda c: list_prompts(c, run_id=run.id))
        await studio.accounts.flush()
        kept = studio.database.read(lambda c: load_prompt(c, prompt.id))
        (call,) = studio.database.read(list_calls)
    assert run.state is RunState.CANCELLED
    assert (kept.reply.text, kept.reply.warnings) == ("Once upon", ("partial",))
    assert provider.was_left
    assert call.outcome is CallOutcome.ABORTED
    left = [task.get_coro() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not [each for each in left if "callboard" in repr(each)]


@pytest.mark.parametrize(
    ("tier", "first"),
    [
        (ErrorTier.TRANSIENT, TRY_AGAIN),
        (ErrorTier.EXTERNAL_RATE_LIMIT, TRY_AGAIN),
        (ErrorTier.EXTERNAL_DEGRADING, "ask openai:gpt-4o instead"),
        (ErrorTier.USER_FIXABLE, TRY_AGAIN),
    ],
)
def test_remedies_are_ranked_and_leave_out_what_has_failed(tier: ErrorTier, first: str) -> None:
    settings = Settings.model_validate({"models": {"default": "openai:gpt-4o"}})
    tried = [{"model": "local", "code": "weights_unusable", "message": ""}]
    error = ProviderError("No.", tier=tier, model="house:m", also_tried=tried, attempts=4)
    ranked = remedies(error, settings)
    assert ranked[0].answer == first
    assert {each.answer for each in ranked} == {TRY_AGAIN, "ask openai:gpt-4o instead"}
    assert [each.likelihood for each in ranked] == sorted(
        (each.likelihood for each in ranked), reverse=True
    )
    assert "asked 4 times, local asked in its place" in told(error)
