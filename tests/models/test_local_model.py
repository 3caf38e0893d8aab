"""The embedded model itself. Nothing here depends on what it says, only on how it behaves."""

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from callboard.core.errors import CallboardError, ErrorTier
from callboard.models import (
    SMOLLM2,
    DirectGate,
    Finished,
    LadderGate,
    LlamaSettings,
    LocalProvider,
    Message,
    ModelRequest,
    PromptTooLong,
    TextChunk,
    WeightsUnusable,
    Working,
    find_weights,
    weights_dir,
)

pytestmark = pytest.mark.anyio
local_model = pytest.mark.local_model

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "pages": {"type": "integer", "minimum": 1, "maximum": 900},
        "genre": {"enum": ["crime", "poetry", "travel"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "pages", "genre", "tags"],
}


@pytest.fixture(scope="module")
def weights() -> Path:
    directory = weights_dir()
    if find_weights(directory) is None:
        pytest.fail(
            "the embedded model is not there: `callboard models pull`, or -m 'not local_model'"
        )
    return directory


@pytest.fixture(scope="module")
def gate(weights: Path) -> Iterator[DirectGate]:
    """One loaded model for all tests: it outlives the event loop of each."""
    settings = LlamaSettings(slots=1, window_tokens=1024)
    gate = DirectGate({"local": LocalProvider(weights, settings)})
    yield gate
    asyncio.run(gate.close())


def ask(text: str, **more: Any) -> ModelRequest:
    return ModelRequest("local", (Message("user", text),), **more)


@local_model
async def test_it_streams_text_and_counts_tokens(gate: DirectGate) -> None:
    chunks = [c async for c in gate.stream(ask("Tell me about the sea.", max_tokens=16))]
    pieces = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(pieces) > 1
    last = chunks[-1]
    assert isinstance(last, Finished)
    assert last.reply.text == "".join(pieces)
    assert last.reply.usage.input_tokens > 0
    assert 0 < last.reply.usage.output_tokens <= 16
    assert last.reply.finish_reason in ("length", "stop")
    assert (last.reply.tokens_per_second or 0) > 0
    assert (last.reply.first_token_ms or 0) > 0


@local_model
async def test_it_obeys_a_schema_and_ends(gate: DirectGate) -> None:
    request = ask("Invent a book. Answer in JSON.", json_schema=SCHEMA, max_tokens=600)
    reply = await LadderGate(gate).complete(request)
    assert reply.data["genre"] in ("crime", "poetry", "travel")
    assert 1 <= reply.data["pages"] <= 900
    assert reply.finish_reason == "stop"


@local_model
async def test_leaving_a_stream_frees_the_only_slot(gate: DirectGate) -> None:
    measured = await gate.complete(ask("Count to twenty.", max_tokens=16))
    endless = {"type": "array", "items": {"type": "integer"}, "minItems": 400}
    async with aclosing(gate.stream(ask("Count.", json_schema=endless, max_tokens=900))) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                break
    unread = asyncio.create_task(gate.complete(ask("sea " * 300, max_tokens=900)))
    await asyncio.sleep(0)
    unread.cancel()
    reply = await gate.complete(ask("Say yes.", max_tokens=2))
    assert reply.usage.output_tokens > 0
    # Had the slot not been freed, some 900 tokens would have had to be written first.
    assert reply.duration_ms < 450 / (measured.tokens_per_second or 1) * 1000


@local_model
async def test_more_requests_than_slots_are_all_answered(gate: DirectGate) -> None:
    calls = [gate.complete(ask(f"Say {number}.", max_tokens=3)) for number in range(6)]
    replies = await asyncio.gather(*calls)
    assert all(reply.usage.output_tokens > 0 for reply in replies)


@local_model
async def test_what_it_cannot_take_is_explained(gate: DirectGate) -> None:
    with pytest.raises(PromptTooLong, match="1024") as caught:
        await gate.complete(ask("word " * 2000))
    assert caught.value.tier is ErrorTier.PERMANENT
    unknown_to_the_grammar = {"$ref": "https://example.org/elsewhere.json"}
    with pytest.raises(CallboardError) as refused:
        await gate.complete(ask("hi", json_schema=unknown_to_the_grammar, max_tokens=5))
    assert refused.value.fix
    assert (await gate.complete(ask("Still there?", max_tokens=2))).usage.output_tokens > 0


@local_model
async def test_a_long_prompt_shows_signs_of_life(gate: DirectGate) -> None:
    request = ask("The sea is wide. " * 60, max_tokens=1)
    notes = [c.note async for c in gate.stream(request) if isinstance(c, Working)]
    assert sum("reading" in note for note in notes) > 1


@local_model
async def test_closing_in_the_middle_fails_the_call_and_allows_a_new_start(weights: Path) -> None:
    provider = LocalProvider(weights, LlamaSettings(slots=1, window_tokens=1024))
    gate = DirectGate({"local": provider})
    async with aclosing(gate.stream(ask("Count to a thousand.", max_tokens=900))) as chunks:
        await anext(chunks)
        waiting = asyncio.create_task(gate.complete(ask("me too")))
        await asyncio.sleep(0)
        await gate.close()
        with pytest.raises(CallboardError, match="closed"):
            async for _ in chunks:
                pass
    with pytest.raises(CallboardError, match="closed"):
        await waiting
    assert (await gate.complete(ask("Again.", max_tokens=2))).usage.output_tokens > 0
    await gate.close()


@local_model
def test_the_process_ends_quietly_while_the_model_is_talking(weights: Path) -> None:
    program = f"""
    import asyncio, sys
    from pathlib import Path
    from callboard.models import *

    gate = DirectGate({{"local": LocalProvider(Path({str(weights)!r}), LlamaSettings(2, 512))}})

    async def main():
        request = ModelRequest("local", (Message("user", "Count."),), max_tokens=400)
        task = asyncio.create_task(gate.complete(request))
        async for chunk in gate.stream(request):
            if isinstance(chunk, TextChunk):
                break
        print("talking", flush=True)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    sys.exit(7)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "talking\n"
    assert done.returncode == 7
    assert "FATAL" not in done.stderr
    assert "terminate" not in done.stderr


@local_model
def test_the_engine_says_nothing_on_the_terminal(weights: Path) -> None:
    program = f"""
    import asyncio
    from pathlib import Path
    from callboard.models import *

    async def main():
        provider = LocalProvider(Path({str(weights)!r}), LlamaSettings(1, 512))
        gate = DirectGate({{"local": provider}})
        await gate.complete(ModelRequest("local", (Message("user", "hi"),), max_tokens=2))

    asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@local_model
async def test_what_is_not_here_is_fetched_once_with_progress(
    weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[Path] = []

    def fetch(directory: Path, *, on_progress: Callable[[int, int], None]) -> Path:
        asked.append(directory)
        for arrived in range(0, 100_000_001, 10_000_000):
            on_progress(arrived, 100_000_000)
        return weights / SMOLLM2.filename

    provider = LocalProvider(tmp_path, LlamaSettings(slots=1, window_tokens=1024), fetch)
    gate = DirectGate({"local": provider})
    try:
        for _ in range(2):
            assert (await gate.complete(ask("Say something.", max_tokens=4))).text
    finally:
        await gate.close()
    assert asked == [tmp_path]
    told = [record.getMessage().strip() for record in caplog.records]
    assert told[0] == "Fetching the embedded model, 98 MB, once."
    assert told[1:] == ["30 of 100 MB", "50 of 100 MB", "80 of 100 MB", "100 of 100 MB"]


async def test_without_weights_the_way_to_get_them_is_named(tmp_path: Path) -> None:
    gate = DirectGate({"local": LocalProvider(tmp_path)})
    with pytest.raises(WeightsUnusable) as caught:
        await gate.complete(ask("hi"))
    assert caught.value.tier is ErrorTier.USER_FIXABLE
    assert "callboard models pull local" in (caught.value.fix or "")
