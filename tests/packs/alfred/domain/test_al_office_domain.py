"""The office is a domain like the kitchen, and the core knows neither of them."""

import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from kitchen_home import Clock

from callboard.choreography.turn.domain import AskedMessage, Domain, Routed, Who
from callboard.choreography.turn.requests import ReadRequest, WriteKey, WritePreview, WriteResult
from callboard.library.relational.base import Base
from office.office_domain import Office

pytestmark = pytest.mark.anyio

_TESTS = Path(__file__).parents[3]
ME = Who("me", "s-1")


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    base = Base(f"sqlite:///{tmp_path / 'office.db'}")
    numbers = itertools.count(1)
    yield Office(base, Clock(), lambda: f"row-{next(numbers)}")
    base.close()


async def say(
    office: Office, message: str, turn: int = 1, confirmed: WritePreview | None = None
) -> WriteResult | list[str]:
    routed = await office.route(AskedMessage(message, "quick", ME))
    assert isinstance(routed, Routed), message
    (step,) = routed.steps
    if step.query is not None:
        rows = (await office.read(ME, step.query)).rows
        return [str(row.get("name") or row.get("description")) for row in rows]
    assert step.write is not None
    key = WriteKey(session_id="s-1", turn=turn, step_id="g0.s0")
    return await office.write(ME, step.write, key, confirmed)


@pytest.mark.req("AL-118", "AL-119")
def test_the_office_describes_itself(office: Office):
    domain: Domain = office
    parts = domain.subdomains()
    assert [part.name for part in parts] == ["files", "communications", "calendar"]
    assert [mode.title for mode in domain.modes()] == ["Quick", "Focus", "Plan", "Create"]
    assert [domain.persona(part.name).name for part in parts] == [
        "Writer",
        "Coordinator",
        "Analyst",
    ]
    assert "documents" in domain.schema("files")
    assert [each.name for each in domain.query_strategies()] == ["project"]


@pytest.mark.req("AL-118")
async def test_a_project_stands_for_its_people(office: Office):
    request = {"name": "Ada", "projects": ["Apollo"]}
    key = WriteKey(session_id="s-1", turn=1, step_id="g0.s0")
    from callboard.choreography.turn.requests import WriteRequest

    wanted = WriteRequest.model_validate(
        {"op": "create", "table": "contacts", "records": [request, {"name": "Bob"}]}
    )
    await office.write(ME, wanted, key)
    assert await say(office, "who works on Apollo?") == ["Ada"]
    assert await say(office, "show my contacts") == ["Ada", "Bob"]


async def test_documents_are_added_shown_put_away_and_brought_back(office: Office):
    await say(office, "add document Budget 2027", 1)
    await say(office, "remind me to call Ada", 2)
    assert await say(office, "show my documents") == ["Budget 2027"]
    assert await say(office, "list tasks") == ["call Ada"]
    await say(office, "delete the document Budget 2027", 3)
    assert await say(office, "show documents") == []
    await office.undo(ME)
    assert await say(office, "show documents") == ["Budget 2027"]
    assert await office.route(AskedMessage("what's in the fridge", "quick", ME)) is None
    counts = await office.counts(ME)
    assert (counts["documents"], counts["tasks"]) == (1, 1)
    other = await office.read(Who("you"), ReadRequest(table="documents"))
    assert other.rows == []


@pytest.mark.req("AL-119", "AL-117")
def test_neither_the_core_nor_the_office_loads_a_kitchen():
    program = (
        "import sys\n"
        "import callboard.choreography.turn.talk, callboard.choreography.turn.turn\n"
        "import callboard.knowledge.entities\n"
        "core = [m for m in sys.modules if m.startswith('callboard.packs')]\n"
        f"sys.path.insert(0, {str(_TESTS)!r})\n"
        "import office.office_domain\n"
        "kitchen = [m for m in sys.modules if 'alfred.kitchen' in m]\n"
        "assert 'office.office_domain' in sys.modules\n"
        "print(core, kitchen)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[] []"
