"""What the tests of a conversation stand on: two domains, a scripted model, and a talk."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from tiny_domain import TinyDomain

from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.choreography.turn.talk import Talk
from callboard.core.clock import SystemClock
from callboard.models import Script
from callboard.packs.alfred.office.domain import Office
from callboard.packs.alfred.relational.base import Base
from callboard.studio.packs import Pack, load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Opening, Studio
from callboard.testing.opening import SCRIPTED

ROOT = Path(__file__).resolve().parents[2]
ALFRED = ROOT / "src" / "callboard" / "packs" / "alfred"
WHO = Who("ann")


class HousePack(Pack):
    """A pack whose domain the test holds in its hands."""

    def choreography(self, name: str) -> Any:
        from callboard.choreography.turn.turn import Turn

        return Turn(lambda _studio: self.__dict__["domain"])


def make_pack(folder: Path, domain: Domain) -> Pack:
    """Return a pack with Alfred's staff and prompts, and a domain of the test's own."""
    raw = yaml.safe_load((ALFRED / "pack.yaml").read_text("utf-8"))
    described = {
        "name": "house",
        "agents": raw["agents"],
        "choreographies": {"turn": "turn.py:turn"},
        "prompts": "prompts",
    }
    root = folder / "house-pack"
    root.mkdir(exist_ok=True)
    (root / "pack.yaml").write_text(yaml.safe_dump(described), "utf-8")
    if not (root / "prompts").exists():
        (root / "prompts").symlink_to(ALFRED / "prompts")
    loaded = load_pack(root)
    pack = HousePack(loaded.root, loaded.described)
    pack.__dict__["domain"] = domain
    return pack


@dataclass
class Parlour:
    """A conversation in progress, with everything a test may look at."""

    studio: Studio
    talk: Talk
    domain: Any
    script: Script
    session: str
    who: Who = field(default=WHO)

    async def say(self, message: str, mode: str | None = None, **more: Any) -> TurnOutcome:
        who = replace(self.who, session_id=self.session)
        return await self.talk.send(message, session_id=self.session, who=who, mode=mode, **more)

    def states(self) -> dict[str, str]:
        """Return the things talked about, by name."""
        return {each.label: each.state.value for each in self.talk.entities(self.session)}

    async def names(self, table: str) -> list[str]:
        """Return what a table holds, by name."""
        from callboard.choreography.turn.requests import ReadRequest

        found = await self.domain.read(self.who, ReadRequest(table=table, limit=200))
        label = "description" if table == "tasks" else "name"
        return sorted(str(row[label]) for row in found.rows)


Parlours = Callable[..., AbstractAsyncContextManager[Parlour]]


@pytest.fixture(params=["tiny", "office"])
def domain(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return each domain the core must work with."""
    if request.param == "tiny":
        yield TinyDomain()
        return
    base = Base(f"sqlite:///{tmp_path / 'office.db'}")
    yield Office(base, SystemClock(), lambda: str(uuid4()))
    base.close()


@pytest.fixture
def tiny() -> TinyDomain:
    """Return the domain in memory."""
    return TinyDomain()


@pytest.fixture
def parlour_of(tmp_path: Path) -> Parlours:
    """Return a way to open a conversation, again and again on the same project."""

    @asynccontextmanager
    async def enter(
        domain: Domain, *lines: Any, session: str | None = None, **opening: Any
    ) -> AsyncIterator[Parlour]:
        root = tmp_path / "project"
        if not root.exists():
            root.mkdir()
            Project.init(root)
        script = Script(*lines)
        flags = {**SCRIPTED, **opening.pop("flags", {})}
        chosen = Opening(
            packs=(make_pack(tmp_path, domain),),
            providers={"script": script},
            flags=flags,
            **opening,
        )
        async with Studio.open(root, chosen) as studio:
            record = await studio.sessions.current() if session is None else None
            talk = Talk(studio, domain, "house")
            yield Parlour(studio, talk, domain, script, session or (record.id if record else ""))

    return enter
