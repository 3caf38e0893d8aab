"""What the Foreman remembers, in which order, and for how long."""

import time
from pathlib import Path

import pytest
from memory_stage import Desk, open_desk

from callboard.core.errors import InvalidInput
from callboard.knowledge import Edge, FactState, Node
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory import MemoryCategory
from callboard.packs.writers_factory.model import SceneMeta

pytestmark = pytest.mark.anyio

MICKEY = Node("character:mickey-barlow", "character", "Mickey Barlow", ("Mickey",))
DANNY = Node("character:danny", "character", "Danny")
ROSA = Node("character:rosa", "character", "Rosa")


@pytest.mark.req("WF-77", "WF-80", "WF-34", "WF-G44", "WF-17")
async def test_a_decision_is_kept_open_with_its_source(desk: Desk) -> None:
    saved = await desk.memory.save_decision(
        "Character", "Mickey Arc-Resolution", "He stays.", "user_stated"
    )
    assert (saved.category, saved.key) == ("character", "mickey_arc_resolution")
    assert saved.source == "writer_stated"
    assert not saved.is_promoted
    noted = await desk.memory.save_decision("world", "harbour", "It freezes.", "notebook: maps")
    assert noted.source == "notebook:maps"
    assert len(MemoryCategory) == 8
    for name in MemoryCategory:
        assert (await desk.memory.save_decision(name, f"a_{name}", "x")).category == name


@pytest.mark.req("WF-G53", "WF-G44")
async def test_what_is_no_decision_is_refused_and_says_why(desk: Desk) -> None:
    with pytest.raises(InvalidInput, match="without a value"):
        await desk.memory.save_decision("character", "mickey_flaw", " \x00\n ")
    with pytest.raises(InvalidInput) as refused:
        await desk.memory.save_decision("mood", "mickey_flaw", "grim")
    assert "correction" in str(refused.value.fix)
    with pytest.raises(InvalidInput, match="name a decision"):
        await desk.memory.save_decision("character", "!!!", "grim")
    assert desk.memory.facts.count() == 0


@pytest.mark.req("WF-G53")
async def test_saying_it_anew_keeps_what_was_said_and_opens_it_again(desk: Desk) -> None:
    first = await desk.memory.save_decision("character", "mickey_fatal_flaw", "pride", "brainstorm")
    desk.studio.database.submit(
        lambda c: desk.memory.facts.mark_in(c, [first.id], FactState.PROMOTED)
    ).result()
    again = await desk.memory.save_decision(
        "character", "mickey_fatal_flaw", "cowardice", "writer_stated"
    )
    assert again.id == first.id
    assert not again.is_promoted
    assert [old.value for old in again.history] == ["pride"]
    same = await desk.memory.save_decision(
        "character", "mickey_fatal_flaw", "cowardice", "writer_stated"
    )
    assert len(same.history) == 1
    told = [(item.value, item.source, item.is_current) for item in desk.memory.timeline()]
    assert told == [("cowardice", "writer_stated", True), ("pride", "brainstorm", False)]


@pytest.mark.req("WF-G53", "WF-78")
async def test_promoted_decisions_stay_retrievable(desk: Desk) -> None:
    saved = await desk.memory.save_decision("character", "mickey_fatal_flaw", "pride")
    desk.studio.database.submit(
        lambda c: desk.memory.facts.mark_in(c, [saved.id], FactState.PROMOTED)
    ).result()
    assert [line.value for line in desk.memory.context(5)] == ["pride"]


@pytest.mark.req("WF-78", "WF-79", "WF-G50", "WF-G51", "WF-G54")
async def test_day_one_survives_two_hundred_decisions(desk: Desk) -> None:
    await Bible(desk.workspace).describe(title="Fire & <Ice>", protagonist_name="Mickey Barlow")
    memory = desk.memory
    await memory.save_decision("character", "mickey_fatal_flaw", "He runs from debts.")
    await memory.save_decision("character", "mickey_the_lie", "Nobody stays.")
    for number in range(200):
        await memory.save_decision("structure", f"turn_{number}", f"Turn {number}")
    for number in range(25):
        await memory.save_decision("character", f"extra{number}_trait", f"Trait {number}")
    for limit in (10, 20, 0, -5):
        lines = memory.context(limit)
        assert [line.key for line in lines[:2]] == ["mickey_fatal_flaw", "mickey_the_lie"]
        # The foundation is whole, and what is volatile does not flood in when nothing is left.
        assert len(lines) == 27
        assert {line.category for line in lines} == {"character"}
    thirty = memory.context(30)
    assert [line.value for line in thirty[27:]] == ["Turn 199", "Turn 198", "Turn 197"]
    await Bible(desk.workspace).describe(title="Another title")
    assert memory.context(20)[0].value == "He runs from debts."


@pytest.mark.req("WF-G51")
async def test_small_prompts_take_the_first_of_the_ranking(desk: Desk) -> None:
    await Bible(desk.workspace).describe(protagonist_name="Mickey Barlow")
    await desk.know(
        MICKEY,
        DANNY,
        ROSA,
        edges=(
            Edge(ROSA.id, MICKEY.id, "knows"),
            Edge("character:danny", ROSA.id, "knows"),
        ),
    )
    memory = desk.memory
    await memory.save_decision("character", "danny_trait", "loud")
    await memory.save_decision("character", "rosa_trait", "calm")
    await memory.save_decision("constraint", "tense", "past tense only")
    await memory.save_decision("character", "danny_fatal_flaw", "greed")
    await memory.save_decision("character", "mickey_arc_resolution", "He stays.")
    await memory.save_decision("character", "mickey_the_lie", "Nobody stays.")
    await memory.save_decision("character", "mickey_fatal_flaw", "He runs.")
    medium = memory.context(5, all_foundational=False, graph_facts=0)
    assert [line.key for line in medium] == [
        "mickey_fatal_flaw",
        "mickey_the_lie",
        "mickey_arc_resolution",
        "tense",
        "rosa_trait",
    ]
    minimal = memory.context(2, all_foundational=False, graph_facts=0)
    assert [line.key for line in minimal] == ["mickey_fatal_flaw", "mickey_the_lie"]
    scene = SceneMeta("ch2-sc1", 2, 1, characters=("Danny",))
    there = memory.context(7, all_foundational=False, graph_facts=0, scene=scene)
    assert [line.key for line in there][4:] == ["danny_fatal_flaw", "danny_trait", "rosa_trait"]


@pytest.mark.req("WF-G52", "WF-17", "WF-G44")
async def test_corrections_come_first_and_use_no_knowledge_slot(desk: Desk) -> None:
    memory = desk.memory
    await memory.save_decision("correction", "gun", "The gun was lost in chapter 3.")
    for number in range(12):
        await memory.save_decision("preference", f"taste_{number}", f"Taste {number}")
    await memory.save_decision("continuity", "rain", "It rains until chapter 5.")
    await memory.save_decision("voice", "rhythm", "Short sentences.")
    lines = memory.agent_memory()
    assert len(lines) == 10
    assert (lines[0].kind, lines[0].text) == ("correction", "The gun was lost in chapter 3.")
    assert lines[1].text == "It rains until chapter 5."
    assert [line.text for line in lines[2:]] == [f"Taste {n}" for n in range(11, 3, -1)]
    assert memory.context(20) == ()
    assert [line.text for line in memory.voice_notes()] == ["Short sentences."]
    assert memory.agent_memory(0) == ()


@pytest.mark.req("WF-04", "WF-17", "WF-G52")
async def test_memory_outlives_a_restart_and_a_change_of_model(tmp_path: Path) -> None:
    root = tmp_path / "book"
    async with open_desk(root) as desk:
        await desk.memory.save_decision("preference", "spelling", "Use British spelling.")
        await desk.memory.save_decision("correction", "gun", "The gun was lost in chapter 3.")
        before = desk.memory.agent_memory()
    async with open_desk(root, model="ollama:mistral:7b") as desk:
        assert desk.memory.agent_memory() == before
        assert {line.text for line in before} == {
            "Use British spelling.",
            "The gun was lost in chapter 3.",
        }


@pytest.mark.req("WF-G89", "WF-G49")
async def test_hard_facts_follow_and_never_repeat_a_decision(desk: Desk) -> None:
    await desk.know(
        Node(MICKEY.id, "character", "Mickey Barlow", ("Mickey",), {"age": 34, "fear": "water"}),
        Node(DANNY.id, "character", "Danny", (), {"job": "boxer"}),
        edges=(Edge(MICKEY.id, DANNY.id, "knows"),),
    )
    await desk.memory.save_decision("character", "mickey_age", "34")
    scene = SceneMeta("ch2-sc1", 2, 1, characters=("Mickey",))
    lines = desk.memory.context(20, scene=scene)
    assert lines[0].origin == "kb"
    hard = [(line.key, line.value) for line in lines if line.origin == "graph"]
    assert hard == [
        ("mickey_barlow_fear", "water"),
        ("mickey_barlow_knows", "Danny"),
        ("danny_job", "boxer"),
    ]
    assert len(desk.memory.context(20, scene=scene, graph_facts=1)) == 2
    assert all(line.origin == "kb" for line in desk.memory.context(20, scene=scene, graph_facts=0))
    assert desk.consolidator.conflicts() == ()


@pytest.mark.req("WF-G89")
async def test_a_disagreement_shows_the_decision_and_raises_a_conflict(desk: Desk) -> None:
    await desk.know(Node(MICKEY.id, "character", "Mickey Barlow", ("Mickey",), {"fear": "water"}))
    await desk.memory.save_decision("character", "mickey_fear", "fire")
    scene = SceneMeta("ch2-sc1", 2, 1, characters=("Mickey",))
    lines = desk.memory.context(20, scene=scene)
    assert [(line.value, line.origin) for line in lines] == [("fire", "kb")]
    desk.memory.context(20, scene=scene)
    await desk.studio.database.write(lambda _connection: None)
    raised = desk.consolidator.conflicts()
    assert [(each.kind, each.existing["value"]) for each in raised] == [("disagreement", "water")]
    await desk.consolidator.resolve(raised[0].id, "accept_new")
    node = desk.memory.graph.node(MICKEY.id)
    assert node is not None
    assert node.attrs["fear"] == "fire"


@pytest.mark.req("WF-G49", "WF-74")
async def test_a_scene_sees_its_people_rules_and_recent_events(desk: Desk) -> None:
    scenes = [Node(f"scene:ch1-sc{n}", "scene", f"ch1-sc{n}") for n in range(1, 6)]
    events = [Node(f"event:blow-{n}", "event", f"Blow {n}") for n in range(1, 6)]
    rule = Node("world_rule:rule-1", "world_rule", "Rule 1")
    bound = Node("world_rule:rule-2", "world_rule", "Rule 2")
    far = Node("character:far", "character", "Far")
    await desk.know(
        MICKEY,
        ROSA,
        far,
        rule,
        bound,
        *scenes,
        *events,
        edges=(
            *(Edge(event.id, MICKEY.id, "involves") for event in events),
            *(
                Edge(event.id, scene.id, "happens_at")
                for event, scene in zip(events, scenes, strict=True)
            ),
            Edge(bound.id, far.id, "constrains"),
            Edge(MICKEY.id, ROSA.id, "knows"),
        ),
    )
    around = desk.memory.scene_subgraph(SceneMeta("ch2-sc1", 2, 1, characters=("mickey",)))
    ids = [node.id for node in around.nodes]
    assert ids[0] == MICKEY.id
    assert {ROSA.id, rule.id} <= set(ids)
    assert bound.id not in ids
    assert far.id not in ids
    # Recent events are wanted before anything that is merely near.
    assert set(ids[1:5]) == {rule.id, "event:blow-3", "event:blow-4", "event:blow-5"}
    assert len(around.nodes) <= 40
    assert desk.memory.graph.distance(MICKEY.id, far.id) is None


async def test_ten_thousand_decisions_cost_no_time_when_warm(desk: Desk) -> None:
    facts = desk.memory.facts

    def fill(connection: object) -> None:
        for number in range(10_000):
            category = ("structure", "world", "character", "preference")[number % 4]
            facts.save_in(connection, category, f"key_{number}", f"value {number}", "x")  # type: ignore[arg-type]

    await desk.studio.database.write(fill)
    scene = SceneMeta("ch2-sc1", 2, 1, characters=("Mickey",))
    desk.memory.context(20, scene=scene)
    times: list[float] = []
    for _ in range(30):
        # Of this thread alone: whoever else is busy does not count.
        started = time.thread_time()
        lines = desk.memory.context(20, scene=scene)
        times.append(time.thread_time() - started)
    assert len(lines) == 2_500
    assert sorted(times)[15] < 0.002
