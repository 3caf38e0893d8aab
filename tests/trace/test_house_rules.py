"""What the suite promises of itself: loopback only, asyncio, quiet hypothesis."""

import socket
import urllib.request

import anyio
import hypothesis
import pytest


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("example.org", 80), ("8.8.8.8", 53)])
def test_no_connection_leaves_the_machine(address: tuple[str, int]) -> None:
    with pytest.raises(RuntimeError, match="only this machine"):
        socket.create_connection(address, timeout=1)
    with socket.socket() as plain, pytest.raises(RuntimeError, match="only this machine"):
        plain.connect(address)


def test_no_request_leaves_the_machine() -> None:
    with pytest.raises(RuntimeError, match="only this machine"):
        urllib.request.urlopen("http://example.org/", timeout=1)


@pytest.mark.anyio
async def test_no_async_connection_leaves_the_machine() -> None:
    with pytest.raises(RuntimeError, match="only this machine"):
        await anyio.connect_tcp("example.org", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_can_be_reached(host: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection((host, server.getsockname()[1]), timeout=5) as client,
        server.accept()[0] as accepted,
    ):
        client.sendall(b"x")
        assert accepted.recv(1) == b"x"


def test_a_slow_example_is_no_failure() -> None:
    assert hypothesis.settings.default.deadline is None
    for name in ("dev", "ci"):
        assert hypothesis.settings.get_profile(name).deadline is None


@pytest.mark.anyio
async def test_async_tests_run_on_asyncio(anyio_backend_name: str) -> None:
    assert anyio_backend_name == "asyncio"
