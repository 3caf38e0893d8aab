"""Many clients at once on kept connections: every request is answered, none is cut off.

By itself at full size, against a server of its own in another process:

    python tests/api/load.py --clients 200 --seconds 60
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

REQUESTS = (
    ("POST", "/api/sessions", b'{"name": "load"}'),
    ("GET", "/api/sessions?limit=5", b""),
    ("POST", "/api/route", b'{"description": "Check the consistency of the story"}'),
    ("GET", "/api/health", b""),
    ("GET", "/api/runs", b""),
)
# As long as people look at an answer before the next question; longer than some servers wait.
PAUSES = (0.0, 0.0, 0.01, 0.5, 5.0)


@dataclass
class Tally:
    """What became of the requests."""

    statuses: Counter[int] = field(default_factory=Counter[int])
    resets: list[str] = field(default_factory=list[str])
    seconds: list[float] = field(default_factory=list[float])
    made: int = 0

    def told(self) -> dict[str, object]:
        slowest = sorted(self.seconds)
        return {
            "answered": len(slowest),
            "resets": len(self.resets),
            "statuses": dict(self.statuses),
            "made": self.made,
            "p50_seconds": round(slowest[len(slowest) // 2], 3),
            "p99_seconds": round(slowest[len(slowest) * 99 // 100], 3),
            "first_resets": self.resets[:5],
        }


class Client:
    """One kept connection; it is opened again only when the server says that it closes it."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port = port
        self._tally = tally
        self._wire: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes) -> None:
        began = time.monotonic()
        try:
            if self._wire is None:
                self._wire = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._wire
            head = (
                f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nX-Callboard: 1\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            status = await self._answer(reader)
        except (OSError, asyncio.IncompleteReadError) as error:
            self._tally.resets.append(f"{method} {path}: {error!r}")
            self.close()
            return
        self._tally.statuses[status] += 1
        self._tally.made += method == "POST" and status == 201
        self._tally.seconds.append(time.monotonic() - began)

    def close(self) -> None:
        if self._wire is not None:
            self._wire[1].close()
            self._wire = None

    async def _answer(self, reader: asyncio.StreamReader) -> int:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(lines["content-length"]))
        if lines.get("connection") == "close":
            self.close()
        return int(head.split()[1])


async def load(port: int, clients: int, seconds: float, requests: int | None = None) -> Tally:
    """Have clients ask for so long, or so often each."""
    tally = Tally()
    until = time.monotonic() + seconds

    async def live(number: int) -> None:
        chance = random.Random(number)
        client = Client(port, tally)
        asked = 0
        while time.monotonic() < until and (requests is None or asked < requests):
            await client.ask(*chance.choice(REQUESTS))
            asked += 1
            if requests is None:
                await asyncio.sleep(chance.choice(PAUSES) * chance.uniform(0.9, 1.2))
        client.close()

    await asyncio.gather(*(live(number) for number in range(clients)))
    return tally


@contextmanager
def server(root: Path) -> Iterator[int]:
    """Serve a new project from another process."""
    callboard = [str(Path(sys.executable).with_name("callboard"))]
    environment = {**os.environ, "CALLBOARD_DATA_DIR": str(root.parent / "data")}
    subprocess.run([*callboard, "init"], cwd=root, check=True, capture_output=True, env=environment)
    with subprocess.Popen(
        [*callboard, "serve", "--port", "0", "--json"],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout is not None
        try:
            url = json.loads(process.stdout.readline())["url"]
            yield int(url.rsplit(":", 1)[1].split("/")[0])
        finally:
            process.terminate()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, default=200)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--port", type=int, help="of a server that runs already")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        if chosen.port:
            tally = asyncio.run(load(chosen.port, chosen.clients, chosen.seconds))
        else:
            with server(root) as port:
                tally = asyncio.run(load(port, chosen.clients, chosen.seconds))
    sys.stdout.write(json.dumps(tally.told(), indent=1) + "\n")
    return 1 if tally.resets else 0


if __name__ == "__main__":
    sys.exit(main())
