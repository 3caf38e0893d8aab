"""Consolidation: decisions and talk become hard facts, and contradictions become questions."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from memory_stage import Desk, open_desk

from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.vocabulary import RunRecord, RunState
from callboard.knowledge import Edge, FactState, Node
from callboard.library.story.contradiction import GraphClaim, ScenePoint, read_rules, value_at
from callboard.models import Failure, Line, ModelRequest
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory import (
    CONSOLIDATE,
    AlreadyRunning,
    ConsolidationClock,
    Consolidator,
    Ingestor,
    NotTheWriter,
    beat_node_id,
)
from callboard.packs.writers_factory.memory.consolidation import Report
from callboard.packs.writers_factory.memory.consolidation.merging import Digestion, Merger
from callboard.packs.writers_factory.memory.ingestion import THEME_NODE
from callboard.packs.writers_factory.memory.mapping import Offer, Origin, OriginKind
from callboard.store.connection import StoreError
from callboard.store.journal.processes import ProcessRecord, insert_process
from callboard.store.journal.runs import insert_run, list_runs
from callboard.testing import Blackout, Moment

pytestmark = pytest.mark.anyio

MICKEY = Node("character:mickey", "character", "Mickey")
DANNY = Node("character:danny", "character", "Danny", (), {"status": "alive"})
FOUND = (
    '<node type="character" name="Rosa" job="nurse"/>\n'
    '<node type="character" name="Phantom"/>\n'
    '<edge src="Rosa" dst="Danny" type="loves"/>'
)


def attrs(desk: Desk, node_id: str) -> dict[str, Any]:
    node = desk.memory.graph.node(node_id)
    assert node is not None
    return dict(node.attrs)


@pytest.mark.req("WF-82", "WF-77", "WF-G58", "WF-G59")
async def test_a_decision_becomes_an_attribute_without_a_model(desk: Desk) -> None:
    await desk.know(MICKEY)
    await desk.memory.save_decision("character", "mickey_fatal_flaw", "He runs.", "writer_stated")
    await desk.memory.save_decision("preference", "spelling", "British")
    report = await desk.consolidate()
    assert attrs(desk, MICKEY.id) == {"fatal_flaw": "He runs."}
    assert attrs(desk, "project:project") == {"preference_spelling": "British"}
    assert (report["entries_seen"], report["events_seen"]) == (2, 0)
    assert (report["nodes_added"], report["nodes_updated"], report["conflicts"]) == (1, 1, 0)
    assert desk.asked == []
    assert all(entry.is_promoted for entry in desk.memory.decisions())
    again = await desk.consolidate()
    assert (again["entries_seen"], again["nodes_added"], again["nodes_updated"]) == (0, 0, 0)
    assert next(iter(desk.consolidator.reports().values())).to_json() == report


@pytest.mark.req("WF-82", "WF-G57", "WF-81")
async def test_conversation_yields_only_what_it_names(tmp_path: Path) -> None:
    async with open_desk(tmp_path / "book", lambda _request: FOUND) as desk:
        await desk.know(DANNY)
        turn = await desk.said("Rosa is a nurse, and she loves Danny.")
        report = await desk.consolidate()
        assert attrs(desk, "character:rosa") == {"job": "nurse"}
        rosa = desk.memory.graph.node("character:rosa")
        assert rosa is not None
        assert rosa.source == f"conversation:{turn}"
        assert [edge.dst for edge in desk.memory.graph.edges("character:rosa")] == [DANNY.id]
        assert desk.memory.graph.node("character:phantom") is None
        assert (report["events_seen"], report["edges_added"], report["skipped"]) == (1, 1, 1)
        assert desk.asked[0].temperature == 0.1
        assert "nurse" in desk.asked[0].prompt_text
        again = await desk.consolidate()
        assert again["events_seen"] == 0
        assert len(desk.asked) == 1


@pytest.mark.req("WF-G57")
async def test_a_reply_that_is_no_list_twice_leaves_the_turn_for_later(tmp_path: Path) -> None:
    replies = iter(["I think Rosa is nice.", "Really nice.", FOUND])
    async with open_desk(tmp_path / "book", lambda _request: next(replies)) as desk:
        await desk.know(DANNY)
        await desk.said("Rosa is a nurse, and she loves Danny.")
        report = await desk.consolidate()
        assert (report["events_seen"], report["unread"], report["nodes_added"]) == (1, 1, 0)
        report = await desk.consolidate()
        assert (report["unread"], report["nodes_added"]) == (0, 1)


@pytest.mark.req("WF-83", "WF-G55", "WF-G56", "WF-82")
async def test_a_conflict_changes_nothing_and_waits_for_the_writer(desk: Desk) -> None:
    await desk.know(
        Node(
            "character:danny",
            "character",
            "Danny",
            (),
            {"status": "alive", "states": {"status": [{"value": "alive", "since_scene": "ch4"}]}},
        ),
        MICKEY,
    )
    await desk.memory.save_decision("character", "danny_status", "dead in chapter 4", "brainstorm")
    await desk.memory.save_decision("character", "mickey_age", "34")
    report = await desk.consolidate()
    assert report["conflicts"] == 1
    assert attrs(desk, "character:danny")["status"] == "alive"
    assert attrs(desk, MICKEY.id)["age"] == "34"
    blocked = desk.memory.facts.get("character", "danny_status")
    assert blocked is not None
    assert blocked.state is FactState.CONFLICTED
    again = await desk.consolidate()
    assert (again["entries_seen"], again["conflicts"]) == (0, 0)
    (conflict,) = desk.consolidator.conflicts()
    assert conflict.existing["value"] == "alive"
    assert conflict.to_json()["proposed"]["value"] == "dead"

    with pytest.raises(NotTheWriter):
        await desk.consolidator.resolve(conflict.id, "accept_new", by="agent")
    with pytest.raises(InvalidInput, match="no way to resolve"):
        await desk.consolidator.resolve(conflict.id, "superseded")
    with pytest.raises(NotFound):
        await desk.consolidator.resolve("conflict-none", "accept_new")
    await desk.consolidator.resolve(conflict.id, "accept_new")
    assert attrs(desk, "character:danny")["status"] == "dead"
    kept = desk.memory.facts.get("character", "danny_status")
    assert kept is not None
    assert kept.is_promoted
    assert desk.consolidator.conflicts() == ()
    changed = desk.memory.graph.attr_history("character:danny")
    assert ("status", "alive", "dead") in [(each.attr, each.old, each.new) for each in changed]
    with pytest.raises(Conflict, match="decided already"):
        await desk.consolidator.resolve(conflict.id, "keep_existing")


@pytest.mark.req("WF-G55")
async def test_keeping_what_was_known_corrects_the_memory(desk: Desk) -> None:
    await desk.know(DANNY)
    await desk.memory.save_decision("character", "danny_status", "dead")
    await desk.consolidate()
    (conflict,) = desk.consolidator.conflicts()
    await desk.consolidator.resolve(conflict.id, "keep_existing")
    entry = desk.memory.facts.get("character", "danny_status")
    assert entry is not None
    assert (entry.value, entry.is_promoted) == ("alive", True)
    assert [old.value for old in entry.history] == ["dead"]
    assert attrs(desk, DANNY.id) == {"status": "alive"}
    assert (await desk.consolidate())["entries_seen"] == 0


@pytest.mark.req("WF-G55", "WF-G56")
async def test_both_can_be_true_in_different_scenes(desk: Desk) -> None:
    await desk.know(DANNY)
    await desk.memory.save_decision("character", "danny_status", "dead")
    await desk.consolidate()
    (conflict,) = desk.consolidator.conflicts()
    with pytest.raises(InvalidInput, match="no range"):
        await desk.consolidator.resolve(conflict.id, "both_with_scope")
    await desk.consolidator.resolve(conflict.id, "both_with_scope", {"since_scene": "ch9-sc2"})
    held = attrs(desk, DANNY.id)
    assert value_at(held, "status", ScenePoint(3)) == "alive"
    assert value_at(held, "status", ScenePoint(9, 2)) == "dead"
    await desk.memory.save_decision("character", "danny_status", "alive since chapter 11")
    assert (await desk.consolidate())["conflicts"] == 1


@pytest.mark.req("WF-G56")
async def test_the_dead_do_not_act_and_nobody_loves_and_hates(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> str:
        if "scene five" in request.prompt_text:
            return '<edge src="Danny" dst="ch5-sc1" type="present_in"/>'
        return '<edge src="Rosa" dst="Danny" type="hates"/>'

    async with open_desk(tmp_path / "book", answer) as desk:
        dead = {"status": "dead", "states": {"status": [{"value": "dead", "since_scene": "ch3"}]}}
        await desk.know(
            Node("character:danny", "character", "Danny", (), dead),
            Node("character:rosa", "character", "Rosa"),
            Node("scene:ch5-sc1", "scene", "ch5-sc1"),
            Node("scene:ch2-sc1", "scene", "ch2-sc1"),
            edges=(
                Edge("character:rosa", "character:danny", "loves"),
                Edge("character:danny", "scene:ch2-sc1", "present_in"),
            ),
        )
        turn = await desk.said("In scene five, Danny walks into ch5-sc1 and shouts.")
        assert (await desk.consolidate())["conflicts"] == 1
        await desk.said("Rosa hates Danny.")
        assert (await desk.consolidate())["conflicts"] == 1
        kinds = [each.kind.value for each in desk.consolidator.conflicts()]
        assert kinds == ["dead_acting", "exclusive_edge"]
        graph = desk.memory.graph
        assert graph.edges("character:danny", "scene:ch5-sc1") == ()
        assert graph.edges("character:rosa", type="hates") == ()
        acting, hating = desk.consolidator.conflicts()
        await desk.consolidator.resolve(hating.id, "accept_new")
        assert [edge.type for edge in graph.edges("character:rosa")] == ["hates"]
        await desk.consolidator.resolve(acting.id, "accept_new")
        # He is not dead after all, in no scene and in no timeline.
        assert value_at(attrs(desk, "character:danny"), "status", ScenePoint(5, 1)) is None
        assert [edge.dst for edge in graph.edges("character:danny")] == [
            "scene:ch2-sc1",
            "scene:ch5-sc1",
        ]
        mark = desk.workspace.records.get("consolidated_turn", turn)
        assert mark == {"state": "committed"}
        assert (await desk.consolidate())["events_seen"] == 0


@pytest.mark.req("WF-G56")
async def test_somebody_who_acts_later_cannot_die_earlier(desk: Desk) -> None:
    await desk.know(
        Node("character:danny", "character", "Danny"),
        Node("scene:ch5-sc1", "scene", "ch5-sc1"),
        edges=(Edge("character:danny", "scene:ch5-sc1", "present_in"),),
    )
    await desk.memory.save_decision("character", "danny_status", "dead since chapter 3")
    assert (await desk.consolidate())["conflicts"] == 1
    await desk.memory.save_decision("character", "danny_status", "dead since chapter 6")
    assert (await desk.consolidate())["conflicts"] == 0
    # The older question is answered by the newer decision.
    assert desk.consolidator.conflicts() == ()
    assert [each.resolution for each in desk.consolidator.conflicts(only_open=False)] == [
        "superseded"
    ]


RULE = Node("world_rule:rule-1", "world_rule", "Rule 1", (), {"text": "The dead never speak."})


@pytest.mark.req("WF-G56")
@pytest.mark.parametrize(("quote", "conflicts"), [("dead may speak", 1), ("the dead sing", 0)])
async def test_a_rule_denied_needs_both_quotations(
    tmp_path: Path, quote: str, conflicts: int
) -> None:
    verdict = {
        "verdict": "contradiction",
        "existing_quote": "dead never speak",
        "proposed_quote": quote,
    }
    async with open_desk(tmp_path / "book", lambda _r: Line(json=verdict)) as desk:
        await desk.know(RULE)
        await desk.memory.save_decision("world", "voices", "On one night the dead may speak.")
        report = await desk.consolidate()
        assert report["conflicts"] == conflicts
        assert len(desk.asked) == 1
        if conflicts:
            (conflict,) = desk.consolidator.conflicts()
            await desk.consolidator.resolve(conflict.id, "accept_new")
            assert attrs(desk, RULE.id)["text"] == "On one night the dead may speak."
        else:
            await desk.memory.save_decision("world", "voices", "On one night the dead may speak. ")
            await desk.consolidate()
            assert len(desk.asked) == 1


@pytest.mark.req("WF-G56", "WF-83")
@pytest.mark.parametrize(
    ("key", "said"),
    [
        # The scene is taken out of a short rule before it is kept.
        ("voices", "The dead may speak in chapter 9."),
        # The key names a character, so the rule would become something said about her.
        ("rosa_belief", "The dead may speak to Rosa."),
    ],
)
async def test_a_rule_denied_in_other_clothes_is_still_denied(
    tmp_path: Path, key: str, said: str
) -> None:
    verdict = {
        "verdict": "contradiction",
        "existing_quote": "dead never speak",
        "proposed_quote": "dead may speak",
    }
    async with open_desk(tmp_path / "book", lambda _r: Line(json=verdict)) as desk:
        await desk.know(RULE, Node("character:rosa", "character", "Rosa"))
        version = desk.memory.graph.version()
        await desk.memory.save_decision("world", key, said)
        assert (await desk.consolidate())["conflicts"] == 1
        assert desk.memory.graph.version() == version
        (conflict,) = desk.consolidator.conflicts()
        await desk.consolidator.resolve(conflict.id, "accept_new")
        assert str(attrs(desk, RULE.id)["text"]).startswith("The dead may speak")


@pytest.mark.req("WF-G56")
async def test_two_new_rules_are_held_against_each_other(tmp_path: Path) -> None:
    verdict = {
        "verdict": "contradiction",
        "existing_quote": "dead never speak",
        "proposed_quote": "dead may speak",
    }
    async with open_desk(tmp_path / "book", lambda _r: Line(json=verdict)) as desk:
        await desk.memory.save_decision("world", "silence", "The dead never speak.")
        await desk.memory.save_decision("world", "voices", "On one night the dead may speak.")
        # Denies only the one that does not stand.
        await desk.memory.save_decision("world", "night", "On one night nobody is abroad.")
        assert (await desk.consolidate())["conflicts"] == 1
        texts = {str(rule.attrs["text"]) for rule in desk.memory.graph.nodes("world_rule")}
        assert texts == {"The dead never speak.", "On one night nobody is abroad."}
        (conflict,) = desk.consolidator.conflicts()
        assert conflict.node_id == "world_rule:silence"
        assert len(desk.asked) == 1


@pytest.mark.req("WF-G56")
async def test_a_rule_nobody_judged_waits_and_everything_else_goes_on(tmp_path: Path) -> None:
    down = [True]

    def answer(_request: ModelRequest) -> Line:
        verdict = {"verdict": "compatible", "existing_quote": "", "proposed_quote": ""}
        return Line(fail=Failure(400, "nobody home")) if down[0] else Line(json=verdict)

    async with open_desk(tmp_path / "book", answer) as desk:
        await desk.know(RULE)
        await desk.memory.save_decision("world", "voices", "On one night the dead may speak.")
        await desk.memory.save_decision("character", "mickey_job", "Mickey is a welder.")
        report = await desk.consolidate()
        assert any("wait for a judge: nobody home" in each for each in report["warnings"])
        assert [each.key for each in desk.memory.facts.unpromoted()] == ["voices"]
        assert [node.id for node in desk.memory.graph.nodes("world_rule")] == [RULE.id]
        down[0] = False
        await desk.consolidate()
        assert desk.memory.facts.unpromoted() == ()
        assert len(desk.memory.graph.nodes("world_rule")) == 2


@pytest.mark.req("WF-G56", "WF-82")
async def test_a_rule_said_anew_while_it_is_judged_waits_for_its_own_judgement(
    tmp_path: Path,
) -> None:
    verdict = {"verdict": "compatible", "existing_quote": "", "proposed_quote": ""}
    desks: list[Desk] = []

    def answer(_request: ModelRequest) -> Line:
        (desk,) = desks
        if len(desk.asked) == 1:
            desk.studio.database.submit(
                lambda c: desk.memory.facts.save_in(c, "world", "voices", "The dead may speak.")
            ).result()
        return Line(json=verdict)

    async with open_desk(tmp_path / "book", answer) as desk:
        desks.append(desk)
        await desk.know(RULE)
        await desk.memory.save_decision("world", "voices", "The dead whisper, never speak.")
        await desk.consolidate()
        assert [node.id for node in desk.memory.graph.nodes("world_rule")] == [RULE.id]
        (waiting,) = desk.memory.facts.unpromoted()
        assert waiting.value == "The dead may speak."
        await desk.consolidate()
        assert len(desk.asked) == 2
        assert desk.memory.facts.unpromoted() == ()


@pytest.mark.req("WF-G55")
@pytest.mark.parametrize("decision", ["accept_new", "keep_existing"])
async def test_what_was_said_anew_outlives_the_answer_to_an_older_question(
    desk: Desk, decision: str
) -> None:
    await desk.know(DANNY)
    await desk.memory.save_decision("character", "danny_status", "dead")
    await desk.consolidate()
    (conflict,) = desk.consolidator.conflicts()
    await desk.memory.save_decision("character", "danny_status", "dead since chapter 9")
    await desk.consolidator.resolve(conflict.id, decision)
    (waiting,) = desk.memory.facts.unpromoted()
    assert waiting.value == "dead since chapter 9"
    await desk.consolidate()
    assert value_at(attrs(desk, DANNY.id), "status", ScenePoint(9)) == "dead"


@pytest.mark.req("WF-G55", "WF-G59")
async def test_a_turn_two_runs_have_read_is_digested_once(desk: Desk) -> None:
    await desk.know(DANNY)
    turn = await desk.said("Danny is dead.")
    claim = GraphClaim(DANNY.id, "character", "Danny", "status", "dead", source="conversation:x")
    merger = Merger(
        desk.studio.database, desk.workspace.records, desk.memory.graph, desk.memory.facts
    )

    def digestion(run_id: str) -> Digestion:
        offer = Offer(Origin(OriginKind.TURN, turn), (claim,))
        return Digestion(run_id, {}, (turn,), lambda _names: [offer], {}, Report(), 0)

    first = await merger.merge(digestion("run_a"), read_rules(), lambda: 1)
    (conflict,) = desk.consolidator.conflicts()
    await desk.consolidator.resolve(conflict.id, "keep_existing")
    second = await merger.merge(digestion("run_b"), read_rules(), lambda: 2)
    assert (first.conflicts, second.conflicts) == (1, 0)
    assert desk.consolidator.conflicts() == ()
    assert attrs(desk, DANNY.id) == {"status": "alive"}


@pytest.mark.req("WF-G59", "WF-81")
async def test_only_one_consolidation_at_a_time(tmp_path: Path) -> None:
    held = Line("<none/>", hold="asked")
    async with open_desk(tmp_path / "book", lambda _request: held) as desk:
        await desk.said("Rosa is a nurse.")
        first = await desk.consolidator.start()
        with pytest.raises(AlreadyRunning, match="already running"):
            await desk.consolidator.start()
        await asyncio.wait_for(desk.script.reached("asked"), 20)
        with pytest.raises(AlreadyRunning):
            await desk.consolidator.start()
        desk.script.release("asked")
        assert (await desk.studio.engine.wait(first.id)).state is RunState.DONE
        assert (await desk.consolidate())["events_seen"] == 0


@pytest.mark.req("WF-G59")
async def test_a_run_whose_process_died_blocks_nobody(tmp_path: Path) -> None:
    root = tmp_path / "book"
    async with open_desk(root) as desk:
        await desk.know(MICKEY)
        await desk.memory.save_decision("character", "mickey_age", "34")
        session = await desk.studio.sessions.current()

        dead = RunRecord(
            id="run_dead",
            session_id=session.id,
            choreography="writers_factory/consolidate",
            state=RunState.RUNNING,
            title="",
            args={},
            owner="proc_dead",
            created_at=1,
        )
        gone = ProcessRecord("proc_dead", 1, socket.gethostname(), 1)

        def die(connection: Any) -> None:
            insert_process(connection, gone)
            insert_run(connection, dead)

        await desk.studio.database.write(die)
        assert (await desk.consolidate())["entries_seen"] == 1
    async with open_desk(root) as desk:
        # Taken up at the start, the old run finds that everything is done.
        ended = await desk.studio.engine.wait("run_dead")
        assert desk.result(ended)["nodes_updated"] == 0
        assert attrs(desk, MICKEY.id) == {"age": "34"}


@pytest.mark.req("WF-G59", "WF-G47")
@pytest.mark.parametrize("point", ["store.before_commit", "store.after_commit"])
@pytest.mark.parametrize("nth", range(1, 23, 3))
async def test_a_crash_at_any_commit_neither_loses_nor_repeats(
    tmp_path: Path, point: str, nth: int
) -> None:
    root = tmp_path / "book"
    async with open_desk(root) as desk:
        await desk.know(MICKEY, DANNY)
        await desk.memory.save_decision("character", "mickey_age", "34")
        await desk.memory.save_decision("character", "danny_status", "dead")
        await desk.said("Rosa is a nurse, and she loves Danny.")
    faults = Blackout(Moment(point, nth))
    try:
        async with open_desk(root, lambda _request: FOUND, faults=faults) as desk:
            run = await desk.consolidator.start()
            await desk.studio.engine.wait(run.id)
    except Exception:  # noqa: BLE001 - whatever a dead process says, only the disk counts
        assert faults.is_dark
    async with open_desk(root, lambda _request: FOUND) as desk:
        for run in desk.studio.database.read(
            lambda connection: list_runs(connection, choreography=CONSOLIDATE)
        ):
            assert (await desk.studio.engine.wait(run.id)).state is RunState.DONE
        await desk.consolidate()
        assert attrs(desk, MICKEY.id) == {"age": "34"}
        assert attrs(desk, DANNY.id) == {"status": "alive"}
        assert attrs(desk, "character:rosa") == {"job": "nurse"}
        assert len(desk.consolidator.conflicts()) == 1
        history = desk.memory.graph.attr_history(MICKEY.id)
        assert [each.attr for each in history] == ["age"]
        seen = sum(each.entries_seen for each in desk.consolidator.reports().values())
        assert seen == 2


@pytest.mark.req("WF-82", "WF-G57")
async def test_a_small_model_only_says_what_a_name_is(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Line:
        assert request.prompt_type == "memory/name_type"
        asked = request.prompt_text
        return Line(json={"choice": "location" if "Port Vell" in asked else "character"})

    flags = {"models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}}
    async with open_desk(tmp_path / "book", answer, flags=flags) as desk:
        await desk.know(Node("world_rule:rule-1", "world_rule", "Rule 1", (), RULE.attrs))
        await desk.said(
            "We met Rosa Lind.\nMind you, Danny knows her.\nLater we left for Port Vell."
        )
        await desk.memory.save_decision("world", "speech", "The dead speak.")
        report = await desk.consolidate()
        found = {node.id for node in desk.memory.graph.nodes() if node.type != "world_rule"}
        assert found == {"character:danny", "character:rosa-lind", "location:port-vell"}
        # Without a judge, code sees that one rule denies the other.
        assert report["conflicts"] == 1
        assert desk.consolidator.conflicts()[0].kind == "world_rule"


@pytest.mark.req("WF-75", "WF-G48", "WF-73")
async def test_the_story_bible_is_ingested_once(desk: Desk) -> None:
    bible = Bible(desk.workspace)
    await bible.describe(protagonist_name="Mickey Barlow")
    await bible.write(
        "protagonist", {"fatal_flaw": "pride", "the_lie": "Nobody stays."}, source="w"
    )
    beats = {f"beat_{n}": f"Something particular happens here, number {n}." for n in range(1, 16)}
    await bible.write("beat_sheet", {**beats, "midpoint_type": "false_victory"}, source="w")
    await bible.write("theme", {"central_theme": "Loyalty"}, source="w")
    rules = ["Magic must cost blood.", "Nobody can fly.", "Only iron cuts."]
    await bible.write("world_rules", {"fundamental_rules": rules}, source="w")
    ingestor = Ingestor(desk.workspace, bible)
    report = await ingestor.ingest()
    assert report.nodes_added == 1 + 15 + 1 + 3
    graph = desk.memory.graph
    hero = graph.find("mickey", "character")
    assert hero is not None
    assert hero.attrs == {"fatal_flaw": "pride", "the_lie": "Nobody stays.", "role": "protagonist"}
    assert graph.find("beat 9") is not None
    assert attrs(desk, beat_node_id(9))["midpoint_type"] == "false_victory"
    version = graph.version()
    assert not (await ingestor.ingest()).has_changed
    assert graph.version() == version

    await bible.write("protagonist", {"fatal_flaw": "cowardice"}, source="w")
    await bible.write("theme", {"central_theme": "Betrayal"}, source="w")
    await bible.write(
        "world_rules",
        {"fundamental_rules": [rules[1], "Only silver cuts."]},
        source="w",
        replace=True,
    )
    await ingestor.ingest()
    history = graph.attr_history(hero.id)
    assert [(each.old, each.new) for each in history] == [("pride", "cowardice")]
    assert attrs(desk, THEME_NODE) == {"central_theme": "Betrayal"}
    texts = sorted(str(node.attrs["text"]) for node in graph.nodes("world_rule"))
    assert texts == ["Nobody can fly.", "Only silver cuts."]


@pytest.mark.req("WF-G48")
async def test_a_template_edited_into_nonsense_takes_nothing_out_of_the_graph(desk: Desk) -> None:
    bible = Bible(desk.workspace)
    await bible.describe(protagonist_name="Mickey")
    hero = await bible.write("protagonist", {"fatal_flaw": "pride"}, source="w")
    rules = await bible.write("world_rules", {"fundamental_rules": ["Nobody flies."]}, source="w")
    await desk.consolidate()
    version = desk.memory.graph.version()
    for path in (hero.path, rules.path):
        (desk.root / path).write_text("---\nbroken: [\n---\n")
    await desk.consolidate()
    assert desk.memory.graph.version() == version
    assert attrs(desk, "character:mickey")["fatal_flaw"] == "pride"
    (desk.root / rules.path).unlink()
    await desk.consolidate()
    assert desk.memory.graph.nodes("world_rule") == ()


@pytest.mark.req("WF-G48")
async def test_people_of_the_beats_are_found_once(tmp_path: Path) -> None:
    found = '<node type="character" name="Rosa" job="nurse"/><node type="location" name="Vell"/>'
    async with open_desk(tmp_path / "book", lambda _request: found) as desk:
        bible = Bible(desk.workspace)
        await bible.write("beat_sheet", {"beat_1": "Rosa waits as a nurse in Vell."}, source="w")
        report = await desk.consolidate()
        assert (report["events_seen"], len(desk.asked)) == (0, 1)
        rosa = desk.memory.graph.node("character:rosa")
        assert rosa is not None
        assert (rosa.source, rosa.attrs) == ("template:beat_sheet", {})
        assert desk.memory.graph.nodes("location") == ()
        await desk.consolidate()
        assert len(desk.asked) == 1
        await bible.write("beat_sheet", {"beat_2": "Rosa leaves the town at last."}, source="w")
        await desk.consolidate()
        assert len(desk.asked) == 2


async def test_decisions_do_not_wait_for_a_model_that_fails(tmp_path: Path) -> None:
    broken = Line(fail=Failure(500), times=None)
    async with open_desk(tmp_path / "book", lambda _request: broken) as desk:
        await desk.know(MICKEY)
        await desk.memory.save_decision("character", "mickey_age", "34")
        await desk.said("Rosa is a nurse.")
        report = await desk.consolidate()
        assert (report["nodes_updated"], report["unread"]) == (1, 1)
        assert "No model could be asked" in report["warnings"][0]


@pytest.mark.req("WF-83", "WF-G47", "WF-72")
async def test_graph_and_conflicts_are_exported_as_json(desk: Desk) -> None:
    await desk.know(DANNY)
    await desk.memory.save_decision("character", "danny_status", "dead")
    await desk.consolidate()
    graph, conflicts = desk.consolidator.export()
    assert conflicts.name == "graph_conflicts.json"
    assert "character:danny" in graph.read_text("utf-8")
    told = json.loads(conflicts.read_text("utf-8"))
    assert [(each["state"], each["node_id"]) for each in told] == [("open", "character:danny")]


@pytest.mark.req("WF-81")
async def test_the_clock_consolidates_what_waits_and_0_is_never(tmp_path: Path) -> None:
    root = tmp_path / "book"
    async with open_desk(root) as desk:
        await desk.know(MICKEY)
        waits: list[float] = []
        ticks: asyncio.Queue[None] = asyncio.Queue()
        arrived: asyncio.Queue[None] = asyncio.Queue()

        async def pause(seconds: float) -> None:
            waits.append(seconds)
            arrived.put_nowait(None)
            await ticks.get()

        clock = ConsolidationClock(desk.consolidator, pause=pause)
        assert clock.start()
        await arrived.get()
        ticks.put_nowait(None)
        await arrived.get()
        assert desk.consolidator.reports() == {}
        await desk.memory.save_decision("character", "mickey_age", "34")
        ticks.put_nowait(None)
        await arrived.get()
        (run,) = desk.studio.database.read(
            lambda connection: list_runs(connection, choreography=CONSOLIDATE)
        )
        assert desk.result(await desk.studio.engine.wait(run.id))["entries_seen"] == 1
        assert waits == [900.0] * 3
        await clock.stop()
        assert not clock.is_ticking
        (root / ".callboard" / "writers_factory.yaml").write_text(
            "consolidation:\n  interval_minutes: 0\n"
        )
        assert not clock.start()


@pytest.mark.req("WF-81")
async def test_the_clock_goes_on_after_a_look_that_failed(desk: Desk) -> None:
    class Blinking(Consolidator):
        looks = 0

        def has_work(self) -> bool:
            self.looks += 1
            if self.looks == 1:
                raise StoreError("the disk is away")
            return super().has_work()

    await desk.memory.save_decision("preference", "spelling", "British")
    arrived: asyncio.Queue[None] = asyncio.Queue()
    ticks: asyncio.Queue[None] = asyncio.Queue()

    async def pause(_seconds: float) -> None:
        arrived.put_nowait(None)
        await ticks.get()

    clock = ConsolidationClock(Blinking(desk.workspace), pause=pause)
    clock.start()
    for _ in range(2):
        await arrived.get()
        ticks.put_nowait(None)
    await arrived.get()
    await clock.stop()
    (run,) = desk.studio.database.read(
        lambda connection: list_runs(connection, choreography=CONSOLIDATE)
    )
    assert desk.result(await desk.studio.engine.wait(run.id))["entries_seen"] == 1


async def test_rules_of_a_project_are_added_and_bad_ones_named(desk: Desk) -> None:
    rules = desk.root / ".callboard" / "conflicts.yaml"
    rules.write_text("antonyms:\n  - [sober, drunk]\n")
    await desk.know(Node("character:danny", "character", "Danny", (), {"mood": "sober"}))
    await desk.memory.save_decision("character", "danny_mood", "drunk")
    assert (await desk.consolidate())["conflicts"] == 1
    for bad, told in (
        ("antonyms: {", "is not valid YAML"),
        ("antonyms: [[a, b, c]]", "antonyms.0"),
        ("a: &a [x]\nb: *a\n", "line 2"),
        ("antonyms: " + "[" * 2_000, "nests more than"),
    ):
        rules.write_text(bad)
        (warning,) = (await desk.consolidate())["warnings"]
        assert "conflicts.yaml is left out" in warning
        assert told in warning
