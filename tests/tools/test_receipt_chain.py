"""Receipts: sealed with the step they belong to, chained without gaps whoever appends."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from toolhouse import House, trail_of

from callboard.core.errors import NotFound
from callboard.core.vocabulary import ReceiptOutcome
from callboard.store.database import Connection
from callboard.tools import (
    Policy,
    ReceiptDraft,
    Signer,
    ToolCall,
    is_signature_valid,
    list_receipts,
    read_receipt,
    seal,
    verify,
)
from callboard.tools.audit.receipts import receipt_from_json, receipt_to_json
from stores import open_store

pytestmark = pytest.mark.anyio

APPENDER = """
import asyncio, sys
from pathlib import Path
from callboard.core.clock import SystemClock
from callboard.core.ids import IdMaker
from stores import open_store
from callboard.tools import Policy, ToolCall, ToolRegistry, ToolService
from callboard.tools.audit import Trail
from callboard.tools.builtin import BUILTIN_TOOLS

async def main(root, count):
    database = open_store(root / ".callboard/callboard.db")
    clock = SystemClock()
    registry = ToolRegistry(BUILTIN_TOOLS)
    service = ToolService(
        database,
        root,
        registry,
        trail=Trail(root / ".callboard/audit", root.parent / "keys" / root.name),
        kept=root / ".callboard",
        ids=IdMaker(clock),
        clock=clock,
    )
    calls = (ToolCall("text_stats", {"paths": ["notes.txt"]}, "sess_one") for _ in range(count))
    await asyncio.gather(*(service.run(call, Policy()) for call in calls))
    database.close()

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


def draft(number: int = 1, **changes: object) -> ReceiptDraft:
    values: dict[str, object] = {
        "id": f"rcpt_{number:04d}",
        "session_id": "sess_one",
        "tool": "read_file",
        "args": {"path": "a.md"},
        "outcome": ReceiptOutcome.SUCCEEDED,
        **changes,
    }
    return ReceiptDraft(**values)  # type: ignore[arg-type]


async def test_receipts_of_a_session_form_one_chain(house: House) -> None:
    one = await house.database.write(lambda conn: house.service.seal(conn, draft(1)))
    other = await house.database.write(
        lambda conn: house.service.seal(conn, draft(2, session_id="sess_two"))
    )
    two = await house.database.write(lambda conn: house.service.seal(conn, draft(3)))
    assert (one.seq, one.previous_hash) == (1, "")
    assert (two.seq, two.previous_hash) == (2, one.hash)
    assert (other.seq, other.previous_hash) == (1, "")


async def test_a_receipt_stands_or_falls_with_its_transaction(house: House) -> None:
    def failing(conn: Connection) -> None:
        house.service.seal(conn, draft(1))
        raise RuntimeError("the step could not be recorded")

    with pytest.raises(RuntimeError):
        await house.database.write(failing)
    assert house.database.read(lambda conn: list(list_receipts(conn))) == []
    again = await house.database.write(lambda conn: house.service.seal(conn, draft(1)))
    assert again.seq == 1
    assert (await verify_sound(house)).receipts == 1


async def verify_sound(house: House):  # type: ignore[no-untyped-def]
    report = verify(house.database, house.trail)
    assert report.flaws == ()
    return report


async def test_a_repeated_unit_seals_the_same_receipt(house: House) -> None:
    sealed = []

    def twice(conn: Connection) -> None:
        conn.execute("SAVEPOINT attempt")
        sealed.append(house.service.seal(conn, draft(1)))
        conn.execute("ROLLBACK TO attempt")
        sealed.append(house.service.seal(conn, draft(1)))

    await house.database.write(twice)
    assert sealed[0] == sealed[1]
    assert (await verify_sound(house)).receipts == 1


async def test_the_same_draft_is_never_on_record_twice(house: House) -> None:
    await house.database.write(lambda conn: house.service.seal(conn, draft(1)))
    with pytest.raises(Exception, match="UNIQUE"):
        await house.database.write(lambda conn: house.service.seal(conn, draft(1)))
    assert (await verify_sound(house)).receipts == 1


@pytest.mark.req("CR-83")
async def test_a_large_payload_is_stored_whole_and_once(house: House) -> None:
    payload = json.dumps({"text": "ä" * 200_000}, ensure_ascii=False, separators=(",", ":"))
    for number in (1, 2):
        made = draft(number, payload_json=payload)
        await house.database.write(lambda conn, made=made: house.service.seal(conn, made))
    stored = house.database.read(lambda conn: read_receipt(conn, "rcpt_0002"))
    assert stored.payload == {"text": "ä" * 200_000}
    assert house.service.is_signature_valid(stored)
    blobs = house.database.read(
        lambda conn: conn.execute("SELECT count(*) AS n FROM blobs").fetchone()["n"]
    )
    assert blobs == 1


@pytest.mark.req("CR-84")
async def test_receipts_are_listed_by_session_and_run(house: House) -> None:
    for number, (session, run) in enumerate([("a", "r1"), ("a", "r2"), ("b", "r1")], start=1):
        made = draft(number, session_id=session, run_id=run)
        await house.database.write(lambda conn, made=made: house.service.seal(conn, made))

    def ids(**wanted: str) -> list[str]:
        return house.database.read(lambda c: [r.id for r in list_receipts(c, **wanted)])  # type: ignore[arg-type]

    assert ids(session_id="a") == ["rcpt_0001", "rcpt_0002"]
    assert ids(run_id="r1") == ["rcpt_0001", "rcpt_0003"]
    assert ids(session_id="a", run_id="r1") == ["rcpt_0001"]
    with pytest.raises(NotFound):
        house.database.read(lambda conn: read_receipt(conn, "rcpt_9999"))


async def test_many_executions_at_once_leave_an_unbroken_chain(house: House) -> None:
    calls = [ToolCall("text_stats", {"paths": ["notes.txt"]}, "sess_one") for _ in range(60)]
    calls += [ToolCall("no_such_tool", {}, "sess_one") for _ in range(20)]
    rans = await asyncio.gather(*(house.service.run(call, Policy()) for call in calls))
    assert sorted(ran.receipt.seq for ran in rans) == list(range(1, 81))
    report = await verify_sound(house)
    assert (report.receipts, report.mirror_lines) == (80, 80)
    assert all(report.signature_valid.values())


@pytest.mark.req("CR-89")
def test_two_processes_append_to_one_chain(root: Path) -> None:
    # Also a race for the key: neither process finds one.
    command = [sys.executable, "-c", APPENDER, str(root), "40"]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors.decode()
    database = open_store(root / ".callboard/callboard.db")
    report = verify(database, trail_of(root))
    database.close()
    assert report.flaws == ()
    assert (report.receipts, report.mirror_lines) == (80, 80)


def test_a_receipt_is_only_valid_as_it_was_signed(root: Path) -> None:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    for table in (
        "receipts (id, session_id, seq, tool, outcome, run_id, created_at, body,"
        " payload, hash, signature)",
        "receipt_heads (session_id PRIMARY KEY, seq, hash, signature)",
    ):
        connection.execute(f"CREATE TABLE {table}")
    signer = Signer(trail_of(root))
    receipt = seal(connection, draft(payload_json='{"a":1}'), signer)
    connection.close()
    assert is_signature_valid(receipt, signer)
    data = receipt_to_json(receipt)
    for name, value in data.items():
        changed = {**data, name: value + 1 if isinstance(value, int) else "x"}
        if name == "version":
            continue
        try:
            altered = receipt_from_json(changed)
        except ValueError:
            continue
        assert not is_signature_valid(altered, signer), name
    assert not is_signature_valid(receipt_from_json({**data, "payload": {"a": 2}}), signer)


def test_receipts_written_by_the_first_version_can_still_be_checked(tmp_path: Path) -> None:
    signer = Signer(trail_of(tmp_path))
    signer.path.parent.mkdir(parents=True)
    signer.path.write_text("00" * 32 + "\n")
    frozen = Path(__file__).parent / "corpus" / "receipt_v1.json"
    receipt = receipt_from_json(json.loads(frozen.read_text(encoding="utf-8")))
    assert receipt.error is not None
    assert receipt.error.code == "tool_refused"
    assert is_signature_valid(receipt, signer)
