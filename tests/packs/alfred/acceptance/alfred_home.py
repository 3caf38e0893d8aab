"""A household in an open project: a real kitchen file, real runs, a scripted model, a fixed day."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import ReadRequest, WritePreview, WriteRequest
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.library.relational.dates import Today
from callboard.models import Line, ModelRequest, Script
from callboard.packs.alfred.kitchen.seeding import seed
from callboard.packs.alfred.project import KitchenProject
from callboard.studio.opening import Opening
from callboard.studio.packs import load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import SCRIPTED
from warm_kitchen import furnish

PACK = Path(__file__).resolve().parents[4] / "src" / "callboard" / "packs" / "alfred"
# A Wednesday morning, 20 May 2026.
NOW_MS = 1_779_265_800_000
SMALL: dict[str, Any] = {
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}
}
LISTEN = Line(json={}, prompt_type="understand", times=None)
CHAT = Line(json={"steps": []}, prompt_type="quick", times=None)
SUM = Line(
    json={"engagement_summary": "They cook.", "key_decisions": []},
    prompt_type="summarize",
    times=None,
)


class Clock:
    """A clock that a test moves."""

    def __init__(self, ms: int = NOW_MS) -> None:
        self.ms = ms

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


def silent_host(request: ModelRequest) -> Line | None:
    """Answer a request for a reply with nothing, so that code words it."""
    return Line(" ") if request.prompt_type == "reply" else None


def pick_last(request: ModelRequest) -> Line | None:
    """Answer every choice with its last option, as a small model might."""
    properties: Any = (request.json_schema or {}).get("properties", {})
    return Line(json={name: each["enum"][-1] for name, each in properties.items()})


@dataclass
class Home:
    """Somebody who talks to Alfred, with everything a test may look at."""

    alfred: KitchenProject
    script: Script
    session: str
    clock: Clock
    user: str = "me"

    @property
    def who(self) -> Who:
        return self.alfred.who(self.user, self.session)

    async def say(self, message: str, mode: str | None = None, **more: Any) -> TurnOutcome:
        return await self.alfred.send(
            message, session_id=self.session, user_id=self.user, mode=mode, **more
        )

    async def rows(self, table: str, **query: Any) -> list[dict[str, Any]]:
        request = ReadRequest.model_validate({"table": table, "limit": 200, **query})
        return (await self.alfred.kitchen.read(self.who, request)).rows

    async def names(self, table: str, **query: Any) -> list[str]:
        return sorted(str(row["name"]) for row in await self.rows(table, **query))

    async def add(self, table: str, *records: dict[str, Any]) -> None:
        await self.write(op="upsert", table=table, records=list(records))

    async def write(self, confirmed: WritePreview | None = None, **request: Any) -> Any:
        wanted = WriteRequest.model_validate(request)
        return await self.alfred.write(self.who, wanted, confirmed)

    def seed(self) -> None:
        """Fill the kitchen with the sample recipes, stock and list."""
        today = Today.at(self.clock.now_ms(), "UTC", week_starts_sunday=False)
        count = iter(range(100_000))
        seed(self.alfred.kitchen.base, self.user, today, lambda: f"seed-{next(count)}")

    def states(self) -> dict[str, str]:
        entities = self.alfred.talk.entities(self.session)
        return {each.label: each.state.value for each in entities}

    def ids(self) -> dict[str, str]:
        return {each.label: each.id for each in self.alfred.talk.entities(self.session)}

    def prompts(self, *types: str) -> list[str]:
        """Return what models were told, of some kinds or all."""
        calls = self.script.calls
        return [c.prompt for c in calls if not types or str(c.request.prompt_type) in types]

    def asked(self) -> list[str]:
        """Return which kinds of calls were made, in order."""
        return [str(call.request.prompt_type) for call in self.script.calls]


@asynccontextmanager
async def open_home(
    root: Path, *lines: Any, small: bool = False, clock: Clock | None = None, **opening: Any
) -> AsyncIterator[Home]:
    """Open a project with a kitchen, again and again on the same folder."""
    root.mkdir(exist_ok=True)  # noqa: ASYNC240 - before anything runs
    if not (root / ".callboard").exists():
        furnish(Project.init(root))
    script = Script(*lines, *([pick_last] if small else []))
    time = clock or Clock()
    flags = {**(SMALL if small else SCRIPTED), **opening.pop("flags", {})}
    chosen = Opening(
        packs=(load_pack(PACK),),
        providers={"script": script},
        flags=flags,
        clock=time,
        **opening,
    )
    async with Studio.open(root, chosen) as studio:
        session = (await studio.sessions.current()).id
        yield Home(KitchenProject(studio), script, session, time)


def plan(*steps: dict[str, Any], goal: str = "Do it", times: int | None = None) -> Line:
    """Return what a planner says."""
    return Line(json={"goal": goal, "steps": list(steps)}, prompt_type="think", times=times)


def step(kind: str, subdomain: str, group: int = 0, **more: Any) -> dict[str, Any]:
    """Return one step as a planner writes it."""
    told = more.pop("description", f"{kind} {subdomain}")
    return {
        "description": told,
        "step_type": kind,
        "subdomain": subdomain,
        "group": group,
        **more,
    }


def simple_recipe(name: str, *ingredients: str, **more: Any) -> dict[str, Any]:
    """Return a recipe of few words."""
    lines = [{"ingredient": each} for each in ingredients or ("rice",)]
    return {"name": name, "course": "main", "ingredients": lines, "steps": ["Cook."], **more}
