"""Running tools: permission first, one receipt for whatever happens, no way around the clock."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr
from toolhouse import House

from callboard.core.errors import CallboardError, ErrorTier
from callboard.core.vocabulary import Agent, Effect, Receipt, ReceiptOutcome, RoleContract
from callboard.tools import (
    CallRefused,
    Policy,
    Probe,
    Ran,
    Tool,
    ToolArgs,
    ToolCall,
    ToolContext,
    ToolResult,
    list_receipts,
    read_receipt,
    tool,
)

pytestmark = pytest.mark.anyio

ANYONE = Policy()


class NoArgs(ToolArgs):
    pass


def make_tool(body: Callable[[], Any], name: str = "probe_me", **options: Any) -> Tool:
    @tool(tool_id=name, **options)
    async def made(_context: ToolContext, _args: NoArgs) -> ToolResult:
        """Do what the test wants."""
        return await body()

    return made


def call(name: str, args: dict[str, Any] | None = None, **options: Any) -> ToolCall:
    return ToolCall(name, args or {}, "sess_one", **options)


def receipts(house: House) -> list[Receipt]:
    return house.database.read(lambda conn: list(list_receipts(conn, session_id="sess_one")))


def code_of(ran: Ran) -> str:
    assert ran.receipt.error is not None
    return ran.receipt.error.code


@pytest.mark.req("CR-44", "CR-82", "CR-83", "CR-84")
async def test_a_success_leaves_a_full_signed_receipt(house: House) -> None:
    ran = await house.service.run(
        call("read_file", {"path": "Story/one.md"}, run_id="run_1", step_key="a/read"), ANYONE
    )
    stored = house.database.read(lambda conn: read_receipt(conn, ran.receipt.id))
    assert stored == ran.receipt
    assert stored.id.startswith("rcpt_")
    assert stored.outcome is ReceiptOutcome.SUCCEEDED
    assert (stored.session_id, stored.run_id, stored.step_key) == ("sess_one", "run_1", "a/read")
    assert stored.args == {"path": "Story/one.md", "start_line": 1, "end_line": None}
    assert stored.payload == ran.execution.unwrap().payload
    assert "The gate is shut." in stored.payload["text"]
    assert stored.file_refs[0]["path"] == "Story/one.md"
    assert house.service.is_signature_valid(stored)


@pytest.mark.req("CR-44")
async def test_a_failing_tool_leaves_a_receipt(house: House) -> None:
    async def explode() -> ToolResult:
        raise KeyError("no such beat")

    house.service.registry.register(make_tool(explode))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert ran.receipt.outcome is ReceiptOutcome.FAILED
    assert code_of(ran) == "tool_failed"
    assert ran.receipt.error is not None
    assert ran.receipt.error.context["type"] == "KeyError"
    assert ran.receipt.payload is None
    with pytest.raises(CallboardError, match="no such beat"):
        ran.execution.unwrap()


async def test_an_error_of_the_operating_system_keeps_its_tier(house: House) -> None:
    async def full() -> ToolResult:
        raise OSError(28, "No space left on device")

    house.service.registry.register(make_tool(full))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert ran.receipt.error is not None
    assert ran.receipt.error.tier is ErrorTier.USER_FIXABLE


@pytest.mark.req("CR-44")
@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("no_such_tool", {}, "unknown_tool"),
        ("read_file", {"path": "Story/one.md", "extra": 1}, "invalid_args"),
        ("read_file", {}, "invalid_args"),
        ("read_file", {"path": float("nan")}, "invalid_args"),
        ("read_file", {"path": "Story/one.md", "dry_run": "yes"}, "invalid_args"),
    ],
)
async def test_a_call_that_cannot_run_is_refused_on_record(
    house: House, name: str, args: dict[str, Any], code: str
) -> None:
    ran = await house.service.run(call(name, args), ANYONE)
    assert ran.receipt.outcome is ReceiptOutcome.REFUSED
    assert code_of(ran) == code
    assert house.service.is_signature_valid(ran.receipt)
    assert receipts(house) == [ran.receipt]


def agent(*tools: str) -> Agent:
    return Agent("critic-001", RoleContract("critic"), tools=frozenset(tools))


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (Policy.for_agent(agent("read_file")), "role"),
        (Policy.for_agent(agent()), "role"),
        (Policy.for_agent(agent("spy"), session_tools=frozenset({"read_file"})), "session"),
        (Policy(session_tools=frozenset({"read_file"})), "session"),
        (Policy(read_only=True), "read_only"),
        (Policy.closed(), "closed"),
    ],
)
async def test_what_is_not_allowed_does_not_run(house: House, policy: Policy, rule: str) -> None:
    ran_at_all: list[str] = []

    async def spy() -> ToolResult:
        ran_at_all.append("ran")
        return ToolResult({})

    house.service.registry.register(make_tool(spy, "spy", effect=Effect.ONCE))
    ran = await house.service.run(call("spy", agent_id="critic-001"), policy)
    assert ran_at_all == []
    assert ran.receipt.outcome is ReceiptOutcome.REFUSED
    assert ran.receipt.agent_id == "critic-001"
    assert ran.receipt.error is not None
    assert (ran.receipt.error.code, ran.receipt.error.context["rule"]) == ("tool_refused", rule)


async def test_what_role_and_session_allow_runs(house: House) -> None:
    policy = Policy.for_agent(agent("read_file"), session_tools=frozenset(), read_only=True)
    ran = await house.service.run(call("read_file", {"path": "notes.txt"}), policy)
    assert ran.receipt.outcome is ReceiptOutcome.SUCCEEDED


@pytest.mark.req("CR-47")
async def test_a_dry_run_touches_nothing_and_is_allowed_in_read_only_mode(house: House) -> None:
    args = {"path": "Story/one.md", "content": "# The Gate\n\nOpen.\n", "dry_run": True}
    before = (house.root / "Story/one.md").read_text()
    ran = await house.service.run(call("write_file", args), Policy(read_only=True))
    payload = ran.execution.unwrap().payload
    assert payload["writes"] == ["Story/one.md"]
    assert "-Kael waits. The gate is shut." in payload["diff"].splitlines()
    assert "+Open." in payload["diff"].splitlines()
    assert (house.root / "Story/one.md").read_text() == before
    assert ran.receipt.detail == {"dry_run": True}
    assert ran.receipt.args["dry_run"] is True
    assert not (house.root / ".callboard/backups").exists()


async def test_a_tool_that_cannot_tell_refuses_a_dry_run(house: House) -> None:
    async def act() -> ToolResult:
        raise AssertionError("ran")

    house.service.registry.register(make_tool(act))
    ran = await house.service.run(call("probe_me", {"dry_run": True}), ANYONE)
    assert (ran.receipt.outcome, code_of(ran)) == (ReceiptOutcome.REFUSED, "invalid_args")


async def test_an_async_tool_is_cancelled_when_its_time_is_up(house: House) -> None:
    cancelled = asyncio.Event()

    async def hang() -> ToolResult:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    house.service.registry.register(make_tool(hang, timeout_seconds=0.01))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert cancelled.is_set()
    assert (ran.receipt.outcome, code_of(ran)) == (ReceiptOutcome.FAILED, "tool_timeout")


async def test_a_thread_tool_is_abandoned_when_its_time_is_up(house: House) -> None:
    release, finished = threading.Event(), threading.Event()

    @tool(tool_id="stuck", timeout_seconds=0.01, effect=Effect.ONCE)
    def stuck(_context: ToolContext, _args: NoArgs) -> ToolResult:
        release.wait(30)
        finished.set()
        return ToolResult({"late": True})

    house.service.registry.register(stuck)
    ran = await house.service.run(call("stuck"), ANYONE)
    # The effect may still come: nobody knows, and the receipt says so.
    assert (ran.receipt.outcome, code_of(ran)) == (ReceiptOutcome.UNKNOWN, "tool_timeout")
    release.set()
    assert await asyncio.to_thread(finished.wait, 30)
    assert len(receipts(house)) == 1


async def test_a_timeout_of_the_tools_own_is_an_ordinary_failure(house: House) -> None:
    async def slow_server() -> ToolResult:
        raise TimeoutError("the server did not answer")

    house.service.registry.register(make_tool(slow_server))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert code_of(ran) == "tool_failed"


@pytest.mark.parametrize(
    ("effect", "outcome"),
    [(Effect.PURE, ReceiptOutcome.FAILED), (Effect.ONCE, ReceiptOutcome.UNKNOWN)],
)
async def test_a_cancelled_call_is_on_record_too(
    house: House, effect: Effect, outcome: ReceiptOutcome
) -> None:
    started = asyncio.Event()

    async def hang() -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    house.service.registry.register(make_tool(hang, effect=effect))
    task = asyncio.create_task(house.service.run(call("probe_me"), ANYONE))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [receipt] = receipts(house)
    assert receipt.outcome is outcome
    assert receipt.error is not None
    assert receipt.error.code == "tool_cancelled"


@pytest.mark.parametrize("bad", [{"n": float("nan")}, {"o": object()}, ["a list"], None])
async def test_a_result_that_is_not_a_json_object_fails(house: House, bad: Any) -> None:
    async def odd() -> ToolResult:
        return ToolResult(bad)

    house.service.registry.register(make_tool(odd))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert (ran.receipt.outcome, code_of(ran)) == (ReceiptOutcome.FAILED, "tool_failed")


async def test_something_else_than_a_result_fails(house: House) -> None:
    async def odd() -> ToolResult:
        return "done"  # type: ignore[return-value]

    house.service.registry.register(make_tool(odd))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert ran.receipt.outcome is ReceiptOutcome.FAILED


async def test_half_characters_and_null_bytes_do_not_break_the_record(house: House) -> None:
    async def rubbish() -> ToolResult:
        return ToolResult({"text": "\ud800 and \0 😀"}, "\udfff", "\ud800")

    house.service.registry.register(make_tool(rubbish))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert ran.receipt.payload == {"text": "? and \0 😀"}
    assert ran.receipt == receipts(house)[0]
    refused = await house.service.run(call("\ud800", {"a": "\udc80"}), ANYONE)
    assert house.service.is_signature_valid(refused.receipt)


async def test_secrets_never_reach_a_receipt(house: House) -> None:
    class KeyArgs(ToolArgs):
        token: SecretStr

    seen: list[str] = []

    @tool(tool_id="fetch")
    async def fetch(_context: ToolContext, args: KeyArgs) -> ToolResult:
        seen.append(args.token.get_secret_value())
        return ToolResult({})

    house.service.registry.register(fetch)
    await house.service.run(call("fetch", {"token": "hunter2"}), ANYONE)
    await house.service.run(call("fetch", {"token": "hunter2", "x": 1}), ANYONE)
    await house.service.run(call("fetch", {"token": ["hunter2"]}), ANYONE)
    await house.service.run(call("fetch", {"token": "hunter2"}), Policy.closed())
    assert seen == ["hunter2"]
    assert len(receipts(house)) == 4
    assert "hunter2" not in house.mirror.read_text()


async def test_a_long_summary_is_cut_visibly_and_the_payload_is_not(house: House) -> None:
    async def verbose() -> ToolResult:
        return ToolResult({"text": "x" * 50_000}, "", "y" * 50_000)

    house.service.registry.register(make_tool(verbose))
    ran = await house.service.run(call("probe_me"), ANYONE)
    assert len(ran.receipt.summary) < 12_100
    assert "38000 more characters" in ran.receipt.summary
    assert receipts(house)[0].payload == {"text": "x" * 50_000}


@pytest.mark.parametrize(("happened", "expected"), [(False, False), (None, None)])
async def test_a_probe_that_finds_nothing_leaves_no_receipt(
    house: House, happened: bool | None, expected: bool | None
) -> None:
    async def probe(_context: ToolContext, _args: NoArgs) -> Probe:
        return Probe(happened)

    async def act() -> ToolResult:
        raise AssertionError("a probe never repeats the effect")

    house.service.registry.register(make_tool(act, effect=Effect.ONCE, probe=probe))
    assert await house.service.resolve(call("probe_me")) is expected


async def test_an_interrupted_write_is_resolved_by_looking(house: House) -> None:
    write = call("write_file", {"path": "new.md", "content": "# New\n"})
    before = await house.service.observe(write)
    assert before == {"sha256": None}
    assert await house.service.resolve(write, before) is False
    (house.root / "new.md").write_text("Somebody else's.\n")
    assert await house.service.resolve(write, before) is None
    (house.root / "new.md").write_text("# New\n")
    execution = await house.service.resolve(write)
    assert execution is not None
    assert not isinstance(execution, bool)
    assert execution.unwrap().payload["path"] == "new.md"
    receipt = await house.database.write(lambda conn: house.service.seal(conn, execution.draft))
    assert receipt.detail == {"resolved_by": "probe"}
    assert receipt.outcome is ReceiptOutcome.SUCCEEDED


async def test_a_tool_without_a_probe_cannot_be_resolved(house: House) -> None:
    assert await house.service.resolve(call("read_file", {"path": "notes.txt"})) is None


async def test_a_tool_cannot_end_the_process_from_its_thread(house: House) -> None:
    @tool(tool_id="leave")
    def leave(_context: ToolContext, _args: NoArgs) -> ToolResult:
        raise SystemExit(3)

    @tool(tool_id="stop")
    def stop(_context: ToolContext, _args: NoArgs) -> ToolResult:
        raise StopIteration

    for each in (leave, stop):
        house.service.registry.register(each)
        ran = await house.service.run(call(each.id), ANYONE)
        assert ran.receipt.outcome is ReceiptOutcome.FAILED


def test_a_refusal_names_who_may_do_what() -> None:
    policy = Policy.for_agent(agent("read_file", "find_files"))
    with pytest.raises(CallRefused) as caught:
        policy.check(make_tool(lambda: None, "spy"))
    assert "critic-001 may use find_files, read_file" in caught.value.message


@pytest.mark.req("CR-45")
async def test_the_same_tree_and_args_give_the_same_payload_hash(house: House) -> None:
    for name, args in [
        ("find_files", {"query": "kael"}),
        ("search_text", {"text": "key"}),
        ("text_stats", {"paths": ["Story/one.md", "Story/two.md"]}),
        ("read_file", {"path": "Story/two.md"}),
    ]:
        first = await house.service.run(call(name, args), ANYONE)
        second = await house.service.run(call(name, args), ANYONE)
        assert first.receipt.payload_sha256 == second.receipt.payload_sha256
