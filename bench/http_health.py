"""A server of its own process while it works on texts made to keep it busy.

Every hostile request is as long as its route takes (10 MB for an import, 1 MB elsewhere). Meanwhile
another connection asks for `/api/health`, one request after the other; the peer is the slowest of
as many such requests while nothing else is asked. The client is one process, with a thread that
sends the hostile request.
"""

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.report import Measured, Result
from bench.workspace import fresh_folder

GOAL_HEALTH_MS = 100.0
GOAL_REQUEST_SECONDS = 2.0
IMPORT = "/api/alfred/recipes/import"
_HEADERS = {"X-Callboard": "1", "Content-Type": "application/json"}


def measure(*, quick: bool) -> Measured:
    """Send every hostile request and ask for the server's health meanwhile."""
    slowest: dict[str, tuple[float, float, int]] = {}
    with fresh_folder() as folder, _server(folder) as port:
        idle = _idle(port, 50 if quick else 300)
        for name, (path, body) in _hostile().items():
            slowest[name] = _meanwhile(port, path, body)
    health = max(slowest, key=lambda name: slowest[name][1])
    request = max(slowest, key=lambda name: slowest[name][0])
    took, waited = slowest[request][0], 1000 * slowest[health][1]
    return Measured(
        (
            Result(
                "slowest health while a hostile request is worked on (ms)",
                waited,
                1000 * idle,
                "nothing else asked",
                waited / (1000 * idle),
                f"at most {GOAL_HEALTH_MS:g} ms",
                waited <= GOAL_HEALTH_MS,
            ),
            Result(
                "slowest hostile request (s)",
                took,
                None,
                "",
                None,
                f"at most {GOAL_REQUEST_SECONDS:g} s",
                took <= GOAL_REQUEST_SECONDS,
            ),
        ),
        tuple(
            f"{name}: {status} after {seconds:.2f} s, health {1000 * wait:.0f} ms at most"
            for name, (seconds, wait, status) in slowest.items()
        ),
    )


def _hostile() -> dict[str, tuple[str, bytes]]:
    texts = {
        "blank lines": "\n" * 1_900_000,
        "short text of blank lines": "Soup\n" + "\n" * 299_000,
        "dashes": "- " * 140_000,
        "one word": "a" * 1_900_000,
        "fractions": "1 1/2 " * 49_000,
        "lines of ingredients": "Soup\n" + "1 1/2 cups of very fresh milk, cold\n" * 8_000,
        "tags": "<" * 1_900_000,
        "numbers": "1" * 290_000,
    }
    found = {
        f"import of {name} as {kind}": (IMPORT, _json({"text": text, "kind": kind}))
        for name, text in texts.items()
        for kind in ("text", "markdown", "html")
    }
    found |= {
        f"import of {name} as markdown": (IMPORT, _json({"text": text, "kind": "markdown"}))
        for name, text in _nested().items()
    }
    found["10 MB of escapes"] = (IMPORT, b'{"text": "' + b"\\n" * 4_990_000 + b'"}')
    found["10 MB of keys"] = (IMPORT, b"{" + b'"a":1,' * 1_600_000 + b'"a":1}')
    found["10 MB of lists"] = (IMPORT, b"[" * 9_999_000)
    found["entries as many as are let in"] = (
        IMPORT,
        b"{" + b",".join(b'"%d":{}' % number for number in range(9_990)) + b"}",
    )
    found["a wish to be routed"] = ("/api/route", _json({"description": "a " * 9_999}))
    found["the description of the API"] = ("/api/openapi.json", b"")
    return found


def _nested() -> dict[str, str]:
    """Return Markdown lists within lists, each as long as a recipe may be."""
    head, most = "# Soup\n## Ingredients\n", 290_000
    two = "- some of the very freshest milk, please\n  - a\n"
    ten = "".join(f"{' ' * 2 * level}- some of the very freshest milk\n" for level in range(10))
    deeper = "".join(f"{' ' * level}- a\n" for level in range(750))
    return {
        "lists of two levels": head + two * (most // len(two)),
        "lists of ten levels": head + ten * (most // len(ten)),
        "one list of 750 levels": head + deeper,
    }


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _meanwhile(port: int, path: str, body: bytes) -> tuple[float, float, int]:
    told: list[tuple[float, int]] = []

    def ask() -> None:
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("POST" if body else "GET", path, body or None, _HEADERS)
        answer = connection.getresponse()
        answer.read()
        told.append((time.perf_counter() - began, answer.status))
        connection.close()

    asking = threading.Thread(target=ask)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    slowest = _health(connection)
    asking.start()
    while asking.is_alive():
        slowest = max(slowest, _health(connection))
    connection.close()
    ((seconds, status),) = told
    return seconds, slowest, status


def _idle(port: int, times: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    slowest = max(_health(connection) for _ in range(times))
    connection.close()
    return slowest


def _health(connection: http.client.HTTPConnection) -> float:
    began = time.perf_counter()
    connection.request("GET", "/api/health")
    connection.getresponse().read()
    return time.perf_counter() - began


@contextmanager
def _server(folder: Path) -> Iterator[int]:
    callboard = str(Path(sys.executable).with_name("callboard"))
    environment = {**os.environ, "CALLBOARD_DATA_DIR": str(folder / "data")}
    root = folder / "home"
    root.mkdir()
    init = [callboard, "init", "--for", "alfred"]
    subprocess.run(init, cwd=root, check=True, capture_output=True, env=environment)
    serve = [callboard, "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        serve, cwd=root, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            url = json.loads(process.stdout.readline())["url"]
            yield int(url.rsplit(":", 1)[1].split("/")[0])
        finally:
            process.terminate()
