"""A small book behind a real server, and a scripted staff that answers every prompt of the pack."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from callboard.api.app import create_app
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.factory import Factory, factory_of
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from door_receipts import watch_receipts
from door_server import served

PROTAGONIST = {
    "name": "Ines",
    "fatal_flaw": "She decides for others and calls it care",
    "the_lie": "Nobody stays unless they are needed",
    "arc_start": "Ines runs the tide office alone and lets nobody read the log",
    "arc_midpoint": "Ines wins the hearing by a forged entry and sees who pays for it",
    "arc_resolution": "Ines stops deciding for others and lets Jun choose, and pays with the post",
}
THEME = {
    "central_theme": "Care and control",
    "theme_statement": "Whoever decides for others loses the ones she decides for",
}
RULES = ["No ship may leave at night", "A debt must be paid in salt", "Only the council may vote"]
_VERBS = "sees hears fears loses doubts leaves loves mocks wins fails buries mourns faces beats"
BEATS = {
    f"beat_{number}": f"Ines {verb} the council at turn {number} of the harbour year."
    for number, verb in enumerate((*_VERBS.split(), "forgives"), start=1)
}
BRIEF = "Ines winds the clock of the tide office while the council waits outside."
SCENE = (
    "Ines came in by the kitchen. The floor was wet and somebody had left the tap running. She "
    "turned it off and listened.\n\n“You took your time,” Jun said from the dark.\n\n"
    "Ines put the brass key on the counter between them. Jun looked at it for a long time."
)
BLOCKED = f"{SCENE}\n\nShe cut the tape with surgical precision."
FLAGS = {**SCRIPTED, "pack": "writers_factory"}


def passage(seed: int = 0, words: int = 450) -> str:
    """Return prose of about some words; another seed gives other words."""
    beats = (
        "Jun came late, as he always did, and would not meet her eyes",
        "“You owe me one,” he said",
        "Ines thought of the salt on her mother's hands, and said nothing",
        "The bell rang twice over the water",
    )
    text = ["Rain fell on the tide office."]
    while len(" ".join(text).split()) < words:
        number = len(text) + 1000 * seed
        text.append(f"{beats[number % len(beats)]}, w{number}x and w{number}y.")
    return " ".join(text)


def example_of(schema: Any) -> Any:
    """Return the plainest value a JSON schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: example_of(each) for name, each in schema["properties"].items()}
        case "array":
            return []
        case "integer" | "number":
            return max(5, schema.get("minimum", 0))
        case "boolean":
            return False
        case _:
            return "Rain fell on the tide office"


def staff(**changes: Any) -> Callable[[ModelRequest], Line | str]:
    """Return a staff that answers whatever it is asked; a change is by prompt type."""
    told = {name.replace("__", "/"): value for name, value in changes.items()}

    def answer(request: ModelRequest) -> Line | str:
        kind = str(request.prompt_type)
        given = told.get(kind) or told.get(kind.partition("/")[0])
        if given is not None:
            return given(request) if callable(given) else given
        if kind.startswith("modes/"):
            return "<message>The flaw holds. Next: the lie. What does Ines believe?</message>"
        if kind.startswith("tournament_passage"):
            return passage(len(request.prompt_text))
        if kind == "scene_variant":
            strategy = re.search(r"Approach: (\w+)", request.prompt_text)
            words = passage(len(strategy[1]) if strategy else 1, 90)
            return f'<content_update target="scene">\n{words}\n</content_update>'
        if request.json_schema is not None:
            return Line(json=example_of(request.json_schema))
        return passage(7, 60)

    return answer


@dataclass
class Desk:
    """A running server, a client for it, and everything behind it."""

    client: httpx.AsyncClient
    studio: Studio
    factory: Factory
    script: Script
    root: Path

    async def get(self, path: str, status: int = 200, **params: Any) -> Any:
        return _checked(await self.client.get(f"/api/factory{path}", params=params), status)

    async def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        return _checked(await self.client.post(f"/api/factory{path}", json=body), status)

    async def put(self, path: str, body: Any, status: int = 200) -> Any:
        return _checked(await self.client.put(f"/api/factory{path}", json=body), status)

    async def delete(self, path: str, status: int = 200, **params: Any) -> Any:
        return _checked(await self.client.delete(f"/api/factory{path}", params=params), status)

    async def job(self, path: str, body: Any = None) -> Any:
        """Start long work, follow its events to the end, and return its result."""
        ended = await self.over(await self.post(path, body, status=202))
        assert ended["status"] == "done", ended
        return ended["result"]

    async def over(self, started: Any) -> Any:
        """Follow started work by its events until it is over, and return the job."""
        async with self.client.stream("GET", started["events"]) as response:
            assert response.status_code == 200
            async for _line in response.aiter_lines():
                pass
        return await self.get(f"/jobs/{started['run_id']}")

    async def move(self, to: str) -> Any:
        """Take the book to a mode, past whatever gate there is."""
        response = await self.client.post("/api/factory/mode", json={"to": to})
        if response.status_code == 200:
            return response.json()
        assert response.status_code == 409, response.text
        return await self.post("/mode", {"to": to, "override": True, "risk_note": "a test"})


def _checked(response: httpx.Response, status: int) -> Any:
    assert response.status_code == status, (response.status_code, response.text)
    return response.json()


@dataclass
class Shop:
    """A folder that servers can be opened on."""

    root: Path
    flags: dict[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def build(cls, root: Path, **flags: Any) -> "Shop":
        root.mkdir()
        Project.init(root)
        return cls(root, flags)

    def opening(self, script: Script) -> Opening:
        home = self.root.parent / "home"
        return Opening(
            providers={"script": script},
            flags={**FLAGS, **self.flags},
            environment={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
        )

    @asynccontextmanager
    async def serve(self, script: Script | None = None) -> AsyncIterator[Desk]:
        """Run a real server on a free port for as long as the context lasts."""
        chosen = script or Script(staff())
        app = create_app(self.root, self.opening(chosen))
        async with served(app) as client:
            watch_receipts(client, app.state.studio)
            yield Desk(client, app.state.studio, factory_of(app.state.studio), chosen, self.root)


async def lay_foundation(desk: Desk) -> None:
    """Describe the book and fill the four templates."""
    await desk.put("/project", {"title": "Salt", "genre": "drama", "protagonist_name": "Ines"})
    for name, fields in {
        "protagonist": PROTAGONIST,
        "beat_sheet": {**BEATS, "midpoint_type": "false_victory"},
        "theme": THEME,
        "world_rules": {"fundamental_rules": RULES},
    }.items():
        await desk.put(f"/templates/{name}", {"fields": fields, "strict": True})


async def write_book(factory: Factory, *texts: str) -> None:
    """Put accepted scenes into chapter 1, as if the writer had typed them."""
    from dataclasses import replace

    from callboard.packs.writers_factory.model import PlannedScene, SceneStatus

    book = factory.rooms.manuscript
    planned = [PlannedScene(1, n, f"Scene {n}", n) for n in range(1, len(texts) + 1)]
    await book.set_outline(planned)
    for scene, text in zip(planned, texts, strict=True):
        meta = replace(book.scene(scene.id), status=SceneStatus.DRAFTED)
        await book.save(scene.id, text, meta, reason="typed")
