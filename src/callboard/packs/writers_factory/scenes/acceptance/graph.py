"""What an accepted scene adds to the graph: itself, who and where, what it pays and plants."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from callboard.core.canonical import Json
from callboard.knowledge import Edge, Graph, Node, node_id
from callboard.library.story.text import stem, words_of
from callboard.packs.writers_factory.bible import beat_point
from callboard.packs.writers_factory.memory.scenery import beat_node_id, scene_node_id
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.scenes.scaffolds import SceneThread, SmartScaffold
from callboard.packs.writers_factory.scenes.scaffolds.scaffold import NEW
from callboard.packs.writers_factory.scenes.variants.inspection import hints, mentions
from callboard.packs.writers_factory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SceneTies:
    """What of a scaffold's threads a text really touches."""

    paid: tuple[SceneThread, ...] = ()
    planted: tuple[SceneThread, ...] = ()


def ties_of(text: str, scaffold: SmartScaffold | None) -> SceneTies:
    """Return the callbacks a text mentions and the events it hints at."""
    if scaffold is None:
        return SceneTies()
    stems = {stem(word) for word in words_of(text)}
    return SceneTies(
        tuple(each for each in scaffold.callbacks if mentions(stems, each.name)),
        tuple(
            each for each in scaffold.foreshadowing if hints(stems, _event(each), scaffold.people)
        ),
    )


def _event(thread: SceneThread) -> str:
    """Return what happens in a thread, without the title of its beat."""
    is_beat = thread.beat_number is not None and thread.id == beat_node_id(thread.beat_number)
    return thread.name.partition(": ")[2] if is_beat else thread.name


def scene_source(scene_id: str) -> str:
    """Return what stands as the source of everything a scene adds."""
    return f"scene:{scene_id}"


@dataclass(frozen=True, slots=True)
class Addition:
    """Nodes and edges a scene brings."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def addition_of(
    graph: Graph,
    meta: SceneMeta,
    scaffold: SmartScaffold | None,
    ties: SceneTies,
    previous: str | None,
) -> Addition:
    """Return what an accepted scene adds; nothing in it refers to what is not there."""
    source, here = scene_source(meta.scene_id), scene_node_id(meta.scene_id)
    nodes: dict[str, Node] = {}

    def add(kind: str, name: str, attrs: dict[str, Json] | None = None) -> str:
        known = graph.find(name, kind)
        made = Node(node_id(kind, name), kind, name, attrs=attrs or {}, source=source)
        if known is None:
            nodes.setdefault(made.id, made)
        return known.id if known is not None else made.id

    attrs: dict[str, Json] = {
        "title": meta.title,
        "chapter": meta.chapter,
        "scene": meta.scene,
        "status": meta.status.value,
        "word_count": meta.word_count,
        "pov": meta.pov,
        "story_time": meta.story_time,
        "tension": meta.tension,
        "summary": scaffold.summary if scaffold else "",
    }
    told = {name: value for name, value in attrs.items() if value not in (None, "")}
    nodes[here] = Node(
        here, "scene", meta.scene_id, attrs=told, source=source, first_seen=meta.scene_id
    )
    links = [(here, add("chapter", f"Chapter {meta.chapter}"), "part_of")]
    links += [(add("character", name), here, "present_in") for name in _cast(meta, scaffold)]
    if meta.location:
        links.append((here, add("location", meta.location), "located_in"))
    if meta.beat_number is not None:
        links.append((here, _beat(graph, meta.beat_number, nodes, source), "serves_beat"))
    if previous is not None and graph.node(scene_node_id(previous)) is not None:
        links.append((scene_node_id(previous), here, "precedes"))
    known = {*nodes, *(node.id for node in graph.nodes())}
    links += [(here, each.id, "pays_off") for each in ties.paid if each.id in known]
    links += [(here, each.id, "plants") for each in ties.planted if each.id in known]
    edges = [
        Edge(src, dst, kind, attrs={"since_scene": meta.scene_id}, source=source)
        for src, dst, kind in dict.fromkeys(links)
    ]
    return Addition(tuple(nodes.values()), tuple(edges))


async def store_addition(
    workspace: Workspace, graph: Graph, meta: SceneMeta, new: Addition
) -> Json:
    """Bring an addition into the graph in place of what the same scene added before."""
    source = scene_source(meta.scene_id)
    wanted = {edge.key for edge in new.edges}
    stale = [edge for edge in graph.edges() if edge.source == source and edge.key not in wanted]

    def act(connection: Any) -> Json:
        graph.remove_in(connection, edges=stale)
        report = graph.merge_in(connection, new.nodes, new.edges)
        return {
            "nodes_added": report.nodes_added,
            "nodes_updated": report.nodes_updated,
            "edges_added": report.edges_added,
            "edges_removed": len(stale),
        }

    return await workspace.studio.database.write(act)


def _cast(meta: SceneMeta, scaffold: SmartScaffold | None) -> Iterable[str]:
    yield from meta.characters
    for name in scaffold.characters_present if scaffold else ():
        if name.startswith(NEW):
            yield name.removeprefix(NEW).strip()


def _beat(graph: Graph, number: int, nodes: dict[str, Node], source: str) -> str:
    name = beat_node_id(number)
    point = beat_point(number)
    if graph.node(name) is None:
        title = point.name if point else f"Beat {number}"
        nodes[name] = Node(name, "beat", title, attrs={"number": number}, source=source)
    return name
