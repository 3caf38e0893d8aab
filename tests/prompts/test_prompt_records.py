from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from callboard.core.errors import NotFound
from callboard.core.vocabulary import Content, ModelTier, Trust
from callboard.prompts import (
    Assembler,
    History,
    Layer,
    OfflineTokenCounter,
    PromptRecord,
    PromptRequest,
    ReplyRecord,
    Turn,
    list_prompts,
    load_layout,
    load_prompt,
    record_prompt,
    save_prompt,
    save_reply,
)
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.anyio

assembler = Assembler(OfflineTokenCounter(), load_layout())

ODD = "Zeilen\r\nmit \x00, \ud800 und 𝄞\n"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = SqliteDatabase.open(tmp_path / "callboard.db")
    yield opened
    opened.close()


def make_record(prompt_id: str, message: str, created_at: int = 1) -> PromptRecord:
    layers = (
        Layer("identity", Content("You are one. " * 200, "pack:x", Trust.TRUSTED), stable=True),
        Layer("file", Content(ODD, "file:odd.md", Trust.TRUSTED), budget_tokens=1000),
        Layer("dropped", Content("gone", "file:b.md"), budget_tokens=0),
    )
    history = History((Turn(Content("earlier", "user", Trust.TRUSTED)),))
    request = PromptRequest(
        layers,
        Content(message, "user", Trust.TRUSTED),
        history,
        model_id="local:smollm2",
        tier=ModelTier.MINIMAL,
    )
    prompt = assembler.assemble(request)
    record = record_prompt(prompt, prompt_id, created_at)
    return replace(record, run_id="run_1", step_key="b/draft", agent_id="writer", mode="DIRECTOR")


@pytest.mark.req("WF-06")
async def test_a_prompt_reads_back_byte_for_byte(database: Database) -> None:
    record = make_record("prm_1", "Now this.")
    await database.write(lambda conn: save_prompt(conn, record))
    loaded = database.read(lambda conn: load_prompt(conn, "prm_1"))
    assert loaded == record
    assert loaded.text == record.text
    assert ODD in loaded.messages[0].content
    assert [(x.name, x.tokens, x.trimmed) for x in loaded.bill] == [
        (x.name, x.tokens, x.trimmed) for x in record.bill
    ]
    assert (loaded.model_id, loaded.tier) == ("local:smollm2", ModelTier.MINIMAL)


async def test_the_reply_is_recorded_afterwards(database: Database) -> None:
    await database.write(lambda conn: save_prompt(conn, make_record("prm_1", "hi")))
    reply = ReplyRecord(ODD, 7, {"input_tokens": 12}, ("no_message: none",))
    await database.write(lambda conn: save_reply(conn, "prm_1", reply))
    assert database.read(lambda conn: load_prompt(conn, "prm_1")).reply == reply
    again = make_record("prm_1", "hi")
    await database.write(lambda conn: save_prompt(conn, again))
    assert database.read(lambda conn: load_prompt(conn, "prm_1")).reply == reply


async def test_layers_that_do_not_change_are_stored_once(database: Database) -> None:
    def stored(conn: Connection) -> int:
        row = conn.execute("SELECT SUM(LENGTH(data)) AS n FROM blobs").fetchone()
        return int(row["n"])

    await database.write(lambda conn: save_prompt(conn, make_record("prm_0", "message 0")))
    first = database.read(stored)
    for number in range(1, 20):
        record = make_record(f"prm_{number}", f"message {number}")
        await database.write(lambda conn, record=record: save_prompt(conn, record))
    assert database.read(stored) - first < 20 * len("message 00")


@pytest.mark.req("WF-06")
async def test_prompts_are_listed_newest_first(database: Database) -> None:
    for number in range(5):
        record = make_record(f"prm_{number}", "hi", created_at=number)
        run_id = "run_1" if number % 2 else "run_2"
        stored = replace(record, run_id=run_id)
        await database.write(lambda conn, stored=stored: save_prompt(conn, stored))
    await database.write(lambda conn: save_reply(conn, "prm_3", ReplyRecord("ok", 9)))
    listed = database.read(lambda conn: list_prompts(conn, limit=3))
    assert [summary.id for summary in listed] == ["prm_4", "prm_3", "prm_2"]
    assert [summary.has_reply for summary in listed] == [False, True, False]
    of_run = database.read(lambda conn: list_prompts(conn, run_id="run_1"))
    assert [summary.id for summary in of_run] == ["prm_3", "prm_1"]
    assert (of_run[0].model_id, of_run[0].tier) == ("local:smollm2", "minimal")
    assert of_run[0].total_tokens == make_record("x", "hi").total_tokens


async def test_an_unknown_prompt_is_not_found(database: Database) -> None:
    with pytest.raises(NotFound, match="prm_x"):
        database.read(lambda conn: load_prompt(conn, "prm_x"))
    with pytest.raises(NotFound, match="prm_x"):
        await database.write(lambda conn: save_reply(conn, "prm_x", ReplyRecord("", 1)))
