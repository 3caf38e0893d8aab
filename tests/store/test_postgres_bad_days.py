"""A server on its bad days: cut off in a commit, emptied, silent, closed. Nothing is lost."""

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from callboard.store.connection import Connection, RuleBroken, StoreBusy, StoreError
from callboard.store.database import Seal
from callboard.store.migrations import UnknownSchema
from callboard.store.postgres.address import StoreAddress, StoreUnreachable
from callboard.store.postgres.database import PostgresDatabase
from callboard.store.presence import DatabaseMissing
from stores import address_of

pytestmark = pytest.mark.parametrize("store", ["postgres"], indirect=True)


class Proxy:
    """Stands between a process and the server, and can cut the way at a commit."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        self.cut_before = self.cut_after = 0
        self._server = psycopg.conninfo.conninfo_to_dict(url)["host"]
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._sockets = [self._listener]
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def close(self) -> None:
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()

    def _start(self, work: Callable[..., None], *args: Any) -> None:
        self._threads.append(threading.Thread(target=work, args=args, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(f"{self._server}/.s.PGSQL.5432")
                self._sockets += [client, server]
                self._start(self._pass_on, client, server, self._asks)
                self._start(self._pass_on, server, client, self._answers)

    def _pass_on(
        self, source: socket.socket, target: socket.socket, look: Callable[[bytes], bool]
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not look(data):
                    break
                target.sendall(data)
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _asks(self, data: bytes) -> bool:
        if b"; COMMIT" in data and self.cut_before:
            self.cut_before -= 1
            return False
        return True

    def _answers(self, data: bytes) -> bool:
        if b"COMMIT\0" in data and self.cut_after:
            self.cut_after -= 1
            return False
        return True


@pytest.fixture
def proxy(store: str, postgres_url: str, tmp_path_factory: Any) -> Iterator[Proxy]:
    # A short path: a socket's name may not be long.
    made = Proxy(tmp_path_factory.mktemp("p"), postgres_url)
    yield made
    made.close()


@contextmanager
def opened(address: StoreAddress, **options: Any) -> Iterator[PostgresDatabase]:
    database = PostgresDatabase.open(address, **options)
    try:
        yield database
    finally:
        database.close()


def put(key: str) -> Callable[[Connection], str]:
    def work(connection: Connection) -> str:
        connection.execute("INSERT INTO records VALUES ('p', 'k', ?, '{}', 1, 1)", (key,))
        return key

    return work


def keys(database: PostgresDatabase) -> list[str]:
    return database.read(
        lambda c: [row["id"] for row in c.execute("SELECT id FROM records ORDER BY rowid")]
    )


def seal_in(folder: Path) -> Seal:
    return Seal(bytes(range(32)), "mine", folder / "user" / "head")


@pytest.mark.parametrize("when", ["cut_before", "cut_after"])
def test_a_server_that_goes_away_in_a_commit_keeps_each_row_once(
    proxy: Proxy, tmp_path: Path, when: str
) -> None:
    address = StoreAddress(proxy.url, address_of(tmp_path).project_id)
    with opened(address, seal=seal_in(tmp_path)) as database:
        database.submit(put("before")).result()
        setattr(proxy, when, 1)
        assert database.submit(put("cut")).result() == "cut"
        assert getattr(proxy, when) == 0
        database.submit(put("after")).result()

        assert keys(database) == ["before", "cut", "after"]
        assert database.verify().is_sound


def test_connections_the_server_ends_are_opened_again(store: str, tmp_path: Path) -> None:
    with opened(address_of(tmp_path), seal=seal_in(tmp_path)) as database:
        database.submit(put("before")).result()
        assert keys(database) == ["before"]
        end_connections(database.address)
        database.submit(put("after")).result()
        end_connections(database.address)
        assert keys(database) == ["before", "after"]
        assert database.verify().is_sound


def test_a_unit_that_fails_is_told_and_spoils_no_other(store: str, tmp_path: Path) -> None:
    with opened(address_of(tmp_path)) as database:
        futures = [database.submit(put(key)) for key in ("a", "b", "a", "c")]
        told = [each.exception() for each in futures]
        assert [type(each) for each in told] == [type(None), type(None), RuleBroken, type(None)]
        assert keys(database) == ["a", "b", "c"]


def test_an_empty_server_in_the_place_of_the_right_one_is_refused(
    store: str, tmp_path: Path
) -> None:
    address, seal = address_of(tmp_path), seal_in(tmp_path)
    with opened(address, seal=seal) as database:
        database.submit(put("mine")).result()
        with address.connect() as raw:
            raw.execute(
                f'ALTER SCHEMA "{address.schema}" RENAME TO "{address.schema}_gone"'.encode()
            )
        told = database.submit(put("lost")).exception()
        assert isinstance(told, StoreError)
        assert "replaced by an empty" in str(told)
    with pytest.raises(DatabaseMissing, match="there was one"):
        PostgresDatabase.open(address, seal=seal)


def test_the_schema_of_another_project_is_refused(store: str, tmp_path: Path) -> None:
    address = address_of(tmp_path)
    with opened(address) as database:
        with address.connect() as raw:
            raw.execute("UPDATE identity SET project_id = 'other'")
        told = database.submit(put("lost")).exception()
        assert "another project" in str(told)
    with pytest.raises(UnknownSchema, match="another project"):
        PostgresDatabase.open(address)


def test_a_trigger_that_somebody_added_is_refused(store: str, tmp_path: Path) -> None:
    address = address_of(tmp_path)
    with opened(address), address.connect() as raw:
        raw.execute("ALTER TABLE records DISABLE TRIGGER tell")
    with pytest.raises(StoreError, match="was altered"):
        PostgresDatabase.open(address)


def test_a_row_changed_behind_its_back_is_found(store: str, tmp_path: Path) -> None:
    with opened(address_of(tmp_path), seal=seal_in(tmp_path)) as database:
        database.submit(put("mine")).result()
        with database.address.connect() as raw:
            raw.execute("UPDATE records SET body = '{\"forged\": 1}'")
        assert [flaw.code for flaw in database.verify().flaws] == ["row_changed"]


def test_a_lost_channel_is_replaced_by_asking_and_opened_again(store: str, tmp_path: Path) -> None:
    address = address_of(tmp_path)
    with opened(address) as listener, opened(address) as writer:
        heard = threading.Event()
        listener.on_commit(heard.set)
        wait_until(lambda: listener._listening.is_open)
        end_connections(address, "LISTEN%")
        wait_until(lambda: not listener._listening.is_open)
        before = listener.version_seen()
        writer.submit(put("unheard")).result()
        assert listener.version_seen() != before
        wait_until(lambda: listener._listening.is_open)
        heard.clear()
        writer.submit(put("heard")).result()
        assert heard.wait(30)


def test_a_server_that_does_not_let_us_in_is_told_without_the_password(
    store: str, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    host = psycopg.conninfo.conninfo_to_dict(postgres_url)["host"]
    for url in (
        "postgresql://bob:s3cret@127.0.0.1:1/nowhere",
        f"postgresql://bob:s3cret@/postgres?host={host}",
        f"postgresql://postgres@/nowhere?host={host}&password=s3cret",
    ):
        address = StoreAddress(url, "a" * 32)
        with pytest.raises(StoreUnreachable) as caught:
            PostgresDatabase.open(address)
        assert isinstance(caught.value, StoreBusy)
        assert caught.value.fix
        told = f"{caught.value!r} {caught.value} {vars(caught.value)} {address!r} {caplog.text}"
        assert "s3cret" not in told


def end_connections(address: StoreAddress, query: str = "%") -> None:
    """Have the server end the connections of a project, as a restart does."""
    with address.connect() as raw:
        raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND application_name = %s AND query LIKE %s",
            (address.schema, query),
        )


def wait_until(is_so: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(3_000):
        if is_so():
            return
        waiting.wait(0.01)
    raise AssertionError("it never came to be")
