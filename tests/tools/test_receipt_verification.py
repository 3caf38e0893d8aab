"""Tampering with the audit trail, in every way we could think of, is named."""

import random
import sqlite3
from collections.abc import Callable

import pytest
from toolhouse import House

from callboard.core.errors import NotFound
from callboard.tools import Flaw, Policy, ToolCall, read_receipt, verify

pytestmark = pytest.mark.anyio


@pytest.fixture
async def filled(house: House) -> House:
    for number in range(1, 6):
        call = ToolCall("read_file", {"path": "notes.txt", "start_line": 1}, "sess_one")
        await house.service.run(call, Policy(read_only=number == 2))
    assert verify(house.database, house.trail).is_sound
    return house


def alter(house: House, *statements: str) -> None:
    connection = sqlite3.connect(house.database.path)
    for statement in statements:
        assert connection.execute(statement).rowcount > 0, statement
    connection.commit()
    connection.close()


def flaws(house: House, where: str) -> list[Flaw]:
    return [flaw for flaw in verify(house.database, house.trail).flaws if flaw.where == where]


def edit_lines(house: House, edit: Callable[[list[str]], list[str]]) -> None:
    lines = house.mirror.read_text().splitlines()
    house.mirror.write_text("".join(line + "\n" for line in edit(lines)))


async def test_an_untouched_trail_is_sound(filled: House) -> None:
    report = verify(filled.database, filled.trail)
    assert (report.sessions, report.receipts, report.mirror_lines) == (("sess_one",), 5, 5)
    assert list(report.signature_valid.values()) == [True] * 5
    assert report.notes == ()


async def test_an_empty_project_says_that_nothing_was_checked(house: House) -> None:
    report = verify(house.database, house.trail)
    assert report.is_sound
    assert (report.sessions, report.receipts) == ((), 0)
    with pytest.raises(NotFound, match="sess_nobody"):
        verify(house.database, house.trail, "sess_nobody")


async def test_one_changed_character_in_the_database_is_named(filled: House) -> None:
    alter(
        filled,
        "UPDATE receipts SET body = replace(body, 'notes.txt', 'notes.txd') WHERE seq = 3",
    )
    [flaw] = flaws(filled, "database")
    assert (flaw.code, flaw.seq) == ("receipt_changed", 3)
    assert flaw.receipt_id is not None
    assert flaw.receipt_id in flaw.message
    report = verify(filled.database, filled.trail)
    assert [each for each, valid in report.signature_valid.items() if not valid] == [
        flaw.receipt_id
    ]
    stored = filled.database.read(lambda conn: read_receipt(conn, str(flaw.receipt_id)))
    assert not filled.service.is_signature_valid(stored)


async def test_a_change_with_a_matching_hash_lacks_the_signature(filled: House) -> None:
    import hashlib

    connection = sqlite3.connect(filled.database.path)
    [body] = connection.execute("SELECT body FROM receipts WHERE seq = 5").fetchone()
    forged = body.replace("notes.txt", "notes.txd")
    connection.execute(
        "UPDATE receipts SET body = ?, hash = ? WHERE seq = 5",
        (forged, hashlib.sha256(forged.encode()).hexdigest()),
    )
    connection.commit()
    connection.close()
    assert [flaw.code for flaw in flaws(filled, "database")] == [
        "signature_invalid",
        "head_changed",
    ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE receipts SET payload = '{}' WHERE seq = 2", [("payload_changed", 2)]),
        ("UPDATE receipts SET tool = 'find_files' WHERE seq = 2", [("receipt_changed", 2)]),
        ("UPDATE receipts SET outcome = 'failed' WHERE seq = 2", [("receipt_changed", 2)]),
        ("UPDATE receipts SET id = 'rcpt_x' WHERE seq = 2", [("receipt_changed", 2)]),
        ("UPDATE receipts SET signature = 'hmac' WHERE seq = 2", [("signature_invalid", 2)]),
        ("DELETE FROM receipts WHERE seq = 3", [("receipt_removed", 4)]),
        ("DELETE FROM receipts WHERE seq = 1", [("receipt_removed", 2)]),
        ("DELETE FROM receipts WHERE seq >= 4", [("tail_removed", 3)]),
        ("DELETE FROM receipt_heads", [("head_missing", 5)]),
        ("UPDATE receipt_heads SET seq = 4", [("head_changed", 5), ("head_changed", 5)]),
        ("DELETE FROM receipts", [("tail_removed", None)]),
    ],
)
async def test_each_change_in_the_database_is_named(
    filled: House, statement: str, expected: list[tuple[str, int | None]]
) -> None:
    alter(filled, statement)
    assert [(flaw.code, flaw.seq) for flaw in flaws(filled, "database")] == expected


async def test_swapped_receipts_are_named(filled: House) -> None:
    alter(
        filled,
        "UPDATE receipts SET seq = 99 WHERE seq = 2",
        "UPDATE receipts SET seq = 2 WHERE seq = 3",
        "UPDATE receipts SET seq = 3 WHERE seq = 99",
    )
    found = {(flaw.code, flaw.seq) for flaw in flaws(filled, "database")}
    assert {("receipt_changed", 2), ("receipt_changed", 3), ("chain_broken", 2)} <= found


async def test_a_database_set_back_to_an_older_state_is_betrayed_by_the_mirror(
    house: House,
) -> None:
    async def append() -> None:
        await house.service.run(ToolCall("find_files", {}, "sess_one"), Policy())

    await append()
    await append()
    connection = sqlite3.connect(house.database.path)
    head = connection.execute("SELECT * FROM receipt_heads").fetchone()
    connection.close()
    await append()
    alter(
        house,
        "DELETE FROM receipts WHERE seq = 3",
        f"UPDATE receipt_heads SET seq = 2, hash = '{head[2]}', signature = '{head[3]}'",  # noqa: S608
    )
    [flaw] = verify(house.database, house.trail).flaws
    assert (flaw.code, flaw.where, flaw.seq) == ("tail_removed", "mirror", 3)


async def test_a_forged_head_is_not_made_good_by_the_next_receipt(filled: House) -> None:
    alter(
        filled,
        "DELETE FROM receipts WHERE seq = 5",
        "UPDATE receipt_heads SET seq = 4,"
        " hash = (SELECT hash FROM receipts WHERE session_id = 'sess_one' AND seq = 4)",
    )
    await filled.service.run(ToolCall("find_files", {}, "sess_one"), Policy())
    assert [flaw.code for flaw in flaws(filled, "database")] == ["chain_warning"]


async def test_any_single_changed_byte_of_the_mirror_is_named(filled: House) -> None:
    whole = filled.mirror.read_bytes()
    chance = random.Random(7)
    for _ in range(150):
        position = chance.randrange(len(whole) - 1)
        changed = bytearray(whole)
        changed[position] ^= 1 << chance.randrange(7)
        if changed[position] == ord("\n") or whole[position] == ord("\n"):
            continue
        filled.mirror.write_bytes(changed)
        found = flaws(filled, "mirror")
        line = whole[:position].count(b"\n") + 1
        assert ("receipt_changed", line) in {(flaw.code, flaw.seq) for flaw in found}
    filled.mirror.write_bytes(whole)
    assert flaws(filled, "mirror") == []


async def test_a_removed_line_is_named(filled: House) -> None:
    edit_lines(filled, lambda lines: lines[:2] + lines[3:])
    [flaw] = flaws(filled, "mirror")
    assert (flaw.code, flaw.seq) == ("receipt_removed", 3)


async def test_swapped_lines_are_named(filled: House) -> None:
    edit_lines(filled, lambda lines: [lines[0], lines[2], lines[1], *lines[3:]])
    [flaw] = flaws(filled, "mirror")
    assert (flaw.code, flaw.seq) == ("order_changed", 2)


async def test_a_repeated_line_is_named(filled: House) -> None:
    edit_lines(filled, lambda lines: [*lines, lines[4]])
    [flaw] = flaws(filled, "mirror")
    assert (flaw.code, flaw.seq) == ("receipt_repeated", 5)


async def test_an_added_key_and_a_respaced_line_are_named(filled: House) -> None:
    edit_lines(
        filled,
        lambda lines: [lines[0][:-1] + ',"zz":1}', lines[1].replace(":", ": ", 1), *lines[2:]],
    )
    assert [(flaw.code, flaw.seq) for flaw in flaws(filled, "mirror")] == [
        ("receipt_changed", 1),
        ("receipt_changed", 2),
    ]


async def test_a_line_of_another_session_is_named(filled: House) -> None:
    await filled.service.run(ToolCall("find_files", {}, "sess_two"), Policy())
    foreign = filled.mirror_of("sess_two").read_text().splitlines()[0]
    edit_lines(filled, lambda lines: [foreign, *lines[1:]])
    [flaw] = flaws(filled, "mirror")
    assert (flaw.code, flaw.session_id) == ("receipt_changed", "sess_one")


async def test_a_mirror_without_a_database_is_named(filled: House) -> None:
    alter(filled, "DELETE FROM receipts", "DELETE FROM receipt_heads")
    report = verify(filled.database, filled.trail, "sess_one")
    assert {flaw.code for flaw in report.flaws if flaw.where == "mirror"} == {"tail_removed"}
    assert len(report.flaws) == 6


async def test_only_the_asked_session_is_checked(filled: House) -> None:
    await filled.service.run(ToolCall("find_files", {}, "sess_two"), Policy())
    alter(filled, "DELETE FROM receipts WHERE session_id = 'sess_one' AND seq = 3")
    assert verify(filled.database, filled.trail, "sess_two").is_sound
    assert not verify(filled.database, filled.trail, "sess_one").is_sound


async def test_a_lost_or_replaced_key_is_named(filled: House) -> None:
    key = filled.trail.key
    original = key.read_text()
    key.unlink()
    report = verify(filled.database, filled.trail)
    assert report.flaws[0].code == "secret_missing"
    assert not key.exists(), "checking must not make a key"
    await filled.reopened().run(ToolCall("find_files", {}, "sess_one"), Policy())
    assert key.read_text() != original
    report = verify(filled.database, filled.trail)
    assert "signed with another key" in report.flaws[0].message
    assert list(report.signature_valid.values()) == [False] * 5 + [True]


async def test_a_key_others_can_read_is_noted(filled: House) -> None:
    key = filled.trail.key
    key.chmod(0o644)
    [note] = verify(filled.database, filled.trail).notes
    assert "0600" in note
