"""Who may see the page: the same as may use the API, and no page of others through a browser."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from al_page_stage import Kitchen, kitchen_process
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from callboard.studio.project import Project

pytestmark = pytest.mark.req("AL-158")

TOKEN = "a-long-random-text"  # noqa: S105 - of the test
SOCKET = "/kitchen/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def open_kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    with kitchen_process(tmp_path_factory.mktemp("open") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def closed_kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    with kitchen_process(tmp_path_factory.mktemp("closed") / "home", TOKEN) as running:
        yield running


def handshake(kitchen: Kitchen, **headers: str) -> int:
    """Return the status a socket is answered with; 101 is that it was opened."""
    address = kitchen.address.replace("http", "ws", 1) + SOCKET
    shown = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with connect(address, additional_headers=shown, proxy=None):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_the_page_is_for_this_machine_and_says_so_to_the_browser(open_kitchen: Kitchen) -> None:
    client = open_kitchen.client
    assert client.get("/").headers["location"] == "/kitchen/"
    assert client.get("/kitchen").headers["location"] == "/kitchen/"
    page = client.get("/kitchen/")
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy and "default-src 'self'" in policy
    own = open_kitchen.address.removeprefix("http://")
    assert f"connect-src 'self' ws://{own} wss://{own};" in policy
    lost = client.get("/kitchen/", params={"who": "nobody"})
    assert lost.status_code == 200 and "nobody" in lost.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "script"},
    ],
)
@pytest.mark.parametrize("path", ["/", "/kitchen/", SOCKET.replace("websocket", "polling")])
def test_pages_of_others_are_refused(
    open_kitchen: Kitchen, path: str, headers: dict[str, str]
) -> None:
    refused = open_kitchen.client.get(path, headers=headers)
    assert refused.status_code == 403, refused.text
    assert refused.json()["error"]["code"] == "forbidden"


def test_sockets_of_others_are_refused(open_kitchen: Kitchen) -> None:
    assert handshake(open_kitchen, Origin=open_kitchen.address) == 101
    assert handshake(open_kitchen, Origin="http://evil.example") == 403
    assert handshake(open_kitchen, Origin="http://127.0.0.1:1") == 403
    upgrade = {
        "Host": "evil.example",
        "Origin": "http://evil.example",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    assert open_kitchen.client.get(SOCKET, headers=upgrade).status_code == 403


def test_with_a_token_the_page_asks_for_it_once(closed_kitchen: Kitchen) -> None:
    address = closed_kitchen.address
    with httpx.Client(base_url=address, timeout=60) as browser:
        asked = browser.get("/kitchen/", headers=PAGE)
        assert asked.status_code == 401 and "password" in asked.text
        assert browser.get("/kitchen/").json()["error"]["code"] == "unauthorized"
        wrong = browser.post("/enter", data={"token": "guess"})
        assert wrong.status_code == 401 and not browser.cookies
        assert browser.post("/enter", content=b"x" * 5000).status_code == 413
        foreign = browser.post(
            "/enter", data={"token": TOKEN}, headers={"Origin": "http://evil.example"}
        )
        assert foreign.status_code == 403 and not browser.cookies
        entered = browser.post("/enter", data={"token": TOKEN}, headers={"Origin": address})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        told = entered.headers["set-cookie"].lower()
        assert "httponly" in told and "samesite=strict" in told and TOKEN not in told
        assert browser.get("/kitchen/", headers=PAGE).status_code == 200
        assert browser.get("/kitchen/", headers={"Origin": "http://e.example"}).status_code == 403
        # What opens the page does not open the API.
        assert browser.get("/api/alfred/people").status_code == 401
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    assert handshake(closed_kitchen, Origin=address) == 403
    assert handshake(closed_kitchen, Origin=address, Cookie="callboard_page=guess") == 403
    assert handshake(closed_kitchen, Origin="http://evil.example", Cookie=cookie) == 403
    assert handshake(closed_kitchen, Origin=address, Cookie=cookie) == 101


def test_nothing_of_the_page_is_loaded_before_it_is_opened(tmp_path: Path) -> None:
    """Neither by a command nor by a server of another pack, which has no such page."""
    root = tmp_path / "novel"
    root.mkdir()
    Project.init(root)
    code = f"""
import asyncio, json, sys
from pathlib import Path
import httpx
import callboard.cli.commands.serve
import callboard.cli.handlers.serving
from callboard.api.app import create_app
from callboard.ui.mounting import hang_up_pages

async def main():
    app = create_app(Path({str(root)!r}))
    hang_up_pages(app)
    async with app.router.lifespan_context(app):
        at = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=at, base_url="http://127.0.0.1") as client:
            health = await client.get("/api/health")
            page = await client.get("/kitchen/")
    print(json.dumps([health.status_code, page.status_code, "nicegui" in sys.modules]))

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [200, 404, False]


def test_the_command_serves_the_page_and_closes_it(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.mkdir()
    callboard = str(Path(sys.executable).with_name("callboard"))
    subprocess.run(
        [callboard, "init", "--for", "alfred"], cwd=root, check=True, capture_output=True
    )
    before = {path.name for path in root.iterdir()}
    with subprocess.Popen(
        [callboard, "serve", "--port", "0", "--json"], cwd=root, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        assert told["url"] == f"{told['page']}api"
        page = httpx.get(told["page"], follow_redirects=True, timeout=60)
        assert page.status_code == 200 and "Good to see you." in page.text
        server.send_signal(signal.SIGTERM)
        server.wait(timeout=30)
    # Nothing was left beside what the user owns.
    assert {path.name for path in root.iterdir()} == before
