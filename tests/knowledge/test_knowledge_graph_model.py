"""The graph against a naive model of itself: whatever is merged and removed, both agree."""

import asyncio
import json
from collections import deque
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from knowledge_ground import open_knowledge

from callboard.knowledge import Edge, Node
from stores import ON_A_FILE

NAMES = [f"n{number}" for number in range(8)]
node_lists = st.lists(
    st.builds(
        lambda name, age: Node(f"character:{name}", "character", name, attrs={"age": age}),
        st.sampled_from(NAMES),
        st.none() | st.booleans() | st.integers(0, 2) | st.text(max_size=3),
    ),
    max_size=6,
    unique_by=lambda node: node.id,
)
pairs = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(["knows", "loves"])
)
steps = st.lists(
    st.tuples(st.just("merge"), node_lists, st.lists(pairs, max_size=8))
    | st.tuples(st.just("remove"), st.lists(st.sampled_from(NAMES), max_size=2), st.just([])),
    max_size=6,
)


class Model:
    """A dictionary and a set."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, object]] = {}
        self.edges: set[tuple[str, str, str]] = set()

    def merge(self, nodes: list[Node], edges: list[tuple[str, str, str]]) -> None:
        for node in nodes:
            attrs = self.nodes.setdefault(node.id, {})
            for key, value in node.attrs.items():
                attrs.pop(key, None)
                if value is not None:
                    attrs[key] = value
        self.edges.update(edges)

    def remove(self, ids: list[str]) -> None:
        for each in ids:
            self.nodes.pop(each, None)
        self.edges = {edge for edge in self.edges if not set(edge[:2]) & set(ids)}

    def distance(self, start: str, end: str) -> int | None:
        if start not in self.nodes or end not in self.nodes:
            return None
        seen, waiting = {start: 0}, deque([start])
        while waiting:
            here = waiting.popleft()
            for one, two, _type in self.edges:
                for there in ({one, two} - {here}) if here in (one, two) else ():
                    if there not in seen:
                        seen[there] = seen[here] + 1
                        waiting.append(there)
        return seen.get(end)


@ON_A_FILE
@pytest.mark.req("WF-74", "WF-G47")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_the_graph_agrees_with_its_model(tmp_path_factory: pytest.TempPathFactory, program) -> None:
    asyncio.run(_run(tmp_path_factory.mktemp("model"), program))


async def _run(folder: Path, program) -> None:
    model = Model()
    with open_knowledge(folder) as (knowledge, _):
        graph = knowledge.graph("story")
        for what, first, second in program:
            version, before = graph.version(), _picture(graph)
            if what == "merge":
                there = {node.id for node in first} | set(model.nodes)
                edges = [
                    (f"character:{a}", f"character:{b}", kind)
                    for a, b, kind in second
                    if {f"character:{a}", f"character:{b}"} <= there
                ]
                model.merge(first, edges)
                report = await graph.merge(first, [Edge(*edge) for edge in edges])
                assert report.has_changed == (_picture(graph) != before)
                again = await graph.merge(
                    {node.id: node for node in graph.nodes()}.values(), graph.edges()
                )
                assert not again.has_changed
            else:
                ids = [f"character:{name}" for name in first]
                model.remove(ids)
                await graph.remove(ids)
            assert _picture(graph) == (_strict(model.nodes), model.edges)
            assert (graph.version() != version) == (_picture(graph) != before)
        _compare_queries(graph, model)
        with open_knowledge(folder) as (other, _):
            # A cache grown step by step is the same as one read at once.
            assert other.graph("story").export() == graph.export()
            assert other.graph("story").ranks() == graph.ranks()


def _strict(value) -> str:
    # Python takes True for 1; what is stored must not.
    return json.dumps(value, sort_keys=True)


def _picture(graph):
    nodes = {node.id: dict(node.attrs) for node in graph.nodes()}
    return _strict(nodes), {(edge.src, edge.dst, edge.type) for edge in graph.edges()}


def _compare_queries(graph, model: Model) -> None:
    ids = [f"character:{name}" for name in NAMES]
    for one in ids:
        for other in ids:
            expected = model.distance(one, other)
            assert graph.distance(one, other) == expected
            way = graph.path(one, other)
            assert (way is None) == (expected is None)
            if way is not None:
                assert way[0].id == one
                assert way[-1].id == other
                steps_taken = [model.distance(a.id, b.id) for a, b in pairwise(way)]
                assert steps_taken == [1] * len(steps_taken)
        around = {node.id for node in graph.neighbours(one, 2)}
        assert around == {each for each in ids if model.distance(one, each) in (1, 2)}
    if model.nodes:
        assert sum(graph.ranks().values()) == pytest.approx(1)
        assert sum(graph.ranks({ids[0]: 1.0}).values()) == pytest.approx(1)
