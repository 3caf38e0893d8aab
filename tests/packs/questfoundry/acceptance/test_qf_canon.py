"""Canon in the knowledge graph: written with Cold, told with its origin, changed by its loop."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from questkit import Company, House, hook, open_house

from callboard.api.app import create_app
from callboard.packs.questfoundry.archive import Unpacked, collected, restored
from callboard.packs.questfoundry.by_code import gate_by_code
from callboard.packs.questfoundry.canon.graph import TracedStatement, find_statement
from callboard.packs.questfoundry.cold.snapshots import Merging
from callboard.packs.questfoundry.doors.telling import conflicts_of, why_of
from callboard.packs.questfoundry.foundry import Foundry, foundry_of
from callboard.packs.questfoundry.operations import operations_on, rebuild_canon, select_snapshot
from callboard.packs.questfoundry.shelf.entry import HotLeak
from callboard.packs.questfoundry.shelf.shelf import Shelving
from callboard.packs.questfoundry.units.ledger import UnitOpening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from door_server import served
from warm_process import call_warm

pytestmark = pytest.mark.anyio


def fact(name: str, attribute: str, value: str, since: str = "") -> dict[str, Any]:
    return {"name": name, "attribute": attribute, "value": value, "since": since}


def occurs(name: str, order: int) -> dict[str, Any]:
    return {"id": name, "order": order, "event": f"The {name}"}


def pack(*facts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"entities": list(facts), **more}


async def unit_of(foundry: Foundry, **bodies: Any) -> str:
    """Open a unit that made some artifacts and is ready for its gatecheck."""
    await foundry.begun()
    name = foundry.studio.ids.make("session")
    unit = await foundry.units.open(UnitOpening(name, "lore_deepening", "LW", "Canon"))

    def act(connection: Any) -> None:
        made: dict[str, Any] = {}
        for number, (kind, content) in enumerate(bodies.items(), start=1):
            wanted = Shelving(
                kind, content, unit.id, unit.loop, "step_2_draft_canon", "lore_weaver"
            )
            entry = foundry.shelf.put(connection, wanted)
            made[kind] = {"ref": entry.ref, "sha256": entry.sha256, "order": number}
        held = foundry.units.load(connection, unit.id)
        ready = replace(held, made=made, outcome="success", ready_for_gate=True)
        foundry.units.save(connection, ready)

    await foundry.studio.database.write(act)
    return unit.id


async def gate(foundry: Foundry, *units: str) -> Any:
    return await operations_on(foundry.studio).perform(gate_by_code, units)


async def merged(foundry: Foundry, **bodies: Any) -> Any:
    made = await gate(foundry, await unit_of(foundry, **bodies))
    assert made["snapshot"], made["findings"]
    return made["snapshot"]


def said(statements: dict[str, TracedStatement]) -> dict[str, tuple[str, str]]:
    return {name: (e.statement.text, e.origin.snapshot) for name, e in statements.items()}


async def test_a_merge_writes_canon_into_the_graph_with_where_it_comes_from(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        first = await merged(
            foundry,
            canon_pack=pack(
                fact("Bram", "eyes", "green", ""),
                fact("Bram", "alias", "The Lamplighter"),
                timeline=[{"id": "fire", "order": 1, "event": "The mill burns"}],
            ),
            codex_entries={"entries": [{"slug": "mill", "title": "Mill", "overview": "Old."}]},
        )
        second = await merged(foundry, canon_pack=pack(fact("Nan", "eyes", "grey", "fire")))
        found = foundry.canon()
        assert said(found) == {
            "event:fire": ("The mill burns", first),
            "fact:bram/eyes": ("green", first),
            "fact:bram/alias": ("The Lamplighter", first),
            "fact:nan/eyes@fire": ("grey", second),
            "codex:mill": ("Old.", first),
        }
        origin = found["fact:nan/eyes@fire"].origin
        assert origin.artifact.startswith("canon_pack.TU-") and origin.version == 1
        assert foundry.units.find(origin.unit).snapshot == second
        graph = studio.knowledge.graph("canon")
        bram = graph.find("the lamplighter")
        assert bram is not None and bram.name == "Bram"
        assert {edge.src for edge in graph.edges(dst=bram.id)} == {
            "fact:bram/alias",
            "fact:bram/eyes",
        }
        assert [edge.dst for edge in graph.edges("fact:nan/eyes@fire", type="since")] == [
            "event:fire"
        ]
        # Only what the second merge said was written by it.
        at = {node.id: node.updated_at for node in graph.nodes()}
        assert at["fact:bram/eyes"] < at["fact:nan/eyes@fire"]


async def test_two_units_drafted_apart_cannot_overwrite_each_others_canon(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        one = await unit_of(foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
        other = await unit_of(foundry, canon_pack=pack(fact("bram", "Eye colour", "blue")))
        both = await gate(foundry, one, other)
        assert both["decision"] == "block" and both["snapshot"] is None
        assert (await gate(foundry, one))["decision"] == "pass"
        tip = foundry.cold.tip()
        later = await gate(foundry, other)
        assert later["decision"] == "block" and foundry.cold.tip() == tip
        (found,) = [row for row in later["findings"] if row["check"] == "canon_clash"]
        assert "blue" in found["evidence"] and "green" in found["evidence"]
        assert (found["owner_role"], found["target_step"]) == (
            "lore_weaver",
            "step_3_contradiction_check",
        )
        assert said(foundry.canon())["fact:bram/eyes"][0] == "green"


async def test_a_retcon_goes_through_the_report_of_its_loop_and_stays_on_record(
    tmp_path: Path,
) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        line = [occurs("fire", 1), occurs("flood", 2)]
        first = await merged(foundry, canon_pack=pack(fact("Bram", "eyes", "green"), timeline=line))
        clashes = [
            {"a": "Bram: eyes is blue", "b": "Bram: eyes is green", "kind": "fact"},
            {"a": "flood before fire", "b": "fire before flood", "kind": "order"},
        ]
        turned = [occurs("flood", 1), occurs("fire", 2)]
        second = await merged(
            foundry,
            canon_pack=pack(fact("Bram", "eyes", "blue"), timeline=turned),
            contradiction_report={
                "clashes": [{**row, "resolution": "reconciled"} for row in clashes]
            },
        )
        assert said(foundry.canon())["fact:bram/eyes"] == ("blue", second)
        why = why_of(foundry, "fact:bram/eyes")
        assert [(row["was"], row["became"]) for row in why["history"]] == [("green", "blue")]
        assert second in why["history"][0]["source"] and why["made"]["loop"] == "lore_deepening"
        assert conflicts_of(foundry)["status"] == "CONSISTENT"
        order = [
            row["id"]
            for row in foundry.cold.contents(foundry.snapshot_named(None))["canon_pack"]["timeline"]
        ]
        assert order == ["flood", "fire"]

        # Nothing is lost: an earlier snapshot has its own canon, and so has the graph then.
        await operations_on(studio).perform(select_snapshot, first)
        assert said(foundry.canon())["fact:bram/eyes"] == ("green", first)
        assert foundry.cold.canon.graph.snapshot() == first


async def test_the_graph_can_be_derived_from_cold_alone(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        await merged(foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
        await merged(foundry, canon_pack=pack(fact("Nan", "eyes", "grey")))
        before = foundry.canon()
        graph = studio.knowledge.graph("canon")
        # As in a project from before there was such a graph.
        await graph.remove([node.id for node in graph.nodes()])
        assert foundry.cold.canon.graph.snapshot() is None
        assert foundry.canon() == before
        assert await operations_on(studio).perform(rebuild_canon) == {"statements": 2}
        assert foundry.cold.canon.graph.statements() == before
        # The next merge goes on from there, rebuilt or not.
        await graph.remove([node.id for node in graph.nodes()])
        await merged(foundry, canon_pack=pack(fact("Joss", "eyes", "brown")))
        assert {**before}.items() <= foundry.cold.canon.graph.statements().items()


async def test_what_fails_inside_a_merge_leaves_no_canon_behind(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        unit = await unit_of(foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
        base = foundry.snapshot_named(None)

        def stop(_connection: Any) -> None:
            raise RuntimeError("killed after the graph was written")

        with pytest.raises(RuntimeError):
            await foundry.cold.merge(Merging("m", base.id, {unit: {}}), stop)
        assert not studio.knowledge.graph("canon").nodes() and not foundry.canon()
        assert foundry.cold.tip() == base


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from callboard.packs.questfoundry.cold.snapshots import Merging
from callboard.packs.questfoundry.foundry import foundry_of
from callboard.studio.studio import Studio

async def main() -> None:
    async with Studio.open(Path(sys.argv[1])) as studio:
        foundry = foundry_of(studio)
        wanted = Merging("m", foundry.snapshot_named(None).id, {sys.argv[2]: {}})
        await foundry.cold.merge(wanted, lambda _: os.kill(os.getpid(), signal.SIGKILL))

asyncio.run(main())
"""


async def test_a_kill_after_the_graph_was_written_leaves_snapshot_and_canon_as_they_were(
    tmp_path: Path,
) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        first = await merged(foundry, canon_pack=pack(fact("Nan", "eyes", "grey")))
        unit = await unit_of(foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
    words = [sys.executable, "-c", KILLED, str(tmp_path), unit]
    killed = await anyio.to_thread.run_sync(lambda: subprocess.run(words, check=False))
    assert killed.returncode == -signal.SIGKILL
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        assert foundry.snapshot_named(None).id == foundry.cold.canon.graph.snapshot() == first
        assert list(foundry.canon()) == ["fact:nan/eyes"]
        assert (await gate(foundry, unit))["decision"] == "pass"
        assert list(foundry.canon()) == ["fact:bram/eyes", "fact:nan/eyes"]
        assert foundry.cold.canon.graph.statements() == foundry.canon()


async def test_secrets_of_canon_are_refused_to_whoever_works_for_readers(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        await merged(
            foundry,
            canon_pack=pack(fact("Bram", "eyes", "green")),
            player_safe_summaries={"summaries": [{"topic": "Bram", "text": "A keeper."}]},
        )
        canon = foundry.canon()
        for role in ("book_binder", "player_narrator"):
            with pytest.raises(HotLeak, match=r"book_binder|player_narrator"):
                find_statement(canon, "fact:bram/eyes", role)
            assert find_statement(canon, "summary:bram", role)
        assert find_statement(canon, "fact:bram/eyes", "lore_weaver")
    async with served(create_app(tmp_path)) as client:
        every = (await client.get("/api/quest/canon")).json()
        assert {row["id"] for row in every} == {"fact:bram/eyes", "summary:bram"}
        safe = (await client.get("/api/quest/canon", params={"reader": "book_binder"})).json()
        assert [row["id"] for row in safe] == ["summary:bram"]
        one = (await client.get("/api/quest/canon/fact:bram/eyes")).json()
        assert one["origin"]["snapshot"] and one["made"]["produced_by"] == "lore_weaver"
        refused = await client.get(
            "/api/quest/canon/fact:bram/eyes", params={"reader": "book_binder"}
        )
        assert refused.status_code == 409 and "quest_hot_leak" in refused.text
        assert (await client.get("/api/quest/canon/fact:nobody/eyes")).status_code == 404
        told = (await client.get("/api/quest/canon/conflicts")).json()
        assert told["status"] == "CONSISTENT" and "1 statements" in told["looked_at"]
        rebuilt = await client.post("/api/quest/canon/rebuild", json={})
        assert rebuilt.status_code < 300


async def lore(house: House, canon: dict[str, Any], **more: Any) -> Any:
    """Bring one story hook to the loop of canon, and run it."""
    company = house.company
    company.usual["hooks"] = {"hooks": [hook("Who lit the lamp?")]}
    await house.success("story_spark")
    (raised,) = house.foundry.hooks.in_state("proposed")
    row = {"hook_id": raised.id, "decision": "accepted", "owner_role": "lore_weaver"}
    row |= {"next_loop": "lore_deepening"}
    company.usual["hook_annotations"] = {"notes": [{"hook_id": raised.id, "role": "lore_weaver"}]}
    company.usual["triage_decisions"] = {"decisions": [row]}
    await house.success("hook_harvest")
    asked = {"id": "Q1", "question": "Who is Bram?", "hook_ids": [raised.id]}
    company.usual["canon_questions"] = {"questions": [asked]}
    answer = {"question_id": "Q1", "answer": "The smith.", "hook_ids": [raised.id]}
    company.usual["canon_pack"] = {"answers": [answer], **canon}
    company.usual |= more
    return await house.run("lore_deepening")


async def test_a_contradiction_within_new_canon_is_not_talked_away(tmp_path: Path) -> None:
    clash = {"a": "Bram: eyes is blue", "b": "Bram: eyes is green", "kind": "fact"}
    async with open_house(tmp_path / "book", Company()) as house:
        ran = await lore(
            house,
            pack(fact("Bram", "eyes", "green"), fact("Bram", "eyes", "blue")),
            contradiction_report={"clashes": [{**clash, "resolution": "reconciled"}]},
        )
        assert ran.result.status == "stalled"
        report = house.content(ran, "gatecheck_report")
        (bar,) = [row for row in report["bars"] if row["bar"] == "integrity"]
        assert bar["status"] == "red" and "contradicts" in bar["evidence"]
        (row,) = house.content(ran, "contradiction_report")["clashes"]
        assert row["resolution"] == "open"


async def test_old_canon_is_read_from_the_graph_and_changed_by_a_reconciled_clash(
    tmp_path: Path,
) -> None:
    clash = {"a": "Bram: eyes is blue", "b": "Bram: eyes is green", "kind": "fact"}
    async with open_house(tmp_path / "book", Company()) as house:
        await merged(house.foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
        ran = await lore(
            house,
            pack(fact("Bram", "eyes", "blue")),
            contradiction_report={"clashes": [{**clash, "resolution": "reconciled"}]},
        )
        assert ran.result.success, ran.result.error
        (drafted,) = [p for k, _, p in house.company.prompts if "step_2_draft_canon" in k]
        assert "Bram: eyes is green" in drafted
        await house.success("gatecheck")
        assert said(house.foundry.canon())["fact:bram/eyes"][0] == "blue"


async def test_an_archive_brings_its_canon_along(tmp_path: Path) -> None:
    Project.init(tmp_path / "a", pack="questfoundry")
    Project.init(tmp_path / "b", pack="questfoundry")
    async with Studio.open(tmp_path / "a") as studio:
        foundry = foundry_of(studio)
        await merged(foundry, canon_pack=pack(fact("Bram", "eyes", "green")))
        files, before = collected(foundry), foundry.canon()
    async with Studio.open(tmp_path / "b") as studio:
        foundry = foundry_of(studio)
        await restored(foundry, Unpacked(files, {}))
        assert foundry.canon() == before
        assert foundry.cold.canon.graph.statements() == before


async def test_the_command_line_tells_canon_why_and_what_contradicts_it(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        foundry = foundry_of(studio)
        asked = {"question_id": "Q1", "answer": "The smith.", "hook_ids": ["HK-1"]}
        await foundry.begun()
        await merged(
            foundry,
            canon_pack=pack(fact("Bram", "eyes", "green"), fact("Bram", "alias", "The Lamplighter"))
            | {"constraints": [{"statement": "No bell rings twice"}]},
        )
        rival = await unit_of(
            foundry,
            canon_pack=pack(fact("The Lamplighter", "eyes", "blue"), answers=[asked]),
        )

    def quest(*words: str, code: int = 0) -> Any:
        called = call_warm("quest", "canon", *words, "--json", cwd=tmp_path)
        assert called.returncode == code, (called.stdout, called.stderr)
        return json.loads(called.stdout)

    listed = quest("list", "--about", "the lamplighter")["statements"]
    assert [row["told"] for row in listed] == [
        "Bram: alias is The Lamplighter",
        "Bram: eyes is green",
    ]
    assert [row["kind"] for row in quest("list", "--kind", "constraint")["statements"]] == [
        "constraint"
    ]
    shown = quest("show", "fact:bram/eyes")
    why = quest("why", "fact:bram/eyes")
    assert shown["origin"] == why["origin"] and why["made"]["step"] == "step_2_draft_canon"
    assert quest("conflicts")["status"] == "CONSISTENT"
    against = quest("conflicts", "--tu", rival, code=1)
    assert against["status"] == "CONTRADICTIONS"
    (clash,) = against["clashes"]
    assert (clash["a"], clash["b"]) == ("The Lamplighter: eyes is blue", "Bram: eyes is green")
    assert quest("rebuild") == {"statements": 3}


async def test_a_project_without_canon_is_not_checked(tmp_path: Path) -> None:
    Project.init(tmp_path, pack="questfoundry")
    async with Studio.open(tmp_path) as studio:
        await foundry_of(studio).begun()
        assert conflicts_of(foundry_of(studio))["status"] == "NOT_CHECKED"
