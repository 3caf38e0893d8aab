"""QuestFoundry over HTTP."""

import re
from pathlib import Path

import pytest
from questkit import Company

from callboard.api.app import create_app
from callboard.models import Script
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.testing import SCRIPTED
from callboard.ui.mounting import hang_up_pages
from door_server import served

pytestmark = pytest.mark.anyio


@pytest.mark.req("QF-148", "QF-149")
async def test_a_loop_is_run_followed_and_looked_at(tmp_path: Path) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    opening = Opening(providers={"script": Script(Company().speak)}, flags=SCRIPTED)
    async with served(create_app(root, opening)) as client:
        loops = (await client.get("/api/quest/loops")).json()
        assert len(loops) == 13
        shown = (await client.get("/api/quest/loops/canon_weaving")).json()
        assert shown["id"] == "lore_deepening"
        assert (await client.get("/api/quest/loops/limerick")).status_code == 404
        assert (await client.post("/api/quest/runs", json={"loop": "nope"})).status_code == 404
        assert (await client.post("/api/quest/runs", json={"lop": "x"})).status_code == 400
        wanted = {"loop": "story_spark", "interactive": False, "policy": "playbook"}
        begun = await client.post("/api/quest/runs", json=wanted)
        assert begun.status_code == 202
        run_id = begun.json()["run_id"]
        names: list[str] = []
        async with client.stream("GET", begun.json()["events"]) as stream:
            async for line in stream.aiter_lines():
                names.append(line)
                if '"loop.closed"' in line:
                    break
        whole = "\n".join(names)
        for each in ("opened", "step.started", "artifact.stored", "gate", "checkpoint"):
            assert f"loop.{each}" in whole, each
        run = (await client.get(f"/api/quest/runs/{run_id}")).json()
        assert run["steps"]["step_7_preview_gate"] == "done"
        assert run["report"]["decision"] == "pass" and run["tu_id"]
        unit = run["tu_id"]
        assert (await client.get(f"/api/quest/tus/{unit}")).json()["loop"] == "story_spark"
        hooks = (await client.get("/api/quest/hooks")).json()
        assert [each["status"] for each in hooks] == ["proposed"]
        (notes,) = (await client.get("/api/quest/artifacts?kind=topology_notes")).json()
        body = (await client.get(f"/api/quest/artifacts/{notes['ref']}")).json()
        assert body["content"]["start"] == "pier"
        assert len((await client.get("/api/quest/snapshots")).json()) == 1
        said = (await client.get("/api/quest/book")).json()
        assert said["title"] and said["ifid"]
        nearest = (await client.get("/api/quest/next-loop")).json()
        assert nearest["suggested_loop"]
        why = {"reason": "later", "revisit": "in spring"}
        done = await client.post(f"/api/quest/tus/{unit}/defer", json=why)
        assert done.json()["status"] == "deferred"
        again = await client.post(f"/api/quest/tus/{unit}/defer", json=why)
        assert again.status_code == 409


async def test_a_book_is_described_and_its_sections_are_looked_at(tmp_path: Path) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    opening = Opening(providers={"script": Script(Company().speak)}, flags=SCRIPTED)
    async with served(create_app(root, opening)) as client:
        assert (await client.post("/api/quest/book", json={"title": "The Lamp"})).status_code == 200
        another = await client.post("/api/quest/book", json={"title": "Another"})
        assert another.status_code == 409
        said = await client.put("/api/quest/book", json={"title": "Another", "author": "Ada"})
        assert (said.json()["title"], said.json()["author"]) == ("Another", "Ada")
        for loop in ("story_spark", "gatecheck"):
            wanted = {"loop": loop, "interactive": False, "policy": "playbook"}
            begun = (await client.post("/api/quest/runs", json=wanted)).json()
            async with client.stream("GET", begun["events"]) as stream:
                async for line in stream.aiter_lines():
                    if '"loop.closed"' in line:
                        break
        listed = (await client.get("/api/quest/sections")).json()
        assert listed[0]["id"] == "pier" and len(listed) == 8
        store = (await client.get("/api/quest/sections/store")).json()
        (way,) = store["in"]
        assert way["asks_for"] == ["has_lamp"] and way["refusal"].startswith("In the dark")
        assert [each["choice"] for each in store["playthrough"]][-1] == "room.store"
        assert (await client.get("/api/quest/sections/nowhere")).status_code == 404


async def test_who_opens_the_server_in_a_browser_is_told_where_something_is(
    tmp_path: Path,
) -> None:
    root = tmp_path / "book"
    Project.init(root, pack="questfoundry")
    app = create_app(root)
    hang_up_pages(app)
    async with served(app) as client:
        told = (await client.get("/")).json()["error"]["details"]["fix"]
        (path,) = re.findall("`(.+)`", told)
        assert "/api/quest/book" in (await client.get(path)).json()["paths"]
