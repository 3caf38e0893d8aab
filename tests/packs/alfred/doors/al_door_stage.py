"""A kitchen behind a real server, and a scripted model that only ever picks what is offered."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from callboard.api.app import create_app
from callboard.core.clock import Clock, SystemClock
from callboard.models import Line, ModelRequest, Script
from callboard.packs.alfred.project import KitchenProject, project_of
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from door_receipts import watch_receipts
from door_server import served
from warm_kitchen import furnish

# As often as ever, without the waits in between.
SOON = {"initial_delay_seconds": 0.01, "max_delay_seconds": 0.01}


def flags_for(tier: str) -> dict[str, Any]:
    """Return the settings of a kitchen whose model is of a tier."""
    return {
        "models": {"default": "script", "catalog": {"script": {"tier": tier}}},
        "pack": "alfred",
        "errors": {"retry": {"external_degrading": SOON}},
    }


PASTA = {
    "name": "Lemon Pasta",
    "servings": 2,
    "ingredients": [
        {"name": "pasta", "quantity": 200, "unit": "g"},
        {"name": "lemon", "quantity": 1},
    ],
    "steps": [{"text": "Boil the pasta.", "minutes": 10}, {"text": "Squeeze the lemon over it."}],
}
TOAST = """# Toast

Serves 1

## Ingredients

- 2 slices bread
- 10 g butter

## Directions

1. Toast the bread.
2. Butter it.
"""


def pick(request: ModelRequest) -> Line:
    """Answer every choice with its last option, everything else as plainly as the schema allows."""
    properties: Any = (request.json_schema or {}).get("properties", {})
    return Line(json={name: _plainest(each) for name, each in properties.items()})


def _plainest(schema: Any) -> Any:
    if "enum" in schema:
        return schema["enum"][-1]
    match schema.get("type"):
        case "array":
            return []
        case "integer" | "number":
            return max(1, schema.get("minimum", 0))
        case "boolean":
            return False
        case "object":
            return {name: _plainest(each) for name, each in schema.get("properties", {}).items()}
        case _:
            return ""


@dataclass
class Table:
    """A running server, a client for it, and everything behind it."""

    client: httpx.AsyncClient
    studio: Studio
    alfred: KitchenProject
    script: Script
    address: str

    async def get(self, path: str, status: int = 200, **params: Any) -> Any:
        return _checked(await self.client.get(f"/api/alfred{path}", params=params), status)

    async def text(self, path: str, **params: Any) -> httpx.Response:
        response = await self.client.get(f"/api/alfred{path}", params=params)
        assert response.status_code == 200, response.text
        return response

    async def post(self, path: str, body: Any = None, status: int = 200, **params: Any) -> Any:
        response = await self.client.post(f"/api/alfred{path}", json=body, params=params)
        return _checked(response, status)

    async def put(self, path: str, body: Any, status: int = 200, **params: Any) -> Any:
        response = await self.client.put(f"/api/alfred{path}", json=body, params=params)
        return _checked(response, status)

    async def sit_down(self, **wanted: Any) -> "Seat":
        """Begin a conversation."""
        begun = await self.post("/sessions", wanted, status=201)
        return Seat(self, begun["session_id"], wanted.get("user_id"))

    async def names(self, table: str, user_id: str | None = None) -> list[str]:
        """Return what the rows of a table are called."""
        told = {"user_id": user_id} if user_id else {}
        found = await self.get(f"/rows/{table}", limit=200, **told)
        return sorted(str(row["name"]) for row in found["rows"])


@dataclass
class Seat:
    """Somebody in a conversation."""

    table: Table
    session_id: str
    user_id: str | None = None

    async def say(self, message: str, status: int = 200, **more: Any) -> Any:
        body = {"message": message, "user_id": self.user_id, **more}
        return await self.table.post(f"/sessions/{self.session_id}/messages", body, status)

    async def get(self, path: str, status: int = 200) -> Any:
        return await self.table.get(f"/sessions/{self.session_id}{path}", status)

    async def post(self, path: str, status: int = 200) -> Any:
        body = {"user_id": self.user_id}
        return await self.table.post(f"/sessions/{self.session_id}{path}", body, status)


@dataclass
class Heard:
    """Server-sent events as they come in; each with its number, if it has one."""

    events: list[tuple[str, dict[str, Any]]]

    def named(self) -> list[str]:
        """Return what was shown of turns, in order."""
        return [str(body["data"]["name"]) for _, body in self.events if body["type"] == "emitted"]


async def hear(
    client: httpx.AsyncClient,
    session_id: str,
    enough: Callable[[Heard], bool],
    listening: asyncio.Event,
    last_seen: str = "",
) -> Heard:
    """Listen to a session until enough has come."""
    heard = Heard([])
    headers = {"Last-Event-ID": last_seen} if last_seen else {}
    params = {"session_id": session_id}
    async with client.stream("GET", "/api/events", params=params, headers=headers) as response:
        assert response.status_code == 200
        listening.set()
        number = ""
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                number = value
            elif name == "data":
                heard.events.append((number, json.loads(value)))
                number = ""
                if enough(heard):
                    break
    return heard


def _checked(response: httpx.Response, status: int) -> Any:
    assert response.status_code == status, (response.status_code, response.text)
    return response.json()


@dataclass
class Household:
    """A folder that servers can be opened on."""

    root: Path
    tier: str = "minimal"
    clock: Clock = field(default_factory=SystemClock)

    @classmethod
    def build(cls, root: Path) -> "Household":
        root.mkdir()
        furnish(Project.init(root))
        return cls(root)

    def opening(self, script: Script) -> Opening:
        home = self.root.parent / "home"
        return Opening(
            providers={"script": script},
            flags=flags_for(self.tier),
            clock=self.clock,
            environment={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
        )

    @asynccontextmanager
    async def serve(self, script: Script | None = None) -> AsyncIterator[Table]:
        """Run a real server on a free port for as long as the context lasts."""
        chosen = script or Script(pick)
        app = create_app(self.root, self.opening(chosen))
        async with served(app) as client:
            watch_receipts(client, app.state.studio)
            yield Table(
                client, app.state.studio, project_of(app.state.studio), chosen, str(client.base_url)
            )
