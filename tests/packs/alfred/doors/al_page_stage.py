"""A browser in front of the kitchen's page, and the kitchen as the API shows it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Locator, Page, expect

from door_server import CHANGES

SERVER = Path(__file__).with_name("al_page_server.py")
# Where this process finds the sources, the one it starts does too.
_PATH = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
SAY = "Say something to Alfred"
# A condition is waited for; a busy machine may take long.
expect.set_options(timeout=30_000)


@dataclass
class Kitchen:
    """A server in a process of its own."""

    address: str
    process: subprocess.Popen[str]
    client: httpx.Client
    people: int = 0

    def release(self, hold: str) -> None:
        """Let a held reply go on."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{hold}\n")
        self.process.stdin.flush()

    def get(self, path: str, **params: Any) -> Any:
        return _checked(self.client.get(f"/api/alfred{path}", params=params))

    def post(self, path: str, body: Any = None, **params: Any) -> Any:
        return _checked(self.client.post(f"/api/alfred{path}", json=body, params=params))

    def put(self, path: str, body: Any, **params: Any) -> Any:
        return _checked(self.client.put(f"/api/alfred{path}", json=body, params=params))

    def invite(self, name: str = "", *, seeded: bool = False, **profile: Any) -> str:
        """Give somebody of their own to a test; nobody sees another's kitchen."""
        self.people += 1
        user_id = f"guest{os.getpid()}-{self.people}"
        self.post("/people", {"user_id": user_id, "name": name or user_id})
        self.put("/profile", {"values": {"household_size": 2, **profile}}, user_id=user_id)
        if seeded:
            self.post("/seed", user_id=user_id)
        return user_id

    def names(self, table: str, user_id: str) -> list[str]:
        rows = self.get(f"/rows/{table}", user_id=user_id, limit=200)["rows"]
        return sorted(str(row.get("name") or row.get("note")) for row in rows)


def _checked(response: httpx.Response) -> Any:
    assert response.is_success, (response.status_code, response.text)
    return response.json()


@contextmanager
def kitchen_process(root: Path, token: str = "") -> Iterator[Kitchen]:
    """Run a server for as long as the context lasts."""
    with subprocess.Popen(
        [sys.executable, str(SERVER), str(root), *([token] if token else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SERVER.parents[3]), *_PATH])},
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        port = process.stdout.readline().strip()
        assert port, "the server did not start"
        address = f"http://127.0.0.1:{port}"
        headers = {"Authorization": f"Bearer {token}"} if token else CHANGES
        try:
            with httpx.Client(base_url=address, timeout=60, headers=headers) as client:
                yield Kitchen(address, process, client)
        finally:
            process.stdin.close()
            process.wait(timeout=30)
            process.stdout.close()


@dataclass
class Guest:
    """Somebody at the page."""

    page: Page
    kitchen: Kitchen
    user_id: str
    # What should never be: errors of scripts, requests to elsewhere, dialogs that were opened.
    trouble: list[str] = field(default_factory=list[str])

    @classmethod
    def sit_down(
        cls, browser: Browser, kitchen: Kitchen, user_id: str, size: tuple[int, int] = (1280, 800)
    ) -> "Guest":
        page = browser.new_page(viewport={"width": size[0], "height": size[1]})
        guest = cls(page, kitchen, user_id)
        own = (kitchen.address, kitchen.address.replace("http", "ws", 1), "data:")
        page.on("pageerror", lambda error: guest.trouble.append(str(error)))
        page.on("dialog", lambda dialog: guest.trouble.append(dialog.message))
        page.on(
            "request",
            lambda sent: None if sent.url.startswith(own) else guest.trouble.append(sent.url),
        )
        guest.open()
        return guest

    def open(self) -> None:
        self.page.goto(f"{self.kitchen.address}/kitchen/?who={self.user_id}")
        self.page.get_by_label(SAY).wait_for()

    def say(self, message: str) -> None:
        self.page.get_by_label(SAY).fill(message)
        self.page.get_by_label(SAY).press("Enter")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def replies(self) -> Locator:
        return self.page.locator(".turns .his")

    def pane(self, name: str) -> Locator:
        return self.page.locator(f".pane-{name}")

    @property
    def session_id(self) -> str:
        """The conversation the page shows."""
        return self.page.locator(".kitchen").get_attribute("data-session") or ""

    def turns(self) -> list[dict[str, Any]]:
        return self.kitchen.get(f"/sessions/{self.session_id}/turns", user_id=self.user_id)

    def calls(self) -> list[Any]:
        """Return the model calls of the last turn."""
        path = f"/sessions/{self.session_id}/trace/{self.turns()[-1]['turn']}"
        return self.kitchen.get(path, user_id=self.user_id)["calls"]
