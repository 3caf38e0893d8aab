"""Nonces: one call, one place, one use, also after a restart."""

import asyncio

import pytest
from toolhouse import House

from callboard.core.vocabulary import ReceiptOutcome
from callboard.tools import NonceScope, Policy, Ran, ToolCall, ToolService

pytestmark = pytest.mark.anyio

SCOPE = NonceScope("sess_one", "run_1", "phase/1")


async def read(
    service: ToolService,
    nonce: str,
    *,
    session_id: str = "sess_one",
    run_id: str | None = "run_1",
    step_key: str | None = "phase/1",
    tool: str = "read_file",
) -> Ran:
    args = {"path": "notes.txt"} if tool == "read_file" else {}
    call = ToolCall(tool, args, session_id, run_id, step_key, "chief", nonce)
    return await service.run(call, Policy())


def is_nonce_invalid(ran: Ran) -> bool:
    error = ran.receipt.error
    assert ran.receipt.outcome is ReceiptOutcome.REFUSED
    return error is not None and error.code == "nonce_invalid"


async def test_a_nonce_works_once(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    first = await read(house.service, nonce)
    assert first.receipt.outcome is ReceiptOutcome.SUCCEEDED
    assert is_nonce_invalid(await read(house.service, nonce))


async def test_nothing_runs_on_a_used_nonce(house: House) -> None:
    args = {"path": "log.md", "content": "first"}
    nonce = house.service.mint_nonce(SCOPE)
    for content, code in (("first", None), ("second", "nonce_invalid")):
        call = ToolCall(
            "write_file", {**args, "content": content}, "sess_one", "run_1", "phase/1", nonce=nonce
        )
        error = (await house.service.run(call, Policy())).receipt.error
        assert (error and error.code) == code
    assert (house.root / "log.md").read_text() == "first"


async def test_a_used_nonce_stays_used_after_a_restart(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    await read(house.service, nonce)
    assert is_nonce_invalid(await read(house.reopened(), nonce))


async def test_an_unused_nonce_survives_a_restart(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    ran = await read(house.reopened(), nonce)
    assert ran.receipt.outcome is ReceiptOutcome.SUCCEEDED


@pytest.mark.parametrize(
    "elsewhere",
    [{"session_id": "sess_two"}, {"run_id": "run_2"}, {"step_key": "phase/2"}, {"run_id": None}],
)
async def test_a_nonce_is_worthless_elsewhere(house: House, elsewhere: dict[str, str]) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    assert is_nonce_invalid(await read(house.service, nonce, **elsewhere))
    ran = await read(house.service, nonce)
    assert ran.receipt.outcome is ReceiptOutcome.SUCCEEDED


async def test_a_nonce_for_one_tool_does_not_run_another(house: House) -> None:
    nonce = house.service.mint_nonce(NonceScope("sess_one", "run_1", "phase/1", "read_file"))
    assert is_nonce_invalid(await read(house.service, nonce, tool="find_files"))
    ran = await read(house.service, nonce)
    assert ran.receipt.outcome is ReceiptOutcome.SUCCEEDED


async def test_made_up_nonces_are_refused(house: House) -> None:
    nonce_id, _, proof = house.service.mint_nonce(SCOPE).partition(".")
    wrong = ("0" if proof[0] != "0" else "1") + proof[1:]
    for made_up in ("", "x", nonce_id, f"{nonce_id}.", f"{nonce_id}.{wrong}", "\ud800.\ud800"):
        assert is_nonce_invalid(await read(house.service, made_up))


async def test_what_a_receipt_shows_is_not_a_usable_nonce(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    refused = await house.service.run(
        ToolCall("read_file", {}, "sess_one", "run_1", "phase/1", nonce=nonce), Policy()
    )
    assert nonce.startswith(refused.receipt.nonce)
    assert refused.receipt.nonce != nonce
    assert is_nonce_invalid(await read(house.service, refused.receipt.nonce))
    own = await house.service.run(ToolCall("find_files", {}, "sess_one"), Policy())
    assert own.receipt.nonce.startswith("nonce_")
    call = ToolCall("find_files", {}, "sess_one", nonce=own.receipt.nonce)
    assert is_nonce_invalid(await house.service.run(call, Policy()))


async def test_a_call_that_could_not_run_leaves_the_nonce_unspent(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    bad = ToolCall("read_file", {"pth": "x"}, "sess_one", "run_1", "phase/1", nonce=nonce)
    assert (await house.service.run(bad, Policy())).receipt.outcome is ReceiptOutcome.REFUSED
    good = await read(house.service, nonce)
    assert good.receipt.outcome is ReceiptOutcome.SUCCEEDED


async def test_of_many_at_once_one_gets_through(house: House) -> None:
    nonce = house.service.mint_nonce(SCOPE)
    services = [house.service, house.reopened()]
    rans = await asyncio.gather(*(read(services[n % 2], nonce) for n in range(20)))
    succeeded = [ran for ran in rans if ran.receipt.outcome is ReceiptOutcome.SUCCEEDED]
    assert len(succeeded) == 1
