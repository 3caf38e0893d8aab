"""Soft facts: what was said is never lost, and the foundations are always at hand."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from knowledge_ground import HandClock, open_knowledge

from callboard.core.errors import InvalidInput, NotFound
from callboard.knowledge import FactState
from stores import ON_A_FILE

pytestmark = pytest.mark.anyio

FOUNDATIONAL = ("character", "constraint")
RECENT = ("world", "structure", "preference")


@pytest.mark.req("WF-77", "WF-80", "WF-G53")
async def test_saying_it_anew_replaces_it_and_keeps_what_it_was(tmp_path: Path) -> None:
    clock = HandClock()
    with open_knowledge(tmp_path, clock=clock) as (knowledge, database):
        facts = knowledge.facts("story")
        first = await facts.save("character", "mickey_arc_resolution", "forgives", "chat")
        assert (first.state, first.is_promoted) == (FactState.OPEN, False)
        await database.write(lambda c: facts.mark_in(c, [first.id], FactState.PROMOTED))
        promoted = facts.get("character", "mickey_arc_resolution")
        assert promoted is not None
        assert promoted.is_promoted
        assert facts.list("character") == (promoted,)
        clock.now = 9_000
        second = await facts.save("character", "mickey_arc_resolution", "leaves", "chat 2")
        assert second.id == first.id
        assert (second.value, second.source, second.is_promoted) == ("leaves", "chat 2", False)
        assert (second.created_at, second.updated_at) == (1_000, 9_000)
        (before,) = facts.history(first.id)
        assert (before.value, before.state, before.until) == ("forgives", "promoted", 9_000)
        assert second.history == (before,)
        assert facts.count() == 1
        # Saying the same again adds nothing to the history.
        assert (await facts.save("character", "mickey_arc_resolution", "leaves")).history == (
            before,
        )


@pytest.mark.req("WF-G53")
@pytest.mark.parametrize(
    ("category", "key", "value"), [("a", "b", " "), ("a", "", "c"), ("\n", "b", "c")]
)
async def test_an_empty_fact_is_refused(
    tmp_path: Path, category: str, key: str, value: str
) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        facts = knowledge.facts("story")
        with pytest.raises(InvalidInput):
            await facts.save(category, key, value)
        assert facts.count() == 0
        assert facts.version() == 0


@pytest.mark.req("WF-78", "WF-G50")
async def test_all_foundations_come_first_and_nothing_floods_in(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        facts = knowledge.facts("story")
        for number in range(25):
            await facts.save("character", f"c{number}", "x")
            await facts.save("world", f"w{number}", "x")
        found = facts.context(FOUNDATIONAL, RECENT, 20)
        assert [entry.key for entry in found] == [f"c{number}" for number in range(25)]
        found = facts.context(FOUNDATIONAL, RECENT, 27)
        assert [entry.key for entry in found[25:]] == ["w24", "w23"]
        assert facts.context((), RECENT, -3) == ()
        assert [entry.key for entry in facts.list("world", limit=2)] == ["w24", "w23"]
        assert facts.list("world", limit=-1) == ()
        assert len(facts.list()) == 50


@pytest.mark.req("WF-79")
async def test_a_fact_of_the_first_day_survives_hundreds_of_later_ones(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        facts = knowledge.facts("story")
        await facts.save("character", "mickey_flaw", "pride")

        def later(connection):
            for number in range(300):
                facts.save_in(connection, RECENT[number % 3], f"k{number}", "x")

        await database.write(later)
        found = facts.context(FOUNDATIONAL, RECENT)
        assert len(found) == 20
        assert found[0].key == "mickey_flaw"
        assert [entry.key for entry in found[1:3]] == ["k299", "k298"]


async def test_states_and_succession(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        facts = knowledge.facts("story")
        one, two, three = [await facts.save("world", key, "x") for key in "abc"]
        assert facts.unpromoted() == (one, two, three)
        assert facts.unpromoted(1) == (one,)
        await database.write(lambda c: facts.mark_in(c, [one.id], "conflicted"))
        await database.write(lambda c: facts.supersede_in(c, two.id, three.id))
        assert facts.unpromoted() == (three,)
        assert [entry.key for entry in facts.list("world", newest_first=False)] == ["a", "c"]
        assert [entry.key for entry in facts.context(("world",), ())] == ["a", "c"]
        found = database.read(lambda c: facts.load_in(c, two.id))
        assert found is not None
        assert found.superseded_by == three.id
        with pytest.raises(NotFound, match="fact_none"):
            await database.write(lambda c: facts.supersede_in(c, two.id, "fact_none"))
        with pytest.raises(ValueError, match="lost"):
            await database.write(lambda c: facts.mark_in(c, [one.id], "lost"))
        assert await facts.delete("world", "a")
        assert not await facts.delete("world", "a")
        assert database.read(lambda c: facts.load_in(c, one.id)) is None
        assert [entry.key for entry in facts.context(("world",), ())] == ["c"]


async def test_domains_do_not_see_each_other(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        await knowledge.facts("story").save("world", "a", "story")
        await knowledge.facts("kitchen").save("world", "a", "kitchen")
        for domain in ("story", "kitchen"):
            (only,) = knowledge.facts(domain).list()
            assert only.value == domain


actions = st.lists(
    st.tuples(
        st.sampled_from(["save", "delete", "mark"]),
        st.sampled_from(["character", "world"]),
        st.sampled_from("abc"),
    ),
    max_size=12,
)


@ON_A_FILE
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(actions)
async def test_memory_and_rows_agree(tmp_path_factory: pytest.TempPathFactory, program) -> None:
    folder = tmp_path_factory.mktemp("facts")
    with open_knowledge(folder) as (knowledge, database), open_knowledge(folder) as (other, _):
        facts = knowledge.facts("story")
        for what, category, key in program:
            if what == "save":
                await facts.save(category, key, "x")
            elif what == "delete":
                await facts.delete(category, key)
            else:
                entry = facts.get(category, key)
                ids = [entry.id] if entry else []
                await database.write(lambda c, ids=ids: facts.mark_in(c, ids, "promoted"))
            expected = (
                *facts.list("character", newest_first=False),
                *facts.list("world", limit=2),
            )
            limit = len(facts.list("character")) + 2
            assert facts.context(["character"], ["world"], limit) == expected
            assert other.facts("story").context(["character"], ["world"], limit) == expected
