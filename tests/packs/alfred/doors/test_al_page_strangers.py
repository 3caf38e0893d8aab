"""A page of another port of this machine, in a real browser: it changes and reads nothing."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from al_page_stage import Guest, Kitchen, kitchen_process
from playwright.sync_api import Browser, Page, expect

from page_browser import open_browser

# What a page can send without asking: whatever comes of it is told as `ended`.
ATTEMPTS = {
    "a plain request": "fetch(URL, {method: 'POST', mode: 'no-cors'})",
    "a request with a text": (
        "fetch(URL, {method: 'POST', mode: 'no-cors', body: '{}',"
        " headers: {'Content-Type': 'text/plain'}})"
    ),
    "a request with the header": "fetch(URL, {method: 'POST', headers: {'X-Callboard': '1'}})",
    "a request with the header and no questions": (
        "fetch(URL, {method: 'POST', mode: 'no-cors', headers: {'X-Callboard': '1'}})"
    ),
    "another method": "fetch(URL, {method: 'DELETE'})",
    "a beacon": "navigator.sendBeacon(URL, '{}')",
    "a look": "fetch(URL.replace('/undo', '/rows/shopping_items'))",
    "a form": """new Promise(done => {
        const frame = document.createElement('iframe');
        frame.name = 'there'; frame.onload = done; document.body.append(frame);
        const form = document.createElement('form');
        form.action = URL; form.method = 'POST'; form.target = 'there';
        document.body.append(form); form.submit();
    })""",
    "a socket": """new Promise((done, failed) => {
        const socket = new WebSocket(
            KITCHEN.replace('http', 'ws') + '/_nicegui_ws/socket.io/?EIO=4&transport=websocket');
        socket.onopen = () => done('open'); socket.onerror = () => failed('refused');
    })""",
    "a frame": """new Promise(done => {
        const frame = document.createElement('iframe');
        frame.onload = done; frame.src = KITCHEN + '/'; document.body.append(frame);
    })""",
}


@contextmanager
def page_of_others() -> Iterator[int]:
    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>others</title><body>")

        def log_message(self, *_args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kitchen]:
    root: Path = tmp_path_factory.mktemp("strangers") / "home"
    with kitchen_process(root) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def attempt(page: Page, kitchen: Kitchen, what: str, user_id: str) -> str:
    """Return what a page is told of its attempt."""
    url = f"{kitchen.address}/api/alfred/undo?user_id={user_id}"
    code = ATTEMPTS[what].replace("URL", repr(url), 1)
    for name, value in (("URL", url), ("KITCHEN", f"{kitchen.address}/kitchen")):
        code = code.replace(name, repr(value)) if name in code else code
    return page.evaluate(
        f"async () => {{ try {{ const got = await {code};"
        " return got && got.type === 'cors' ? await got.text() : String(got && got.type || got);"
        " } catch (error) { return 'refused: ' + error; } }"
    )


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_port_changes_and_reads_nothing(
    browser: Browser, kitchen: Kitchen, name: str
) -> None:
    user_id = kitchen.invite()
    guest = Guest.sit_down(browser, kitchen, user_id)
    guest.say("Add 6 eggs to my shopping list")
    expect(guest.pane("list").locator("li")).to_have_text(["eggs6"])
    record = {"op": "create", "table": "shopping_items", "records": [{"name": "milk"}]}
    kitchen.post("/write", {"request": record}, user_id=user_id)
    before = kitchen.get("/rows/shopping_items", user_id=user_id)["rows"]
    assert len(before) == 2
    with page_of_others() as port:
        stranger = browser.new_page()
        stranger.goto(f"http://{name}:{port}/")
        for what in ATTEMPTS:
            told = attempt(stranger, kitchen, what, user_id)
            assert "eggs" not in told and "milk" not in told and told != "open", (what, told)
            now = kitchen.get("/rows/shopping_items", user_id=user_id)["rows"]
            assert now == before, what
        stranger.close()
    # It was there to be undone, by who may.
    kitchen.post("/undo", user_id=user_id)
    assert kitchen.names("shopping_items", user_id) == ["eggs"]
    assert guest.trouble == []
