"""What the tests of a conversation stand on: three domains, a scripted model, and a talk.

The core is the same for all of them: what a test says in each domain, and where that is kept, is
in its `Words`.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from tiny_domain import TinyDomain

from callboard.choreography.turn.domain import Domain, Who
from callboard.choreography.turn.requests import ReadRequest, WriteKey, WriteRequest
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.choreography.turn.talk import Talk
from callboard.core.clock import SystemClock
from callboard.library.relational.base import Base
from callboard.models import Script
from callboard.studio.packs import Pack, load_pack
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from office.office_domain import Office
from warm_kitchen import lay_kitchen

ROOT = Path(__file__).resolve().parents[3]
ALFRED = ROOT / "src" / "callboard" / "packs" / "alfred"
WHO = Who("ann")


@dataclass(frozen=True)
class Words:
    """How one domain says what every domain can do, and where it keeps it."""

    # Things that are talked about one by one, and added by hand.
    things: str
    add: str
    show: str
    subdomain: str
    # Where tasks belong; every domain has them.
    calendar: str
    # Two tables that a plan may look at, with their subdomains.
    looks: tuple[tuple[str, str], tuple[str, str]]
    # Rows that are cleared all at once after a look at them.
    clear: str
    cleared: str
    add_cleared: str
    # What can be made up, where it is kept, and what of it is looked at.
    content_type: str
    content_table: str
    content_subdomain: str
    content: Mapping[str, Any]

    def label(self, table: str) -> str:
        """Return the column that names the rows of a table."""
        return "description" if table == "tasks" else "name"


OFFICE = Words(
    things="documents",
    add="add document {}",
    show="show documents",
    subdomain="files",
    calendar="calendar",
    looks=(("documents", "files"), ("contacts", "communications")),
    clear="delete all tasks",
    cleared="tasks",
    add_cleared="add task {}",
    content_type="document",
    content_table="documents",
    content_subdomain="files",
    content={"name": "Letter", "body": "Dear all"},
)
KITCHEN = Words(
    things="tasks",
    add="add task {}",
    show="show my tasks",
    subdomain="tasks",
    calendar="tasks",
    looks=(("recipes", "recipes"), ("shopping_items", "shopping")),
    clear="clear my shopping list",
    cleared="shopping_items",
    add_cleared="add {} to my shopping list",
    content_type="recipe",
    content_table="recipes",
    content_subdomain="recipes",
    content={
        "name": "Letter",
        "description": "Dear all",
        "servings": 2,
        "ingredients": [{"name": "rice", "quantity": 200, "unit": "g"}],
        "steps": [{"text": "Boil it."}],
    },
)


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

    @property
    def words(self) -> Words:
        """How this domain says things."""
        return words_of(self.domain)

    async def put(self, table: str, *names: str) -> list[str]:
        """Put rows there without a conversation; return their ids."""
        return await put_rows(self.domain, self.who, table, *names)

    async def say(self, message: str, mode: str | None = None, **more: Any) -> TurnOutcome:
        who = replace(self.who, session_id=self.session)
        return await self.talk.send(message, session_id=self.session, who=who, mode=mode, **more)

    def states(self) -> dict[str, str]:
        """Return the things talked about, by name."""
        return {each.label: each.state.value for each in self.talk.entities(self.session)}

    async def names(self, table: str) -> list[str]:
        """Return what a table holds, by name."""
        found = await self.domain.read(self.who, ReadRequest(table=table, limit=200))
        return sorted(str(row[self.words.label(table)]) for row in found.rows)


def words_of(domain: Domain) -> Words:
    """Return how a domain says things."""
    return KITCHEN if domain.name == "kitchen" else OFFICE


async def put_rows(domain: Domain, who: Who, table: str, *names: str) -> list[str]:
    """Put rows into a domain without a conversation; return their ids."""
    label = words_of(domain).label(table)
    request = WriteRequest.model_validate(
        {"op": "create", "table": table, "records": [{label: name} for name in names]}
    )
    key = WriteKey(session_id="by-hand", turn=1, step_id=f"put-{uuid4()}")
    return (await domain.write(replace(who, session_id="by-hand"), request, key)).ids


Parlours = Callable[..., AbstractAsyncContextManager[Parlour]]


@pytest.fixture(params=["tiny", "office", "kitchen"])
def domain(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return each domain the core must work with."""
    if request.param == "tiny":
        yield TinyDomain()
        return
    url = f"sqlite:///{tmp_path / request.param}.db"
    made = _kitchen(tmp_path) if request.param == "kitchen" else _office(url)
    yield made
    made.base.close()


def _office(url: str) -> Any:
    return Office(Base(url), SystemClock(), lambda: str(uuid4()))


def _kitchen(folder: Path) -> Any:
    from callboard.packs.alfred.kitchen.domain import Kitchen
    from callboard.packs.alfred.kitchen.opening import add_person, kitchen_url, open_kitchen

    base = open_kitchen(kitchen_url(lay_kitchen(folder)))
    at = "2026-05-20T08:30:00.000000Z"
    base.write_now(lambda connection: add_person(connection, WHO.user_id, "Ann", at, "UTC"))
    return Kitchen(base, SystemClock(), lambda: str(uuid4()))


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
        async with open_scripted(root, script, make_pack(tmp_path, domain), **opening) as studio:
            record = await studio.sessions.current() if session is None else None
            talk = Talk(studio, domain, "house")
            yield Parlour(studio, talk, domain, script, session or (record.id if record else ""))

    return enter
