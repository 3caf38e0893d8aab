"""Spans as an exporter sees them: the right names, the right nesting, and no content."""

import asyncio
import inspect
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes, http_attributes
from opentelemetry.trace import SpanKind, StatusCode

from callboard.core import tracing
from callboard.core.errors import ProviderError
from callboard.core.settings.sections import TelemetrySettings
from callboard.core.tracing import NoTracer
from callboard.core.vocabulary import RunState
from callboard.models import (
    DirectGate,
    Failure,
    Line,
    Message,
    ModelRequest,
    Script,
    TextChunk,
    Usage,
)
from callboard.models import telemetry as model_telemetry
from callboard.models.telemetry import TelemetryGate
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.studio.telemetry import OtelTracer, is_wanted, open_tracer
from callboard.tools import Policy, ToolCall

pytestmark = pytest.mark.anyio

HUSHED = "the-heir-is-the-gardener"
ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    yield exporter
    exporter.shutdown()


def tracer(exporter: InMemorySpanExporter, *, shows_content: bool = False) -> OtelTracer:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OtelTracer(provider, shows_content=shows_content)


def ask(model: str = "script:replies.yaml", **more: Any) -> ModelRequest:
    messages = (Message("system", "Be brief."), Message("user", f"Hush: {HUSHED}"))
    return ModelRequest(model, messages, **more)


def gate(script: Script, trace: OtelTracer) -> TelemetryGate:
    return TelemetryGate(DirectGate({"script": script, "openai": script}), trace)


def only(spans: InMemorySpanExporter) -> ReadableSpan:
    (span,) = spans.get_finished_spans()
    return span


def text_of(spans: InMemorySpanExporter) -> str:
    return "".join(each.to_json() for each in spans.get_finished_spans())


# --- names ----------------------------------------------------------------------------------


def _names(*modules: Any) -> set[str]:
    return {
        value
        for module in modules
        for name, value in inspect.getmembers(module)
        if name.isupper() and isinstance(value, str)
    }


def test_every_name_is_one_of_the_conventions_or_marked_as_ours() -> None:
    conventions = _names(gen_ai_attributes, error_attributes, http_attributes)
    used = {name for name in _names(tracing, model_telemetry) if "." in name}
    theirs = {name for name in used if not name.startswith("callboard.")}
    assert len(theirs) > 20
    assert theirs <= conventions
    deprecated = {"gen_ai.system", "gen_ai.prompt", "gen_ai.completion"}
    assert not theirs & deprecated


def test_providers_are_spelled_as_the_conventions_spell_them() -> None:
    known = {each.value for each in gen_ai_attributes.GenAiProviderNameValues}
    spelled = model_telemetry._PROVIDER_NAMES
    assert set(spelled.values()) <= known
    ours = {"openai", "anthropic", "google", "mistral", "groq", "xai", "deepseek", "cohere"}
    assert {spelled.get(name, name) for name in ours} <= known
    operations = {each.value for each in gen_ai_attributes.GenAiOperationNameValues}
    assert {"chat", "execute_tool", "invoke_workflow"} <= operations


# --- model calls ----------------------------------------------------------------------------


async def test_a_call_is_a_client_span_with_what_was_asked_and_spent(
    spans: InMemorySpanExporter,
) -> None:
    script = Script(Line("Calm.", usage=Usage(11, 5, 3), finish_reason="length"))
    request = ask(
        "openai:gpt-4o",
        temperature=0.2,
        max_tokens=50,
        seed=7,
        stop=("END",),
        session_id="sess_1",
        run_id="run_1",
        step_key="outline",
        agent_id="planner",
        prompt_id="prm_1",
    )
    await gate(script, tracer(spans)).complete(request)
    span = only(spans)
    assert (span.name, span.kind) == ("chat gpt-4o", SpanKind.CLIENT)
    assert span.status.status_code is StatusCode.UNSET
    said = dict(span.attributes or {})
    assert 0 <= float(str(said.pop("gen_ai.response.time_to_first_chunk"))) < 60
    assert said == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 50,
        "gen_ai.request.seed": 7,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.output.type": "text",
        "gen_ai.conversation.id": "sess_1",
        "gen_ai.agent.id": "planner",
        "gen_ai.response.model": "gpt-4o",
        "gen_ai.response.finish_reasons": ("length",),
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 3,
        "callboard.run.id": "run_1",
        "callboard.step.key": "outline",
        "callboard.prompt.id": "prm_1",
    }


async def test_a_failed_call_says_its_kind_and_status_but_not_its_words(
    spans: InMemorySpanExporter,
) -> None:
    script = Script(Line(fail=Failure(503, f"cannot do {HUSHED}")))
    with pytest.raises(ProviderError):
        await gate(script, tracer(spans)).complete(ask())
    span = only(spans)
    said = dict(span.attributes or {})
    assert said["error.type"] == "provider_error"
    assert said["http.response.status_code"] == 503
    assert span.status.status_code is StatusCode.ERROR
    assert not span.events
    assert HUSHED not in text_of(spans)


async def test_a_call_that_is_left_is_cancelled_one_that_is_finished_is_not(
    spans: InMemorySpanExporter,
) -> None:
    long = "word " * 50
    asked = gate(Script(Line(long, times=None)), tracer(spans))
    async with aclosing(asked.stream(ask())) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                break
    assert dict(only(spans).attributes or {})["error.type"] == "cancelled"
    spans.clear()
    await asked.complete(ask())
    assert only(spans).status.status_code is StatusCode.UNSET


async def test_a_cancelled_task_ends_its_span(spans: InMemorySpanExporter) -> None:
    script = Script(Line("never", hold="on"))
    task = asyncio.create_task(gate(script, tracer(spans)).complete(ask()))
    await script.reached("on")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert dict(only(spans).attributes or {})["error.type"] == "cancelled"


@pytest.mark.parametrize("shows_content", [False, True])
async def test_content_is_told_only_when_asked_for(
    spans: InMemorySpanExporter, shows_content: bool
) -> None:
    script = Script(f"So it is: {HUSHED}")
    await gate(script, tracer(spans, shows_content=shows_content)).complete(ask())
    assert (HUSHED in text_of(spans)) is shows_content
    if shows_content:
        said: dict[str, Any] = dict(only(spans).attributes or {})
        system = [{"type": "text", "content": "Be brief."}]
        assert json.loads(said["gen_ai.system_instructions"]) == system
        (question,) = json.loads(said["gen_ai.input.messages"])
        assert (question["role"], question["parts"][0]["type"]) == ("user", "text")
        (answer,) = json.loads(said["gen_ai.output.messages"])
        assert (answer["role"], answer["finish_reason"]) == ("assistant", "stop")


async def test_a_cassette_is_told_as_the_model_in_it(spans: InMemorySpanExporter) -> None:
    direct = DirectGate({"record": Script("Calm.")})
    await TelemetryGate(direct, tracer(spans)).complete(ask("record:a.jsonl:mistral:large"))
    said = dict(only(spans).attributes or {})
    assert said["gen_ai.provider.name"] == "mistral_ai"
    assert said["gen_ai.request.model"] == "large"


# --- a whole run ----------------------------------------------------------------------------


@pytest.fixture
async def studio(tmp_path: Path, spans: InMemorySpanExporter) -> AsyncIterator[Studio]:
    words = f"The lighthouse keeper climbs the steps every evening. {HUSHED} " * 6
    script = Script(Line(words, times=None))
    Project.init(tmp_path)
    (tmp_path / "one.md").write_text(f"# One\n\nThe lighthouse stands. {HUSHED}\n")
    opening = Opening(providers={"script": script}, flags={"models": {"default": "script"}})
    async with Studio.open(tmp_path, opening) as opened:
        trace = tracer(spans)
        opened.backstage.trace = trace
        opened.tools.trace = trace
        opened.gate = TelemetryGate(opened.gate, trace)
        yield opened


async def test_calls_and_tools_belong_to_their_steps_and_steps_to_their_run(
    studio: Studio, spans: InMemorySpanExporter
) -> None:
    run = await studio.start("recipe", {})
    ended = await studio.engine.wait(run.id)
    assert ended.state is RunState.DONE, ended.error
    finished = spans.get_finished_spans()
    by_id = {each.context.span_id: each for each in finished if each.context is not None}
    kinds: dict[str, set[str]] = {}
    for each in finished:
        parent = None if each.parent is None else by_id[each.parent.span_id]
        kinds.setdefault(each.name.split()[0], set()).add("" if parent is None else parent.name)
    (root,) = [each for each in finished if each.parent is None]
    assert root.name == "invoke_workflow examples/recipe"
    assert kinds["step"] == {root.name}
    assert kinds["chat"] == {"step agent"}
    assert kinds["execute_tool"] <= {"step tool", "step check"}
    assert len({each.context.trace_id for each in finished if each.context is not None}) == 1
    said: dict[str, Any] = dict(root.attributes or {})
    assert said["gen_ai.workflow.name"] == run.choreography
    assert said["callboard.run.id"] == run.id
    assert said["gen_ai.conversation.id"] == run.session_id
    assert HUSHED not in text_of(spans)


async def test_a_failed_step_fails_its_span_and_the_runs(
    studio: Studio, spans: InMemorySpanExporter
) -> None:
    studio.gate = TelemetryGate(
        DirectGate({"script": Script(Line(fail=Failure(400, "no"), times=None))}),
        studio.backstage.trace,
    )
    run = await studio.start("recipe", {})
    ended = await studio.engine.wait(run.id)
    assert ended.state is RunState.FAILED
    failed = [each for each in spans.get_finished_spans() if not each.status.is_ok]
    assert {each.name.split()[0] for each in failed} == {"chat", "step", "invoke_workflow"}
    assert {dict(each.attributes or {})["error.type"] for each in failed} == {"provider_error"}


@pytest.mark.parametrize("shows_content", [False, True])
async def test_a_tool_outside_of_runs_has_its_span(
    studio: Studio, spans: InMemorySpanExporter, shows_content: bool
) -> None:
    studio.tools.trace = tracer(spans, shows_content=shows_content)
    session = await studio.sessions.create()
    tool = studio.tools.registry.get("read_file")
    call = ToolCall(tool.id, {"path": "one.md"}, session.id)
    ran = await studio.tools.run(call, Policy(None, None))
    span = only(spans)
    said: dict[str, Any] = dict(span.attributes or {})
    assert (span.name, span.kind) == (f"execute_tool {tool.id}", SpanKind.INTERNAL)
    assert said["gen_ai.operation.name"] == "execute_tool"
    assert said["gen_ai.tool.call.id"] == ran.receipt.id
    assert (HUSHED in text_of(spans)) is shows_content
    assert ("gen_ai.tool.call.arguments" in said) is shows_content


async def test_a_made_up_tool_is_not_repeated(studio: Studio, spans: InMemorySpanExporter) -> None:
    session = await studio.sessions.create()
    await studio.tools.run(ToolCall(HUSHED, {}, session.id), Policy(None, None))
    assert only(spans).name == "execute_tool unknown"
    assert not only(spans).status.is_ok
    assert HUSHED not in text_of(spans)


# --- on and off -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("enabled", "environment", "wanted"),
    [
        (None, {}, False),
        (None, ENDPOINT, True),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318"}, True),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        (True, {}, True),
        (False, ENDPOINT, False),
        (True, {"OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_it_is_off_unless_an_exporter_is_configured(
    enabled: bool | None, environment: dict[str, str], wanted: bool
) -> None:
    assert is_wanted(TelemetrySettings(enabled=enabled), environment) is wanted


def test_off_is_a_silent_object() -> None:
    trace = open_tracer(TelemetrySettings(), {})
    assert isinstance(trace, NoTracer)
    assert not trace.is_on
    with trace.span("x", {}) as span:
        span.set("a", 1)
    assert trace.begin("x", {}, "client") is trace.begin("y", {}, "internal")


def test_without_an_exporter_installed_it_says_how_to_get_one(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    with caplog.at_level(logging.WARNING):
        trace = open_tracer(TelemetrySettings(enabled=True), {})
    assert isinstance(trace, NoTracer)
    assert "callboard[otel]" in caplog.text


async def test_a_program_that_has_its_own_telemetry_keeps_it(
    spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(otel, "get_tracer_provider", lambda: provider)
    trace = open_tracer(TelemetrySettings(enabled=True), {})
    with trace.span("work", {}):
        pass
    await trace.close()
    assert only(spans).name == "work"
    with trace.span("after", {}):
        pass
    assert len(spans.get_finished_spans()) == 2, "closing ours does not shut down theirs"


OFF = """
import asyncio, sys
from pathlib import Path
from callboard.models import Line, Script
from callboard.studio.project import Project
from callboard.studio.opening import Opening
from callboard.studio.studio import Studio

async def main(root):
    Project.init(root)
    (root / "one.md").write_text("# One\\n\\nThe lighthouse stands.\\n")
    script = Script(Line("The lighthouse stands and shines. " * 30, times=None))
    opening = Opening(providers={"script": script}, flags={"models": {"default": "script"}})
    async with Studio.open(root, opening) as studio:
        run = await studio.start("recipe", {})
        print((await studio.engine.wait(run.id)).state)
    print([name for name in sys.modules if name.startswith("opentelemetry")])

asyncio.run(main(Path(sys.argv[1])))
"""


def test_off_means_that_nothing_of_it_is_even_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFF, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[:2] == ["done", "[]"], done.stderr
