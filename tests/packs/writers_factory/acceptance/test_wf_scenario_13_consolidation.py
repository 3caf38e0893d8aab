"""Scenario 13: what was talked about becomes hard fact, and what contradicts waits."""

from pathlib import Path
from typing import Any

import pytest
from acceptance_stage import action, message, open_novel, reply, settle, staff

from callboard.core.vocabulary import RunState
from callboard.knowledge import Node
from callboard.models import Line, ModelRequest, Script
from callboard.packs.writers_factory.memory import AlreadyRunning

pytestmark = pytest.mark.anyio

FLAW = "He runs before anybody can leave him"
FOUND = (
    '<node type="character" name="Rosa" job="nurse"/>\n'
    '<node type="character" name="Phantom"/>\n'
    '<edge src="Rosa" dst="Danny" type="loves"/>'
)


def extract(request: ModelRequest) -> str:
    """Find Rosa where she is talked about."""
    return FOUND if "Rosa" in request.prompt_text else '{"nodes": [], "edges": []}'


def save(category: str, key: str, value: str) -> str:
    return action("save_decision", category=category, key=key, value=value, source="writer_stated")


@pytest.mark.req("WF-77", "WF-81", "WF-82", "WF-83")
@pytest.mark.req("WF-G55", "WF-G56", "WF-G57", "WF-G58", "WF-G59")
async def test_scenario_13_consolidation(tmp_path: Path) -> None:
    script = Script(staff({"memory/extract": extract, "memory/extract_again": extract}))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        memory, consolidator = novel.rooms.memory, novel.factory.consolidator
        living: dict[str, Any] = {
            "status": "alive",
            "states": {"status": [{"value": "alive", "since_scene": "ch4"}]},
        }
        await memory.graph.merge(
            [
                Node("character:mickey", "character", "Mickey"),
                Node("character:danny", "character", "Danny", (), living),
            ],
            [],
        )
        await memory.save_decision("character", "mickey_fatal_flaw", FLAW, "writer_stated")
        report = await novel.run("consolidate", conversations=False)
        mickey = memory.graph.node("character:mickey")
        assert mickey is not None and mickey.attrs["fatal_flaw"] == FLAW
        assert script.calls == [] and report["entries_seen"] == 1
        assert all(entry.is_promoted for entry in memory.decisions())

        # A conversation yields nodes and edges, and only of what was named in it.
        said = message(
            "Then she is the one who stays. Who tells Mickey?",
            save("character", "danny_status", "dead in chapter 4"),
        )
        await novel.hear(said, "Rosa is a nurse and loves Danny, but Danny is dead in chapter 4.")
        before = memory.graph.node("character:danny")
        report = await novel.run("consolidate")
        rosa = memory.graph.node("character:rosa")
        assert rosa is not None and rosa.attrs["job"] == "nurse"
        assert [(e.dst, e.type) for e in memory.graph.edges("character:rosa")] == [
            ("character:danny", "loves")
        ]
        assert memory.graph.node("character:phantom") is None
        # The dead man against the living one: a question, and nothing else.
        assert report["conflicts"] == 1
        danny = memory.graph.node("character:danny")
        assert danny is not None and before is not None and danny.attrs == before.attrs
        entry = memory.facts.get("character", "danny_status")
        assert entry is not None and not entry.is_promoted
        (conflict,) = consolidator.conflicts()
        assert conflict.existing["value"] == "alive"

        version, calls = memory.graph.version(), len(script.calls)
        again = await novel.run("consolidate")
        assert (again["events_seen"], again["entries_seen"], again["conflicts"]) == (0, 0, 0)
        assert (again["nodes_added"], again["nodes_updated"], again["edges_added"]) == (0, 0, 0)
        assert memory.graph.version() == version and len(script.calls) == calls

        await consolidator.resolve(conflict.id, "accept_new")
        danny = memory.graph.node("character:danny")
        assert danny is not None and danny.attrs["status"] == "dead"
        entry = memory.facts.get("character", "danny_status")
        assert entry is not None and entry.is_promoted
        assert consolidator.conflicts() == ()


@pytest.mark.req("WF-G59")
async def test_scenario_13_a_parallel_second_call_is_refused(tmp_path: Path) -> None:
    held = Line('{"nodes": [], "edges": []}', prompt_type="memory/extract", hold="late")
    script = Script(held, reply(message("Noted. Who tells Mickey?")))
    async with open_novel(settle(tmp_path / "book"), script) as novel:
        await novel.say("Rosa is a nurse.")
        first = await novel.factory.start("consolidate", {})
        await script.reached("late")
        with pytest.raises(AlreadyRunning):
            await novel.factory.start("consolidate", {})
        script.release("late")
        done = await novel.studio.engine.wait(first.id)
        assert done.state is RunState.DONE
        assert (await novel.run("consolidate"))["events_seen"] == 0
