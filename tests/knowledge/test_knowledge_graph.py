"""The graph: merged in one transaction, read from memory, the same for every process."""

import json
from pathlib import Path

import pytest
from knowledge_ground import HandClock, LetterEmbedder, open_knowledge

from callboard.core.canonical import canonical_json
from callboard.core.errors import InvalidInput, NotFound
from callboard.knowledge import (
    Edge,
    EmbeddingFailed,
    Node,
    TypeChanged,
    UnknownNode,
    UnknownType,
    node_id,
    slug,
)
from callboard.store.connection import StoreError
from callboard.testing.faults import FailAt, Moment

pytestmark = pytest.mark.anyio

MICKEY = Node("character:mickey", "character", "Mickey", aliases=("Mick",), attrs={"flaw": "pride"})
ANNA = Node("character:anna", "character", "Anna")
CITY = Node("location:city", "location", "The City")
KNOWS = Edge(MICKEY.id, ANNA.id, "knows")
LIVES = Edge(ANNA.id, CITY.id, "located_in")


@pytest.mark.req("WF-72", "WF-G47")
async def test_what_is_merged_is_there_for_another_process(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        report = await knowledge.graph("story").merge([MICKEY, ANNA, CITY], [KNOWS, LIVES])
        assert (report.nodes_added, report.nodes_updated, report.edges_added) == (3, 0, 2)
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        assert [node.id for node in graph.nodes()] == [ANNA.id, MICKEY.id, CITY.id]
        assert [node.id for node in graph.nodes("location")] == [CITY.id]
        assert graph.edges(src=MICKEY.id) == (KNOWS,)
        assert graph.edges(dst=CITY.id, type="located_in") == (LIVES,)
        assert graph.edges(dst=CITY.id, type="knows") == ()


@pytest.mark.req("WF-G47", "WF-G48")
async def test_merging_the_same_again_changes_nothing(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        await graph.merge([MICKEY, ANNA], [KNOWS])
        before, exported = graph.version(), graph.export()
        report = await graph.merge([MICKEY, ANNA, MICKEY], [KNOWS, KNOWS])
        assert not report.has_changed
        assert (graph.version(), graph.export()) == (before, exported)
        assert graph.attr_history(MICKEY.id) == ()


@pytest.mark.req("WF-G48")
async def test_a_changed_attribute_keeps_what_it_was(tmp_path: Path) -> None:
    clock = HandClock()
    with open_knowledge(tmp_path, clock=clock) as (knowledge, _):
        graph = knowledge.graph("story")
        await graph.merge([MICKEY])
        clock.now = 2_000
        told = Node(MICKEY.id, "character", "Mickey", attrs={"flaw": "guilt"}, source="bible")
        report = await graph.merge([told])
        assert report.nodes_updated == 1
        found = graph.node(MICKEY.id)
        assert found is not None
        assert found.attrs == {"flaw": "guilt"}
        assert found.aliases == ("Mick",)
        assert found.updated_at == 2_000
        (change,) = graph.attr_history(MICKEY.id)
        assert (change.attr, change.old, change.new, change.source, change.at) == (
            "flaw",
            "pride",
            "guilt",
            "bible",
            2_000,
        )
        await graph.merge([Node(MICKEY.id, "character", "Mickey", attrs={"flaw": None})])
        found = graph.node(MICKEY.id)
        assert found is not None
        assert found.attrs == {}


async def test_a_renamed_node_is_still_found_under_its_old_name(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        await graph.merge([MICKEY, Node("object:mick", "object", "Mick")])
        await graph.merge([Node(MICKEY.id, "character", "Michael", aliases=("MICKEY", "Mike"))])
        for name in ("michael", "  MICKEY ", "mike", "Mickey"):
            found = graph.find(name)
            assert found is not None, name
            assert found.id == MICKEY.id
        # A real name comes before an alias of something else, unless the type is named.
        assert graph.find("mick") == graph.node("object:mick")
        assert graph.find("mick", "character") == graph.node(MICKEY.id)
        assert graph.find("nobody") is None


@pytest.mark.req("WF-73")
async def test_types_are_data_and_unknown_ones_are_refused_with_the_list(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        for known in ("character", "location", "event", "theme", "symbol", "motif", "world_rule"):
            await graph.merge([Node(f"{known}:x", known, "x")])
        with pytest.raises(UnknownType, match=r"'ghost'.*beat, chapter, character"):
            await graph.merge([ANNA, Node("ghost:x", "ghost", "x")])
        assert graph.node(ANNA.id) is None
        await graph.merge([ANNA, MICKEY])
        with pytest.raises(UnknownType, match="'haunts'"):
            await graph.merge([], [Edge(ANNA.id, MICKEY.id, "haunts")])
        await knowledge.define("story", nodes=["ghost"], edges=["haunts"])
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        report = await graph.merge(
            [Node("ghost:x", "ghost", "x")], [Edge("ghost:x", ANNA.id, "haunts")]
        )
        assert (report.nodes_added, report.edges_added) == (1, 1)


async def test_what_cannot_be_stored_is_refused_by_name(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        await graph.merge([MICKEY])
        with pytest.raises(UnknownNode, match="character:anna"):
            await graph.merge([], [KNOWS])
        with pytest.raises(TypeChanged, match="is a character, not a location"):
            await graph.merge([Node(MICKEY.id, "location", "Mickey")])
        with pytest.raises(InvalidInput, match="id and a name"):
            await graph.merge([Node("character:x", "character", " ")])
        with pytest.raises(InvalidInput, match="trust"):
            await graph.merge([Node("character:x", "character", "x", trust=101)])
        with pytest.raises(InvalidInput, match="weighs nan"):
            await graph.merge([ANNA], [Edge(MICKEY.id, ANNA.id, "knows", weight=float("nan"))])
        assert [node.id for node in graph.nodes()] == [MICKEY.id]
        with pytest.raises(InvalidInput, match="domain needs a name"):
            knowledge.graph(" ")


async def test_at_most_one_edge_per_ends_and_type(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        again = Edge(MICKEY.id, ANNA.id, "knows", attrs={"since_scene": "ch1-sc1"}, weight=2.0)
        await graph.merge([MICKEY, ANNA], [KNOWS])
        report = await graph.merge([], [again, Edge(MICKEY.id, ANNA.id, "loves")])
        assert (report.edges_added, report.edges_updated) == (1, 1)
        assert [(edge.type, edge.weight) for edge in graph.edges()] == [
            ("knows", 2.0),
            ("loves", 1.0),
        ]
        assert graph.edges(type="knows")[0].attrs == {"since_scene": "ch1-sc1"}


async def test_removing_a_node_takes_all_that_hangs_on_it(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        await knowledge.define("notes", nodes=["note"], edges=["about"])
        graph, notes = knowledge.graph("story"), knowledge.graph("notes")
        told = Node(MICKEY.id, "character", "Mickey", content="a man", source="bible")
        await graph.merge([told, ANNA], [KNOWS])
        await graph.merge([Node(MICKEY.id, "character", "Mickey", attrs={"age": 3})])
        link = Edge("note:1", MICKEY.id, "about", dst_domain="story")
        await notes.merge([Node("note:1", "note", "One")], [link])
        assert graph.edges_from_elsewhere(MICKEY.id) == (("notes", link),)
        assert notes.edges() == (link,)
        version = notes.version()
        assert await graph.remove([MICKEY.id, "character:nobody"]) == 1
        assert graph.node(MICKEY.id) is None
        assert graph.edges() == ()
        assert notes.edges() == ()
        assert notes.version() > version
        for table in ("attr_history", "provenance", "vectors"):
            count = database.read(
                lambda c, table=table: c.execute(
                    f"SELECT COUNT(*) FROM knowledge_{table} WHERE node_id = ?",  # noqa: S608
                    (MICKEY.id,),
                ).fetchone()[0]
            )
            assert count == 0, table
        assert await graph.remove(edges=[KNOWS]) == 0


@pytest.mark.req("WF-G47")
async def test_two_processes_see_each_others_versions(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (one, _), open_knowledge(tmp_path) as (other, _):
        ours, theirs = one.graph("story"), other.graph("story")
        assert ours.version() == theirs.version() == 0
        await ours.merge([MICKEY, ANNA], [KNOWS])
        assert theirs.version() == 1
        assert theirs.distance(MICKEY.id, ANNA.id) == 1
        await theirs.remove(edges=[KNOWS])
        assert ours.distance(MICKEY.id, ANNA.id) is None
        assert ours.version() == theirs.version() == 2
        assert one.graph("other").version() == 0


@pytest.mark.req("WF-G47")
async def test_a_merge_and_its_companion_are_one_transaction(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph, facts = knowledge.graph("story"), knowledge.facts("story")
        entry = await facts.save("character", "mickey_flaw", "pride")

        def mark(connection):
            facts.mark_in(connection, [entry.id], "promoted")

        def fail(connection):
            mark(connection)
            raise RuntimeError("half-way")

        with pytest.raises(RuntimeError):
            await graph.merge([MICKEY], connection_work=fail)
        assert graph.nodes() == ()
        assert facts.unpromoted() == (entry,)
        await graph.merge([MICKEY], connection_work=mark)
        assert len(graph.nodes()) == 1
        assert facts.unpromoted() == ()


async def test_a_crash_before_the_commit_leaves_nothing_and_no_version(tmp_path: Path) -> None:
    # The writer repeats nothing by itself: what was not committed never happened.
    faults = FailAt(Moment("store.before_commit"), StoreError("no power"))
    with open_knowledge(tmp_path, faults=faults) as (knowledge, _):
        graph = knowledge.graph("story")
        with pytest.raises(StoreError):
            await graph.merge([MICKEY, ANNA], [KNOWS])
        assert (graph.nodes(), graph.edges(), graph.version()) == ((), (), 0)
        report = await graph.merge([MICKEY, ANNA], [KNOWS])
        assert report.nodes_added == 2


@pytest.mark.req("WF-74", "WF-G49")
async def test_central_path_and_subgraph(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        people = [Node(f"character:p{n}", "character", f"P{n}") for n in range(6)]
        rule = Node("world_rule:magic", "world_rule", "Magic costs")
        star = [Edge(people[0].id, each.id, "knows") for each in people[1:5]]
        await graph.merge([*people, rule, CITY], [*star, Edge(people[1].id, CITY.id, "located_in")])
        assert graph.central(1)[0][0] == graph.node(people[0].id)
        assert graph.central(5, "location")[0][0] == graph.node(CITY.id)
        assert sum(rank for _, rank in graph.central(99)) == pytest.approx(1)
        way = graph.path(people[4].id, CITY.id)
        assert way is not None
        assert [node.id for node in way] == [people[4].id, people[0].id, people[1].id, CITY.id]
        assert graph.distance(people[4].id, CITY.id) == 3
        # No way, and nobody of that name, are answers, not errors.
        assert graph.distance(people[0].id, people[5].id) is None
        assert graph.path(people[0].id, "character:nobody") is None
        assert [node.id for node in graph.neighbours(CITY.id)] == [people[1].id]
        assert [node.id for node in graph.neighbours(CITY.id, 2, {"character"})] == [
            people[1].id,
            people[0].id,
        ]
        part = graph.subgraph([CITY.id, "beat:none"], hops=2, always=[rule.id])
        assert [node.id for node in part.nodes] == [CITY.id, rule.id, people[1].id, people[0].id]
        assert part.missing == ("beat:none",)
        assert len(part.edges) == 2
        assert len(graph.subgraph([people[0].id], cap=3).nodes) == 3
        assert graph.subgraph([people[0].id], cap=3).nodes[0].id == people[0].id
        assert graph.subgraph([]).nodes == ()


@pytest.mark.req("WF-G49")
async def test_a_subgraph_keeps_the_cap_and_its_seeds(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        crowd = [Node(f"character:c{n:03d}", "character", f"C{n}") for n in range(100)]
        await graph.merge([MICKEY, *crowd], [Edge(MICKEY.id, each.id, "knows") for each in crowd])
        seeds = [MICKEY.id, crowd[99].id]
        part = graph.subgraph(seeds)
        assert len(part.nodes) == 40
        assert {node.id for node in part.nodes[:2]} == set(seeds)
        assert part == graph.subgraph(seeds)


async def test_similar_nodes_are_found_by_content_and_filtered_by_type(tmp_path: Path) -> None:
    embedder = LetterEmbedder()
    with open_knowledge(tmp_path, embedder=embedder) as (knowledge, _):
        graph = knowledge.graph("story")
        some = [Node(f"event:{n}", "event", "e", content="zzzz") for n in range(30)]
        await graph.merge(
            [*some, Node("theme:a", "theme", "a", content="aaab"), Node("theme:n", "theme", "n")]
        )
        assert graph.similar("aaa", 1)[0][0].id == "theme:a"
        # A rare type is not starved by the many that are nearer.
        assert [node.id for node, _ in graph.similar("zzzz", 1, ["theme"])] == ["theme:a"]
        assert [node.id for node, _ in graph.similar_to("event:0", 2)] == ["event:1", "event:10"]
        with pytest.raises(NotFound, match="theme:n"):
            graph.similar_to("theme:n")
        asked = len(embedder.asked)
        await graph.merge([], [])
        assert len(embedder.asked) == asked


async def test_content_without_a_vector_waits_for_catching_up(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, database):
        graph = knowledge.graph("story")
        told = Node("theme:a", "theme", "a", content="aaab")
        await database.write(lambda c: graph.merge_in(c, [told], (), 5))
        assert graph.similar("aaa") == []
        assert await graph.catch_up() == 1
        assert [node.id for node, _ in graph.similar("aaa")] == ["theme:a"]
        assert await graph.catch_up() == 0
        # A new text makes the old vector wrong: it goes, until there is a new one.
        changed = Node("theme:a", "theme", "a", content="qqqq")
        await database.write(lambda c: graph.merge_in(c, [changed]))
        assert graph.similar("aaa") == []
        await graph.merge([Node("theme:a", "theme", "a b")])
        assert [node.id for node, _ in graph.similar("qqq")] == ["theme:a"]


async def test_an_embedder_that_fails_stores_nothing(tmp_path: Path) -> None:
    with open_knowledge(tmp_path, embedder=LetterEmbedder(is_broken=True)) as (knowledge, _):
        graph = knowledge.graph("story")
        with pytest.raises(EmbeddingFailed, match="no answer"):
            await graph.merge([Node("theme:a", "theme", "a", content="aaab")])
        assert graph.nodes() == ()
        await graph.merge([MICKEY])
        assert len(graph.nodes()) == 1


async def test_who_said_it_is_kept(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        for source, trust in (("bible", 100), ("chat", 20), ("bible", 100)):
            await graph.merge([Node(ANNA.id, "character", "Anna", source=source, trust=trust)])
        assert [(each.source, each.trust) for each in graph.provenance(ANNA.id)] == [
            ("bible", 100),
            ("chat", 20),
        ]


@pytest.mark.req("WF-G47")
async def test_the_export_is_a_readable_copy(tmp_path: Path) -> None:
    with open_knowledge(tmp_path) as (knowledge, _):
        graph = knowledge.graph("story")
        await graph.merge([MICKEY, ANNA], [KNOWS])
        read = json.loads(canonical_json(graph.export()))
        assert read == graph.export()
        assert [node["id"] for node in read["nodes"]] == [ANNA.id, MICKEY.id]
        assert read["edges"][0]["type"] == "knows"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Mickey Bardot", "mickey-bardot"), ("  Élan_vital! ", "élan-vital"), ("\uff21BC", "abc")],
)
def test_a_name_becomes_an_id(name: str, expected: str) -> None:
    assert slug(name) == expected
    assert node_id("character", name) == f"character:{expected}"


def test_names_without_words_get_ids_of_their_own() -> None:
    assert slug("!!!") != slug("???")
    assert slug("!!!")
