"""What a crash leaves of tools and of model calls, through the studio."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from callboard.core.vocabulary import RunState
from callboard.models import Line, Script
from callboard.models.accounts import CallOutcome, list_calls
from callboard.store.journal.questions import list_questions
from callboard.testing.faults import Blackout, Moment
from callboard.testing.opening import open_scripted

pytestmark = pytest.mark.anyio

WRITING = (
    "@choreography\n"
    "async def play(stage: Stage, text: str) -> Any:\n"
    "    return (await stage.tool('write', 'write_file', path='Scene.md', content=text)).preview\n"
)
ASKING = (
    "@choreography\n"
    "async def play(stage: Stage) -> Any:\n"
    "    return (await stage.ask('say', 'writer')).text\n"
)


@pytest.fixture
def open_studio(project: Path) -> Any:
    """Open the project anew, with whatever an `Opening` takes."""

    def open_it(script: Script, pack: Path, **more: Any) -> Any:
        return open_scripted(project, script, pack, **more)

    return open_it


async def crash_after_writing(open_studio: Any, pack: Path, text: str) -> str:
    """Write a file and lose the power before that is on record; return the run."""
    dark = Blackout(Moment("step.before_record", 1))
    with contextlib.suppress(Exception):
        async with open_studio(Script(), pack, faults=dark) as studio:
            run = await studio.start("play", {"text": text})
            with contextlib.suppress(Exception):
                async with asyncio.timeout(10):
                    await studio.engine.wait(run.id)
    return run.id


async def test_what_the_author_wrote_after_a_crash_is_not_written_over(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(WRITING, {})
    run_id = await crash_after_writing(open_studio, pack, "Text of the run.\n")
    async with open_studio(Script(), pack, recover=False) as studio:
        scene = studio.project.root / "Scene.md"
        assert scene.read_text() == "Text of the run.\n"
        edited = "Text of the run.\nAnd a paragraph by hand.\n"
        scene.write_text(edited)
        await studio.engine.recover()
        run = await studio.engine.wait(run_id, settled=True)
        (asked,) = studio.database.read(list_questions)
        assert scene.read_text() == edited
    assert run.state is RunState.WAITING
    assert "write" in asked.question.text


@pytest.mark.parametrize("is_new", [True, False])
async def test_a_file_that_is_as_it_was_before_is_simply_written(
    open_studio: Any, write_pack: Any, is_new: bool
) -> None:
    pack = write_pack(WRITING, {})
    if not is_new:
        async with open_studio(Script(), pack) as studio:
            (studio.project.root / "Scene.md").write_text("Old text.\n")
    run_id = await crash_after_writing(open_studio, pack, "Text of the run.\n")
    async with open_studio(Script(), pack, recover=False) as studio:
        scene = studio.project.root / "Scene.md"
        if is_new:
            scene.unlink()
        else:
            scene.write_text("Old text.\n")
        await studio.engine.recover()
        run = await studio.engine.wait(run_id, settled=True)
        assert scene.read_text() == "Text of the run.\n"
    assert run.state is RunState.DONE


async def test_a_call_its_process_did_not_survive_is_in_the_ledger_once(
    open_studio: Any, write_pack: Any
) -> None:
    pack = write_pack(ASKING, {"say": "Say something."})
    script = Script(Line("a long answer", hold="answering"))
    dark = Blackout(Moment("step.before_record", 1_000))
    with contextlib.suppress(Exception):
        async with open_studio(script, pack, faults=dark) as studio:
            run = await studio.start("play", {})
            await script.reached("answering")
            assert studio.database.read(list_calls) == []
            dark.is_dark = True
    async with open_studio(Script("again"), pack) as studio:
        await studio.engine.wait(run.id)
        lost, answered = studio.database.read(list_calls)
    async with open_studio(Script(), pack) as studio:
        assert len(studio.database.read(list_calls)) == 2
    assert (lost.outcome, lost.error_code, lost.is_estimated) == (
        CallOutcome.ABORTED,
        "process_died",
        True,
    )
    assert lost.usage.input_tokens > 0
    assert answered.outcome is CallOutcome.OK
