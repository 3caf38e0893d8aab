"""Scenario 8 and the loops between a spark and a gatecheck."""

from pathlib import Path
from typing import Any

import pytest
from questkit import Company, House, hook, open_house

pytestmark = pytest.mark.anyio

TITLES = (
    "Who lit the lamp?",
    "Where is the keeper",
    "A boat without light",
    "The rusted bolt",
    "Oil from the north",
    "The second stair",
    "A name on the wall",
    "The harbour master lies",
    "Gulls that do not fly",
    "An empty coat",
    "The tide table is wrong",
    "who lit the lamp",
)


def harvest(house: House, company: Company) -> dict[str, str]:
    """Decide twelve story hooks: seven accepted, three deferred, two rejected."""
    hooks = house.foundry.hooks.in_state("proposed")
    assert len(hooks) == 12
    rows: list[dict[str, Any]] = []
    for number, each in enumerate(hooks):
        row: dict[str, Any] = {"hook_id": each.id, "decision": "accepted"}
        if number < 7:
            row |= {"owner_role": "lore_weaver", "next_loop": "lore_deepening"}
        elif number < 10:
            row |= {"decision": "deferred", "wake_condition": "when the harbour is written"}
        else:
            row |= {"decision": "rejected", "reason": "said before"}
        rows.append(row)
    company.usual["hook_annotations"] = {
        "notes": [{"hook_id": hooks[0].id, "role": "lore_weaver", "impact": "a name"}]
    }
    company.usual["triage_decisions"] = {"decisions": rows}
    return {each.title: each.id for each in hooks}


def canon(ids: list[str], company: Company) -> None:
    company.usual["canon_questions"] = {
        "questions": [
            {"id": f"Q{n}", "question": "Why?", "hook_ids": [i]} for n, i in enumerate(ids)
        ]
    }
    company.usual["canon_pack"] = {
        "answers": [
            {"question_id": f"Q{n}", "answer": "Because.", "hook_ids": [i]}
            for n, i in enumerate(ids)
        ],
        "entities": [{"name": "Lamp", "attribute": "lit by", "value": "the sister"}],
        "spoiler_terms": ["the keeper's sister"],
    }
    company.usual["player_safe_summaries"] = {
        "summaries": [{"topic": "Lamp", "text": "Somebody tends it.", "source_answer": "Q0"}]
    }


def entries(overview: str) -> dict[str, Any]:
    others = ["bolt", "tower", "oil"]
    rows = [
        {"slug": "lamp", "title": "Lamp", "overview": overview, "see_also": others}
        | {"citations": ["Q0"]}
    ]
    rows += [
        {"slug": each, "title": each.title(), "overview": "It is old.", "see_also": ["lamp"]}
        | {"citations": ["Q0"]}
        for each in others
    ]
    return {"entries": rows}


@pytest.mark.req("QF-105", "QF-106", "QF-107", "QF-108", "QF-109", "QF-112", "QF-113", "QF-114")
async def test_hooks_are_harvested_answered_and_published(tmp_path: Path) -> None:
    company = Company()
    company.usual["hooks"] = {"hooks": [hook(each) for each in TITLES]}
    async with open_house(tmp_path / "book", company) as house:
        spark = await house.success("story_spark")
        ids = harvest(house, company)
        ran = await house.success("hook_harvest", upstream=[spark.unit.id])
        assert ran.result.next_loop == "lore_deepening"
        states = [each.status for each in house.foundry.hooks.all()]
        counts = {each: states.count(each) for each in set(states)}
        assert counts == {"accepted": 7, "deferred": 3, "rejected": 2}
        twin = house.foundry.hooks.find(ids["who lit the lamp"])
        assert twin.duplicate_of == ids["Who lit the lamp?"]

        accepted = [each.id for each in house.foundry.hooks.in_state("accepted")]
        canon(accepted, company)
        lore = await house.success("lore_deepening", upstream=[ran.unit.id])
        assert lore.result.next_loop == "codex_expansion"
        assert len(house.foundry.hooks.in_state("resolved")) == 7

        company.usual["codex_entries"] = entries("It burns.")
        codex = await house.success("codex_expansion", upstream=[lore.unit.id])
        links = house.content(codex, "crosslink_map")["links"]
        assert links and all(each["ok"] for each in links)
        for each in house.foundry.hooks.all():
            way = [step["to"] for step in each.history]
            assert way in (
                ["accepted", "in_progress", "resolved"],
                ["deferred"],
                ["rejected"],
            )

        await house.success("gatecheck")
        assert len(house.foundry.hooks.in_state("canonized")) == 7
        tip = house.foundry.cold.tip()
        assert tip is not None and tip.files["canon_pack"]["player_safe"] is False
        assert house.foundry.hooks.in_state("canonized")[0].cold_link == tip.id


@pytest.mark.req("QF-111", "QF-113")
async def test_a_secret_in_an_entry_turns_presentation_red(tmp_path: Path) -> None:
    company = Company()
    company.usual["hooks"] = {"hooks": [hook(each) for each in TITLES]}
    async with open_house(tmp_path / "book", company) as house:
        await house.success("story_spark")
        harvest(house, company)
        await house.success("hook_harvest")
        canon([each.id for each in house.foundry.hooks.in_state("accepted")], company)
        await house.success("lore_deepening")
        company.usual["codex_entries"] = entries("The keeper's sister lights it.")
        ran = await house.run("codex_expansion")
        assert ran.result.status == "stalled"
        report = house.foundry.shelf.newest("gatecheck_report")
        assert report is not None
        body = house.foundry.shelf.body(report.sha256)
        (bar,) = [row for row in body["bars"] if row["bar"] == "presentation"]
        assert bar["status"] == "red" and "sister" in bar["evidence"]


@pytest.mark.req("QF-107")
async def test_a_hook_nobody_decided_blocks_the_harvest(tmp_path: Path) -> None:
    async with open_house(tmp_path / "book") as house:
        await house.success("story_spark")
        house.company.usual["hook_annotations"] = {
            "notes": [{"hook_id": "x", "role": "lore_weaver"}]
        }
        ran = await house.run("hook_harvest")
        assert ran.result.status == "stalled"
        assert "proposed" in {each.status for each in house.foundry.hooks.all()}


@pytest.mark.req("QF-110")
async def test_canon_that_contradicts_cold_is_named() -> None:
    from callboard.packs.questfoundry.steps.lore import clashes_of

    old = {
        "entities": [{"name": "Lamp", "attribute": "colour", "value": "green"}],
        "timeline": [{"id": "fire", "order": 1}, {"id": "flood", "order": 2}],
    }
    new = {
        "entities": [{"name": "lamp", "attribute": "Colour", "value": "red"}],
        "timeline": [{"id": "flood", "order": 1}, {"id": "fire", "order": 2}],
    }
    kinds = [each["kind"] for each in clashes_of(new, old)]
    assert kinds == ["fact", "order"]
    assert not list(clashes_of(old, old))


@pytest.mark.req("QF-34")
async def test_loops_follow_each_other_in_one_run(tmp_path: Path) -> None:
    company = Company()
    company.usual["hooks"] = {"hooks": []}
    async with open_house(tmp_path / "book", company) as house:
        company.usual["hooks"] = {"hooks": [hook("A bell rings")]}
        args = {"first": "story_spark", "most": 2, "policy": "playbook", "is_interactive": False}
        started = await house.studio.start("questfoundry/chain", args)
        run = await house.studio.engine.wait(started.id)
        assert run.error is None
        assert [each["loop"] for each in run.result["loops"]] == ["story_spark", "hook_harvest"]
        units = house.foundry.units.all()
        assert [each.loop for each in units] == ["story_spark", "hook_harvest"]
