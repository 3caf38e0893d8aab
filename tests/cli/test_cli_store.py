"""`callboard store`: a project goes to a server and back, with its receipts and nothing lost."""

import sqlite3
from pathlib import Path

import psycopg
import pytest
from clitools import Here

from callboard.cli import exits
from callboard.studio.database import open_database
from callboard.studio.project import Project

URL = "CALLBOARD_STORE_URL"
RUN = ("run", "recipe", "--model", "script:good.yaml", "--json")


def state(here: Here) -> tuple[object, object]:
    """Return what the journal and the receipts say, whatever store they lie on."""
    runs = here("runs", "list", "--json")
    verified = here("receipts", "verify", "--json")
    assert (runs.code, verified.code) == (exits.OK, exits.OK), (runs, verified)
    return runs.json, verified.json


def flaws(here: Here) -> list[str]:
    """Return what the doctor finds wrong."""
    found = here("doctor", "--json").json["findings"]
    return [str(each) for each in found if each["mark"] == "bad"]


def test_a_project_goes_to_a_server_and_back_with_all_it_has(
    project: Path, here: Here, done_run: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, bad = state(here), flaws(here)
    rows = here("store", "show", "--json").json
    assert (rows["store"], rows["rows"]["runs"]) == ("sqlite", 1)

    dry = here("store", "copy", "--to", postgres_url, "--dry-run", "--json").json
    assert dry["rows"] == rows["rows"]
    assert state(here) == before

    gone = here("store", "copy", "--to", postgres_url)
    assert gone.code == exits.OK, gone
    assert "copied and compared" in gone.out
    assert not Project(project).database.exists()
    assert list((project / ".callboard" / "backups").glob("moved-*.db"))

    unknown = here("runs", "list")
    assert unknown.code != exits.OK
    assert "store.url" in unknown.err
    monkeypatch.setenv(URL, postgres_url)
    assert here("store", "show", "--json").json["store"] == "postgres"
    assert state(here) == before
    more = here(*RUN)
    assert more.code == exits.OK, more
    on_server = state(here)
    assert flaws(here) == bad
    assert on_server != before

    back = here("store", "copy", "--to", "file")
    assert back.code == exits.OK, back
    monkeypatch.delenv(URL)
    assert here("store", "show", "--json").json["store"] == "sqlite"
    assert state(here) == on_server
    assert here(*RUN).code == exits.OK
    assert flaws(here) == bad


def test_what_is_there_already_is_never_written_over(
    project: Path, here: Here, done_run: str, postgres_url: str
) -> None:
    schema = f"callboard_{Project(project).standing.identity.name}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    for words in ((), ("--dry-run",)):
        refused = here("store", "copy", "--to", postgres_url, *words)
        assert refused.code != exits.OK
        assert "holds something already" in refused.err
    same = here("store", "copy", "--to", "file")
    assert "already" in same.err
    wrong = here("store", "copy", "--to", "mysql://x")
    assert "neither `file` nor an address" in wrong.err
    assert here("store", "show", "--json").json["store"] == "sqlite"


def test_a_project_that_a_living_process_has_open_stays(
    project: Path, here: Here, done_run: str, postgres_url: str
) -> None:
    from callboard.core.clock import SystemClock
    from callboard.core.ids import IdMaker
    from callboard.engine.ownership import Ownership
    from callboard.store.journal.processes import ProcessRecord, insert_process

    found = Project(project)
    database = open_database(found)
    ownership = Ownership(database, found.locks, IdMaker(SystemClock()), SystemClock())
    liveness = database.liveness(found.locks)
    liveness.hold(ownership.id)
    record = ProcessRecord(ownership.id, 4711, "elsewhere", 1)
    database.submit(lambda connection: insert_process(connection, record)).result()
    try:
        refused = here("store", "copy", "--to", postgres_url)
        assert refused.code != exits.OK
        assert "4711 on elsewhere" in refused.err
    finally:
        liveness.let_go()
        database.close()
    with sqlite3.connect(found.database) as connection:
        assert connection.execute("SELECT COUNT(*) FROM runs").fetchone() == (1,)
    connection.close()


def test_a_clone_cannot_say_where_a_project_is_kept(
    project: Path, here: Here, postgres_url: str
) -> None:
    (project / ".callboard" / "config.yaml").write_text(f"store:\n  url: {postgres_url}\n")
    assert here(*RUN).code == exits.OK
    assert here("store", "show", "--json").json["store"] == "sqlite"
    assert "restricted" in here("doctor").out or "store.url" in here("doctor").out


def test_the_password_of_the_store_is_not_shown(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, "postgresql://bob:s3cret@127.0.0.1:1/nowhere")
    for words in (("config", "show"), ("config", "show", "--json"), RUN, ("doctor",)):
        ended = here(*words)
        assert "s3cret" not in ended.out + ended.err
    assert "cannot be reached" in here(*RUN[:-1]).err


def test_a_new_project_says_where_it_will_be_kept(
    project: Path, here: Here, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("store", "show", "--json").json["store"] == "sqlite"
    monkeypatch.setenv(URL, postgres_url)
    before = here("store", "show", "--json").json
    assert (before["store"], before["rows"]) == ("postgres", None)
    assert here(*RUN).code == exits.OK
    assert here("store", "show", "--json").json["place"] == before["place"]


def test_the_doctor_sends_nobody_to_salvage_what_is_only_away(
    project: Path, here: Here, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, postgres_url)
    assert here(*RUN).code == exits.OK
    for url in ("", "postgresql://127.0.0.1:1/callboard"):
        monkeypatch.setenv(URL, url)
        told = " ".join(flaws(here))
        assert "store.url" in told
        assert "--salvage" not in told
