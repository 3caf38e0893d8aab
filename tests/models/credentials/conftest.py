"""A provider on this machine that tells whoever it refuses everything it was sent."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from callboard.models.credentials import Keychain

GOOD_KEY = "-".join(("sk", "test", "0123456789abcdefWXYZ"))
BAD_KEY = "-".join(("sk", "test", "9876543210fedcbaWRNG"))


class EchoingProvider(ThreadingHTTPServer):
    """Lists models to whoever has the good key; refuses everybody else with an echo."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.paths: list[str] = []
        self.sent: list[str] = []
        self.status = 401
        self.listing: Any = {"object": "list", "data": [], "has_more": False, "models": []}
        self.hang = threading.Event()
        self.hang.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: EchoingProvider

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.server.hang.wait(30)
        headers = str(self.headers)
        self.server.sent.append(headers)
        if GOOD_KEY in headers:
            self._answer(200, json.dumps(self.server.listing), {})
        else:
            self._refuse(headers)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = str(self.headers)
        self.server.sent.append(headers + body.decode())
        self._refuse(headers)

    def _refuse(self, headers: str) -> None:
        told = f"You sent: {headers}"
        key = self.headers.get("authorization", "none")
        body = json.dumps({"error": {"message": told, "type": key, "code": key, "param": key}})
        self._answer(self.server.status, body, {"x-request-id": key, "x-echo": key})

    def _answer(self, status: int, body: str, headers: dict[str, str]) -> None:
        data = body.encode()
        self.send_response(status, "No")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Say nothing on standard error."""


@pytest.fixture
def provider() -> Iterator[EchoingProvider]:
    server = EchoingProvider()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.hang.set()
    server.shutdown()
    server.server_close()
    thread.join()


class MemoryKeyring:
    """A keyring that keeps what it is told, for as long as the test lasts."""

    priority = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class BrokenKeyring(MemoryKeyring):
    """A keyring whose service has gone away."""

    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError("no session bus")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"no session bus for {password}")


class ForgetfulKeyring(MemoryKeyring):
    """A keyring that says yes and keeps nothing."""

    def set_password(self, service: str, username: str, password: str) -> None:
        pass


@pytest.fixture
def keyring() -> MemoryKeyring:
    return MemoryKeyring()


@pytest.fixture
def no_keyring() -> Keychain:
    return Keychain(BrokenKeyring())


@pytest.fixture
def good_key() -> str:
    return GOOD_KEY


@pytest.fixture
def bad_key() -> str:
    return BAD_KEY


@pytest.fixture
def forgetful_keyring() -> ForgetfulKeyring:
    return ForgetfulKeyring()
