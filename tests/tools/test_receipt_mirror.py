"""The mirror follows the database, heals what a crash tore, and hides nothing."""

import fcntl
import json
import os
from typing import Any

import pytest
from toolhouse import House

from callboard.core.errors import InvalidInput
from callboard.store.faults import FaultPoints
from callboard.store.reading import FileRefused, lines_bounded
from callboard.tools import Policy, ToolCall, list_receipts, sync_mirror, verify
from callboard.tools.audit import mirror
from callboard.tools.audit.mirror import read_mirror

pytestmark = pytest.mark.anyio


async def fill(house: House, count: int = 3) -> None:
    for _ in range(count):
        await house.service.run(ToolCall("read_file", {"path": "notes.txt"}, "sess_one"), Policy())


@pytest.mark.req("CR-83")
async def test_every_receipt_is_a_full_line(house: House) -> None:
    await fill(house)
    lines = [json.loads(line) for line in house.mirror.read_text().splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3]
    assert lines[0]["receipt_id"].startswith("rcpt_")
    assert lines[0]["payload"]["text"] == "Buy ink.\n"
    assert lines[0]["signature"].startswith("hmac-sha256:")
    assert lines[1]["previous_hash"] == lines[0]["hash"]


@pytest.mark.req("CR-89")
@pytest.mark.parametrize("kept", [1, 0.5, 2])
async def test_a_torn_last_line_is_ignored_and_healed(house: House, kept: float) -> None:
    await fill(house)
    whole = house.mirror.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    tail = whole[start:]
    # Cut after one byte, in the middle, and right before the line's end.
    cut = {1: 1, 0.5: len(tail) // 2, 2: len(tail) - 1}[kept]
    house.mirror.write_bytes(whole[:start] + tail[:cut])
    assert [line.number for line in read_mirror(house.trail.folder, "sess_one")] == [1, 2]
    report = verify(house.database, house.trail)
    assert report.is_sound
    assert report.notes == ("the mirror of sess_one lacks receipt 3; a sync appends it",)
    assert sync_mirror(house.database, house.trail.folder, "sess_one") == 1
    assert house.mirror.read_bytes() == whole


async def test_a_torn_line_with_nothing_to_add_is_cut_off(house: House) -> None:
    await fill(house)
    whole = house.mirror.read_bytes()
    house.mirror.write_bytes(whole + b'{"half')
    assert sync_mirror(house.database, house.trail.folder, "sess_one") == 0
    assert house.mirror.read_bytes() == whole


async def test_a_lost_mirror_is_rebuilt_from_the_database(house: House) -> None:
    await fill(house)
    whole = house.mirror.read_bytes()
    house.mirror.unlink()
    house.mirror.parent.rmdir()
    assert sync_mirror(house.database, house.trail.folder, "sess_one") == 3
    assert house.mirror.read_bytes() == whole
    assert house.mirror.stat().st_mode & 0o077 == 0


async def test_syncing_twice_adds_nothing(house: House) -> None:
    await fill(house)
    assert sync_mirror(house.database, house.trail.folder, "sess_one") == 0


async def test_receipts_sealed_without_a_sync_come_with_the_next_one(house: House) -> None:
    for _ in range(2):
        call = ToolCall("read_file", {"path": "notes.txt"}, "sess_one")
        execution = await house.service.execute(call, Policy())
        await house.database.write(
            lambda conn, draft=execution.draft: house.service.seal(conn, draft)
        )
    assert not house.mirror.exists()
    await fill(house, 1)
    assert len(house.mirror.read_text().splitlines()) == 3


async def test_a_line_longer_than_a_chunk_is_found_whole(house: House) -> None:
    (house.root / "long.md").write_text("x" * 200_000)
    for _ in range(2):
        await house.service.run(ToolCall("read_file", {"path": "long.md"}, "sess_one"), Policy())
    assert sync_mirror(house.database, house.trail.folder, "sess_one") == 0
    assert verify(house.database, house.trail).mirror_lines == 2


async def test_a_damaged_line_is_left_for_verification_to_name(house: House) -> None:
    await fill(house)
    lines = house.mirror.read_text().splitlines()
    house.mirror.write_text("\n".join([*lines[:2], "rubbish"]) + "\n")
    await fill(house, 1)
    assert [line.data is None for line in read_mirror(house.trail.folder, "sess_one")] == [
        False,
        False,
        True,
        False,
    ]
    [flaw] = verify(house.database, house.trail).flaws
    assert (flaw.code, flaw.where, flaw.seq) == ("receipt_changed", "mirror", 3)


async def test_a_session_id_cannot_lead_out_of_the_audit_folder(house: House) -> None:
    for bad in ("../../x", "", "a/b", ".", "..", "a\0"):
        with pytest.raises(InvalidInput):
            sync_mirror(house.database, house.trail.folder, bad)


async def test_a_crash_before_or_after_the_append_loses_nothing(house: House) -> None:
    class Crash(BaseException):
        pass

    class CrashAt(FaultPoints):
        def __init__(self, point: str) -> None:
            self.point = point

        def reach(self, point: str) -> None:
            if point == self.point:
                raise Crash

    for point in ("receipts.before_mirror", "receipts.after_mirror"):
        execution = await house.service.execute(ToolCall("find_files", {}, "sess_one"), Policy())
        await house.database.write(
            lambda conn, draft=execution.draft: house.service.seal(conn, draft)
        )
        with pytest.raises(Crash):
            sync_mirror(house.database, house.trail.folder, "sess_one", CrashAt(point))
    sync_mirror(house.database, house.trail.folder, "sess_one")
    report = verify(house.database, house.trail)
    assert report.is_sound
    assert (report.receipts, report.mirror_lines) == (2, 2)


@pytest.mark.req("CR-89")
async def test_the_file_is_locked_while_it_grows(house: House) -> None:
    seen: list[str] = []

    class Rival(FaultPoints):
        def reach(self, point: str) -> None:
            with house.mirror.open("rb") as rival, pytest.raises(BlockingIOError):
                fcntl.flock(rival, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seen.append(point)

    await fill(house, 1)
    house.mirror.write_bytes(b"")
    sync_mirror(house.database, house.trail.folder, "sess_one", Rival())
    assert seen == ["receipts.before_mirror", "receipts.after_mirror"]


async def test_a_link_in_place_of_the_mirror_is_not_followed(house: House) -> None:
    target = house.root.parent / "elsewhere.jsonl"
    target.write_text("mine\n")
    house.mirror.parent.mkdir(parents=True)
    os.symlink(target, house.mirror)
    with pytest.raises(FileRefused, match="is a link"):
        sync_mirror(house.database, house.trail.folder, "sess_one")
    assert target.read_text() == "mine\n"


async def test_the_receipts_of_a_session_are_believed_by_one_reading_of_its_mirror(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(house, 20)
    readings: list[str] = []

    def counted(*args: Any, **more: Any) -> Any:
        readings.append(str(args[0]))
        return lines_bounded(*args, **more)

    monkeypatch.setattr(mirror, "lines_bounded", counted)
    stored = house.database.read(lambda c: list_receipts(c, session_id="sess_one"))
    assert all(house.service.is_signature_valid(each) for each in stored)
    assert len(readings) == 1

    # A line somebody changed is noticed, and only that receipt is not believed any more.
    lines = house.mirror.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("Buy ink", "Buy oil")
    house.mirror.write_text("".join(lines))
    believed = [house.service.is_signature_valid(each) for each in stored]
    assert [number for number, is_valid in enumerate(believed) if not is_valid] == [3]
    assert len(readings) == 2
