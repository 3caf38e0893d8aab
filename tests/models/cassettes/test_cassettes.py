"""A conversation recorded once is played offline, to the letter and in the same pieces."""

import asyncio
import json
import multiprocessing
import string
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.cli.main import main
from callboard.core.errors import ErrorTier, InvalidInput, NotFound, ProviderError
from callboard.core.vocabulary import RunState
from callboard.models import (
    DirectGate,
    Failure,
    Finished,
    Line,
    Message,
    MissingKey,
    ModelRequest,
    RemoteProvider,
    Script,
    TextChunk,
    UnknownModel,
    Usage,
    Working,
)
from callboard.models.catalog import asked_model, split_cassette
from callboard.models.credentials import Scrubber, Secret
from callboard.models.errors import PromptTooLong, SchemaRefused
from callboard.models.gate import Routes
from callboard.models.providers.cassette import CassetteMiss, Recorder, Replayer
from callboard.models.providers.cassette_file import (
    CassetteUnusable,
    Recording,
    append_recording,
    load_cassette,
)
from callboard.models.types import Ended
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio

pytestmark = pytest.mark.anyio

TAPE = "tape.jsonl"
SCHEMA = {"type": "object", "properties": {"mood": {"type": "string"}}}


def recording(folder: Path, *providers: Any, **named: Any) -> DirectGate:
    known = dict(named) or {"script": providers[0]}
    routes = Routes(known, RemoteProvider({}))
    return DirectGate({**known, "record": Recorder(routes, folder)})


def playing(folder: Path) -> DirectGate:
    return DirectGate({"replay": Replayer(folder)})


def ask(text: str = "How is the sea?", **more: Any) -> ModelRequest:
    messages = (Message("system", "Be brief."), Message("user", text))
    return ModelRequest(f"record:{TAPE}:script", messages, **more)


def again(request: ModelRequest) -> ModelRequest:
    from dataclasses import replace

    return replace(request, model=request.model.replace("record:", "replay:", 1))


async def chunks_of(gate: DirectGate, request: ModelRequest) -> list[Any]:
    async with aclosing(gate.stream(request)) as stream:
        return [chunk async for chunk in stream]


async def test_a_reply_is_played_as_it_was_said(tmp_path: Path) -> None:
    text = "The sea is calm today, and the gulls are asleep on the pier, all of them."
    line = Line(text, usage=Usage(11, 5, 3), finish_reason="length", hold="pier")
    script = Script(line)
    script.release("pier")
    live = await chunks_of(recording(tmp_path, script), ask(temperature=0.2, max_tokens=50))
    played = await chunks_of(playing(tmp_path), again(ask(temperature=0.2, max_tokens=50)))
    assert any(isinstance(chunk, Working) for chunk in live)
    assert sum(isinstance(chunk, TextChunk) for chunk in live) > 2
    assert played[:-1] == live[:-1]
    first, second = live[-1], played[-1]
    assert isinstance(first, Finished)
    assert isinstance(second, Finished)
    assert second.reply.text == text
    assert (second.reply.usage, second.reply.finish_reason) == (Usage(11, 5, 3), "length")
    assert (first.reply.model, second.reply.model) == ("script", f"replay:{TAPE}:script")


async def test_who_asks_and_how_urgently_makes_no_difference(tmp_path: Path) -> None:
    await recording(tmp_path, Script("Calm.")).complete(ask(session_id="s1", run_id="r1"))
    request = again(ask(session_id="s2", run_id="r2", priority=9, timeout_seconds=3))
    assert (await playing(tmp_path).complete(request)).text == "Calm."


async def test_the_same_question_asked_often_is_answered_in_order(tmp_path: Path) -> None:
    gate = recording(tmp_path, Script("one", "two", "three"))
    for _ in range(3):
        await gate.complete(ask())
    player = playing(tmp_path)
    assert [(await player.complete(again(ask()))).text for _ in range(3)] == ["one", "two", "three"]
    with pytest.raises(CassetteMiss, match="holds this request 3 times") as caught:
        await player.complete(again(ask()))
    assert "record:" in (caught.value.fix or "")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"text": "How is the lake?"}, "message 2 says 'How is the lake?' and said"),
        ({"temperature": 0.7}, "temperature is 0.7 and was null"),
        ({"max_tokens": 9}, "max_tokens is 9 and was null"),
        ({"seed": 4}, "seed is 4 and was null"),
        ({"stop": ("END",)}, 'stop is ["END"] and was []'),
        ({"json_schema": SCHEMA}, "json_schema is"),
    ],
)
async def test_an_unknown_request_names_the_nearest_and_what_differs(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    gate = recording(tmp_path, Script("far away", "Calm."))
    await gate.complete(ask("Quite another matter: what do whales eat on Sundays in spring?"))
    await gate.complete(ask())
    with pytest.raises(CassetteMiss) as caught:
        await playing(tmp_path).complete(again(ask(**change)))
    assert told in caught.value.message
    assert "line 2" in caught.value.message
    assert caught.value.tier is ErrorTier.PERMANENT


async def test_another_model_is_another_request(tmp_path: Path) -> None:
    await recording(tmp_path, Script("Calm.")).complete(ask())
    request = ModelRequest(f"replay:{TAPE}:openai:gpt-4o", ask().messages)
    with pytest.raises(CassetteMiss, match="model is 'openai:gpt-4o' and was 'script'"):
        await playing(tmp_path).complete(request)


@pytest.mark.parametrize("status", [400, 401, 429, 503])
async def test_an_http_error_is_played_with_status_headers_and_tier(
    tmp_path: Path, status: int
) -> None:
    failing = Script(Line(fail=Failure(status, "no", {"Retry-After": "17"})))
    with pytest.raises(ProviderError) as live:
        await recording(tmp_path, failing).complete(ask())
    with pytest.raises(ProviderError) as played:
        await playing(tmp_path).complete(again(ask()))
    assert (played.value.status, played.value.tier) == (status, live.value.tier)
    assert played.value.headers == {"retry-after": "17"}
    assert played.value.message == live.value.message
    assert type(played.value) is type(live.value)


async def test_a_connection_that_drops_drops_again_with_its_partial_text(tmp_path: Path) -> None:
    gate = recording(tmp_path, Script(Line("The sea is calm.", drop_after=8)))
    with pytest.raises(ProviderError) as live:
        await gate.complete(ask())
    with pytest.raises(ProviderError) as played:
        await playing(tmp_path).complete(again(ask()))
    assert played.value.partial == live.value.partial == "The sea "
    assert played.value.tier is live.value.tier is ErrorTier.TRANSIENT


class Ending:
    """A provider that answers in whatever way the test wants."""

    constrains_json = False

    def __init__(self, *chunks: Any, error: Exception | None = None) -> None:
        self.chunks, self.error = chunks, error

    async def stream(self, _request: ModelRequest) -> Any:
        for chunk in self.chunks:
            yield chunk
        if self.error is not None:
            raise self.error

    async def close(self) -> None:
        pass


async def test_a_stream_that_merely_ends_does_so_again(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="in the middle"):
        await recording(tmp_path, Ending(TextChunk("The "))).complete(ask())
    with pytest.raises(ProviderError, match="in the middle") as played:
        await playing(tmp_path).complete(again(ask()))
    assert played.value.partial == "The "


@pytest.mark.parametrize("error", [PromptTooLong("too long"), SchemaRefused("no such schema")])
async def test_errors_with_a_name_keep_it(tmp_path: Path, error: Exception) -> None:
    with pytest.raises(type(error)):
        await recording(tmp_path, Ending(error=error)).complete(ask())
    with pytest.raises(type(error)):
        await playing(tmp_path).complete(again(ask()))


async def test_what_never_reached_a_model_is_not_recorded(tmp_path: Path) -> None:
    gate = recording(tmp_path, Script())
    with pytest.raises(MissingKey):
        await gate.complete(ModelRequest(f"record:{TAPE}:openai:gpt-4o", ask().messages))
    with pytest.raises(UnknownModel):
        await gate.complete(ModelRequest(f"record:{TAPE}:nobody", ask().messages))
    assert not (tmp_path / TAPE).exists()


async def test_a_call_given_up_half_way_is_not_recorded(tmp_path: Path) -> None:
    script = Script(Line("never", hold="for ever"))
    gate = recording(tmp_path, script)
    task = asyncio.create_task(gate.complete(ask()))
    await script.reached("for ever")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (tmp_path / TAPE).exists()


async def test_keys_are_cut_out_of_everything_also_when_spread_over_pieces(tmp_path: Path) -> None:
    key = "a-key-nobody-may-read"
    scrubber = Scrubber([Secret(key)])
    said = Ending(TextChunk(f"You said {key[:9]}"), TextChunk(f"{key[9:]}."), Ended("script"))
    failing = Ending(error=ProviderError(f"bad {key}", headers={"x-request-id": key}))
    for provider in (said, failing):
        routes = Routes({"script": provider})
        gate = DirectGate({"record": Recorder(routes, tmp_path, scrub=scrubber.scrub)})
        try:
            await gate.complete(ask(f"My key is {key}"))
        except ProviderError:
            assert provider is failing
    written = (tmp_path / TAPE).read_text()
    assert key not in written
    assert key[:9] not in written
    assert key[9:] not in written
    played = await playing(tmp_path).complete(again(ask(f"My key is {key}")))
    assert played.text == "You said [key removed]."


async def test_what_looks_like_a_key_is_cut_out_without_being_told(tmp_path: Path) -> None:
    key = "sk-" + "proj-0123456789abcdefghij"
    await recording(tmp_path, Script("Fine.")).complete(ask(f"Use {key}"))
    assert key not in (tmp_path / TAPE).read_text()


# --- the file -------------------------------------------------------------------------------


def a_recording(key: str, text: str = "x") -> Recording:
    return Recording(key, {"model": "m", "messages": []}, (TextChunk(text),), Ended("m"))


def test_half_a_line_of_a_crash_is_passed_over_and_removed(tmp_path: Path) -> None:
    path = tmp_path / TAPE
    append_recording(path, a_recording("one"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"version": 1, "key": "ha')
    assert [each.key for each in load_cassette(path).recordings] == ["one"]
    append_recording(path, a_recording("two"))
    assert [each.key for each in load_cassette(path).recordings] == ["one", "two"]
    assert path.read_bytes().startswith(whole)


def _append_many(path: str, number: int) -> None:
    for index in range(20):
        append_recording(Path(path), a_recording(f"{number}-{index}", "y" * 5000))


def test_processes_that_record_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / TAPE
    spawning = multiprocessing.get_context("spawn")
    workers = [spawning.Process(target=_append_many, args=(str(path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    keys = {each.key for each in load_cassette(path).recordings}
    assert keys == {f"{number}-{index}" for number in range(3) for index in range(20)}


@pytest.mark.parametrize("line", ["rubbish", "{}", "[]", '{"version": 99}', "17"])
def test_a_line_that_is_no_recording_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / TAPE
    append_recording(path, a_recording("one"))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InvalidInput, match="line 2"):
        load_cassette(path)


async def test_no_cassette_and_an_unwritable_one_say_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no cassette"):
        await playing(tmp_path).complete(again(ask()))
    (tmp_path / TAPE).mkdir()
    with pytest.raises(CassetteUnusable, match="cannot be written"):
        await recording(tmp_path, Script("Calm.")).complete(ask())


def test_the_stored_shape_of_version_1_stays_readable(tmp_path: Path) -> None:
    """Written by the first version; whoever changes the shape must go on reading this one."""
    line = {
        "version": 1,
        "key": "k",
        "request": {"model": "script", "messages": [{"role": "user", "content": "hi"}]},
        "chunks": [{"working": "thinking"}, {"text": "Hel"}, {"text": "lo"}],
        "ended": {
            "model": "script",
            "input_tokens": 3,
            "output_tokens": 2,
            "cached_tokens": 1,
            "finish_reason": "stop",
            "tokens_per_second": None,
        },
        "error": None,
    }
    (tmp_path / TAPE).write_text(json.dumps(line) + "\n")
    (read,) = load_cassette(tmp_path / TAPE).recordings
    assert read.chunks == (Working("thinking"), TextChunk("Hel"), TextChunk("lo"))
    assert read.ended == Ended("script", Usage(3, 2, 1))
    assert read.to_json() == line


# --- ids ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "file", "inner"),
    [
        ("record:a.jsonl:openai:gpt-4o", "a.jsonl", "openai:gpt-4o"),
        ("replay:dir/a b.jsonl:local", "dir/a b.jsonl", "local"),
        (r"replay:C:\tapes\a.jsonl:ollama:llama3:8b", r"C:\tapes\a.jsonl", "ollama:llama3:8b"),
        ("record:/x/a.jsonl:script:replies.yaml", "/x/a.jsonl", "script:replies.yaml"),
    ],
)
def test_an_id_has_one_reading(model: str, file: str, inner: str) -> None:
    parts = split_cassette(model)
    assert (parts.file, parts.model) == (file, inner)
    assert asked_model(model) == inner


@pytest.mark.parametrize(
    "model", ["record", "record:", "replay:a.json:local", "replay:a.jsonl", "record:.jsonl:x",
              "record:a.jsonl:", "openai:gpt-4o"],
)  # fmt: skip
def test_an_id_of_another_form_is_refused_with_the_right_form(model: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        split_cassette(model)
    assert ".jsonl:MODEL" in (caught.value.fix or "")


@given(
    st.sampled_from(["record", "replay"]),
    st.text(string.printable, min_size=1).filter(lambda name: ".jsonl" not in name),
    st.text(string.ascii_letters + ":-./", min_size=1).filter(lambda name: ".jsonl" not in name),
)
def test_every_id_can_be_taken_apart_again(kind: str, name: str, inner: str) -> None:
    parts = split_cassette(f"{kind}:{name}.jsonl:{inner}")
    assert (parts.kind, parts.file, parts.model) == (kind, f"{name}.jsonl", inner)


def test_other_ids_are_left_alone() -> None:
    assert asked_model("openai:gpt-4o") == "openai:gpt-4o"
    assert asked_model("record:a.jsonl:replay:b.jsonl:local") == "local"


# --- a whole run ----------------------------------------------------------------------------

WORDS = "The lighthouse keeper climbs the hundred and twelve steps every evening. " * 4


def a_project(root: Path) -> Path:
    root.mkdir()
    Project.init(root)
    (root / "one.md").write_text("# One\n\nThe lighthouse stands.\n")
    return root


async def test_a_run_recorded_once_is_played_without_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = Script(Line(WORDS, times=None))
    told: list[Any] = []
    for kind in ("record", "replay"):
        root = a_project(tmp_path / kind)
        providers = {"script": script if kind == "record" else Script()}
        flags = {"models": {"default": f"{kind}:{TAPE}:script"}}
        async with Studio.open(root, Opening(providers=providers, flags=flags)) as studio:
            run = await studio.start("recipe", {})
            ended = await studio.engine.wait(run.id)
        assert ended.state is RunState.DONE, ended.error
        told.append(ended.result)
    assert len(script.calls) == len(load_cassette(tmp_path / TAPE).recordings) > 0
    assert told[0] == told[1]


def test_the_command_line_records_and_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = a_project(tmp_path / "story")
    monkeypatch.chdir(root)
    replies = root / "replies.yaml"
    replies.write_text(json.dumps({"replies": [{"text": WORDS, "times": "always"}]}))
    assert main(["run", "recipe", "--model", f"record:{TAPE}:script:replies.yaml"]) == 0
    replies.unlink()
    capsys.readouterr()
    assert main(["run", "recipe", "--model", f"replay:{TAPE}:script:replies.yaml"]) == 0
    assert "lighthouse" in capsys.readouterr().out
    assert main(["run", "recipe", "--model", f"replay:{TAPE}:script:other.yaml"]) != 0
    assert "nearest recording" in " ".join(capsys.readouterr().err.split())
