"""Steps: together within a group, honest about failure, each with only what it may see."""

import asyncio
from typing import Any

import pytest
from tiny_domain import TinyDomain
from turn_parlour import Parlours

from callboard.choreography.turn.acting.analyzing import NO_DATA
from callboard.testing import Line

pytestmark = pytest.mark.anyio
LISTEN = Line(json={}, prompt_type="understand", times=None)
REPLY = Line("Here you are.", prompt_type="reply", times=None)


def plan(*steps: dict[str, Any], **more: Any) -> Line:
    return Line(json={"goal": "Do it", "steps": list(steps)}, prompt_type="think", **more)


def read(table: str, subdomain: str, group: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "description": f"Read {table}",
        "step_type": "read",
        "subdomain": subdomain,
        "group": group,
        "query": {"table": table},
        **more,
    }


def write_tasks(group: int, **request: Any) -> dict[str, Any]:
    return {
        "description": "Write the tasks",
        "step_type": "write",
        "subdomain": "calendar",
        "group": group,
        "write": {"op": "create", "table": "tasks", **request},
    }


ANALYZE = {"description": "Compare", "step_type": "analyze", "subdomain": "files", "group": 1}
ALL_READS = (
    read("documents", "files"),
    read("contacts", "communications"),
    read("tasks", "calendar"),
)


@pytest.mark.req("AL-44", "AL-51")
async def test_reads_of_a_group_overlap(tiny: TinyDomain, parlour_of: Parlours):
    tiny.seed("ann", "documents", "One")
    tiny.slow_seconds = 0.2
    said = {"analysis": "One fits.", "matches": [{"label": "One"}]}
    lines = (LISTEN, plan(*ALL_READS, ANALYZE), Line(json=said, prompt_type="act/analyze"), REPLY)
    async with parlour_of(tiny, *lines) as parlour:
        await parlour.say("compare everything", mode="explore")
    started = max(start for _, start, _ in tiny.spans)
    ended = min(end for _, _, end in tiny.spans)
    assert len(tiny.spans) == 3
    assert started < ended
    assert max(e for _, _, e in tiny.spans) - min(s for _, s, _ in tiny.spans) < 0.4


@pytest.mark.req("AL-58", "AL-62")
async def test_without_data_nobody_is_asked(tiny: TinyDomain, parlour_of: Parlours):
    async with parlour_of(tiny, LISTEN, plan(*ALL_READS, ANALYZE), REPLY) as parlour:
        done = await parlour.say("compare everything", mode="explore")
        asked = [call.request.prompt_type for call in parlour.script.calls]
        assert "act/analyze" not in asked
        assert done.steps[-1].summary == NO_DATA


@pytest.mark.req("AL-62", "AL-63")
async def test_matches_that_are_not_in_the_data_are_removed(tiny: TinyDomain, parlour_of: Parlours):
    tiny.seed("ann", "documents", "Budget")
    said = {"analysis": "Two fit.", "matches": [{"label": "Budget"}, {"label": "Invented"}]}
    lines = (LISTEN, plan(*ALL_READS, ANALYZE), Line(json=said, prompt_type="act/analyze"), REPLY)
    async with parlour_of(tiny, *lines) as parlour:
        done = await parlour.say("compare everything", mode="explore")
        assert done.steps[-1].result["matches"] == [{"label": "Budget"}]
        assert any("Invented" in each for each in done.warnings)


@pytest.mark.req("AL-63", "AL-64", "AL-52", "AL-104", "AL-53")
async def test_what_was_worked_out_is_written_and_a_failed_end_is_told(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Budget", "Plan")
    compute = {**ANALYZE, "compute": "missing_tasks", "inputs": ["g0.s0", "g0.s1"]}
    writing = write_tasks(2, from_result="g1.s0.missing", records=[{"description": "$name"}])
    steps = (ALL_READS[0], ALL_READS[2], compute, writing)
    judged = Line(
        json={"analysis": "Both lack a task.", "matches": []}, prompt_type="act/analyze", times=None
    )
    async with parlour_of(tiny, LISTEN, plan(*steps, times=None), judged, REPLY) as parlour:
        asked = await parlour.say("note what is missing", mode="plan")
        assert asked.action == "propose"
        assert "Budget" in asked.message
        assert tiny.names("tasks") == []
        await parlour.say("yes")
        assert tiny.names("tasks") == ["Budget", "Plan"]
        tiny.seed("ann", "documents", "Letter")
        await parlour.say("note what is missing")
        tiny.refuse_tables = {"tasks"}
        failed = await parlour.say("yes")
        assert "Not done: Write the tasks" in failed.message
        assert "Letter" not in tiny.names("tasks")


@pytest.mark.req("AL-52")
async def test_whoever_depends_on_a_failure_is_left_out_and_others_run(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Budget")
    bad = read("cellar", "calendar")
    dependent = {**ANALYZE, "inputs": ["g0.s1"]}
    lines = (LISTEN, plan(ALL_READS[0], bad, dependent, read("contacts", "communications", 1)))
    async with parlour_of(tiny, *lines, REPLY) as parlour:
        done = await parlour.say("compare", mode="explore")
        status = {each.step_id: each.status.value for each in done.steps}
        assert status == {"g0.s0": "ok", "g0.s1": "failed", "g1.s0": "skipped", "g1.s1": "empty"}
        assert "Not done:" in done.message
        assert "cellar" in done.message


@pytest.mark.req("AL-52", "AL-61", "AL-133")
async def test_a_refused_request_is_mended_with_its_error_told(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Budget")
    bad = {"table": "documents", "filters": [{"field": "colour", "op": "eq", "value": "red"}]}
    good = {"table": "documents", "filters": [{"field": "name", "op": "eq", "value": "Budget"}]}
    step = {"description": "Find the red one", "step_type": "read", "subdomain": "files"}
    lines = (
        LISTEN,
        plan(step),
        Line(json=bad, prompt_type="act/read"),
        Line(json=good, prompt_type="act/read", matching="no column 'colour'.*Allowed:.*name"),
    )
    async with parlour_of(tiny, *lines, REPLY) as parlour:
        done = await parlour.say("find the red one", mode="explore")
        assert done.steps[0].status.value == "ok"
        assert [call["node"] for call in done.calls].count("act_read") == 2


@pytest.mark.req("AL-53", "AL-48")
async def test_a_failed_group_is_planned_anew_from_where_it_stands(
    tiny: TinyDomain, parlour_of: Parlours
):
    tiny.seed("ann", "documents", "Budget")
    first = plan(read("cellar", "files"), {**ANALYZE, "inputs": ["g0.s0"]})
    second = plan(
        read("documents", "files", 1),
        {**ANALYZE, "group": 2},
        matching="There is no table 'cellar'",
    )
    said = Line(json={"analysis": "It fits.", "matches": []}, prompt_type="act/analyze")
    fixed = Line(json={"table": "cellar"}, prompt_type="act/read", times=None)
    async with parlour_of(tiny, LISTEN, second, first, fixed, said, REPLY) as parlour:
        done = await parlour.say("compare", mode="plan")
        status = {each.step_id: each.status.value for each in done.steps}
        assert status == {"g0.s0": "failed", "g1.s0": "ok", "g2.s0": "ok"}
        assert len(done.calls) <= 7


@pytest.mark.req("AL-19", "AL-10", "AL-11", "AL-03")
async def test_a_long_list_floods_nobody(domain, parlour_of: Parlours):
    async with parlour_of(domain) as parlour:
        table, show = parlour.words.things, parlour.words.show
        await parlour.put(table, *(f"Person {number}" for number in range(10)))
        shown = await parlour.say(show, mode="quick")
        assert len(shown.steps[0].entities) == 10
        assert set(parlour.states().values()) == {"active"}
        await parlour.put(table, *(f"Person {number}" for number in range(10, 25)))
        many = await parlour.say(show)
        assert many.steps[0].entities == []
        assert many.message.count("\n- ") == 20
        assert "and 5 more" in many.message


@pytest.mark.req("AL-104")
async def test_two_writes_of_a_group_both_happen(tiny: TinyDomain, parlour_of: Parlours):
    one = write_tasks(0, records=[{"description": "A"}])
    two = {
        "description": "Write a contact",
        "step_type": "write",
        "subdomain": "communications",
        "write": {"op": "create", "table": "contacts", "records": [{"name": "Bo"}]},
    }
    async with parlour_of(tiny, LISTEN, plan(one, two)) as parlour:
        done = await parlour.say("note these", mode="plan")
        assert (tiny.names("tasks"), tiny.names("contacts")) == (["A"], ["Bo"])
        assert "A" in done.message
        assert "Bo" in done.message


async def test_a_slow_step_ends(tiny: TinyDomain, parlour_of: Parlours, monkeypatch):
    from callboard.choreography.turn.acting import groups

    monkeypatch.setattr(groups, "STEP_SECONDS", 0.05)
    tiny.slow_seconds = 30
    async with asyncio.timeout(10), parlour_of(tiny) as parlour:
        done = await parlour.say("show documents", mode="quick")
        assert "took longer" in done.message


@pytest.mark.req("AL-50", "AL-52")
async def test_a_name_in_a_place_where_none_can_be_fails_its_step_alone(
    tiny: TinyDomain, parlour_of: Parlours
):
    """What a model writes never ends the turn: the other steps and the reply are there."""
    tiny.seed("ann", "documents", "Budget", "Plan")
    odd = [{"field": "g0.s0.ids", "op": "eq", "value": "x"}]
    reads = (
        ALL_READS[0],
        {**read("tasks", "calendar", 1), "query": {"table": "tasks", "filters": odd}},
        read("contacts", "communications", 1),
    )
    writes = (ALL_READS[0], write_tasks(1, op="delete", filters=odd))
    bad = Line(json={"table": "tasks", "filters": odd}, prompt_type="act/read", times=None)
    worse = Line(
        json={"op": "delete", "table": "tasks", "filters": odd},
        prompt_type="act/write",
        times=None,
    )
    lines = (LISTEN, plan(*reads), plan(*writes), bad, worse, REPLY)
    async with parlour_of(tiny, *lines) as parlour:
        done = await parlour.say("look at it all", mode="explore")
        assert [each.status.value for each in done.steps] == ["ok", "failed", "empty"]
        assert "Not done: Read tasks" in done.message
        done = await parlour.say("clear what is there")
        assert [each.status.value for each in done.steps] == ["ok", "failed"]
        assert "Not done: Write the tasks" in done.message


@pytest.mark.req("AL-111")
async def test_the_archive_is_searched_by_words_and_nothing_else(
    tiny: TinyDomain, parlour_of: Parlours
):
    def looking(op: str) -> dict[str, Any]:
        wanted = {"field": "user", "op": op, "value": "budget"}
        query = {"table": "conversation_turns", "filters": [wanted]}
        return {**read("conversation_turns", "files"), "query": query}

    first = Line(json={"steps": [looking("search")]}, prompt_type="quick")
    second = Line(json={"steps": [looking("neq")]}, prompt_type="quick")
    async with parlour_of(tiny, first, second) as parlour:
        await parlour.say("add document Budget", mode="quick")
        await parlour.say("add document Plan")
        found = await parlour.say("what was it I said lately")
        assert [row["user"] for row in found.steps[0].result["rows"]] == ["add document Budget"]
        refused = await parlour.say("what else was it I said")
        assert "searched by words only" in refused.message
