"""What a scene calls to mind: its part of the graph, decisions by weight, and the lines told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.knowledge.fact_rows import KBEntry
from callboard.knowledge.graph import Edge, Graph, Node, Subgraph, node_id
from callboard.library.story.contradiction import Names, ScenePoint, find_point, key_form
from callboard.packs.writers_factory.memory.decisions import MemoryCategory, RememberedDecision
from callboard.packs.writers_factory.model import SceneMeta

_GRAPH: Final = "graph"
_FOUNDATIONAL: Final = frozenset({MemoryCategory.CHARACTER.value, MemoryCategory.CONSTRAINT.value})


@dataclass(frozen=True, slots=True)
class KnowledgeLine(RememberedDecision):
    """A fact in a prompt; `origin` is `kb` for a decision and `graph` for a hard fact."""

    origin: str = "kb"

    @property
    def is_foundational(self) -> bool:
        """Whether it is a decision about a character or a constraint: the last to give way."""
        return self.origin != _GRAPH and self.category in _FOUNDATIONAL


@dataclass(frozen=True, slots=True)
class RecalledLine:
    """Something about the collaboration: a correction, a preference, a point of continuity."""

    kind: str
    text: str
    key: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """A decision as it was made once; `is_current` says whether it still stands."""

    at: int
    category: str
    key: str
    value: str
    source: str
    state: str
    is_current: bool


CAP: Final = 40
RECENT_SCENES: Final = 3
_EVENT_EDGES: Final = ("happens_at", "part_of", "present_in")


def beat_node_id(number: int) -> str:
    """Return the node of a beat."""
    return node_id("beat", f"beat {number}")


def scene_node_id(scene_id: str) -> str:
    """Return the node of a scene."""
    return node_id("scene", scene_id)


def present_ids(graph: Graph, names: Iterable[str]) -> tuple[str, ...]:
    """Return the characters that are known among some names, in their order."""
    found = (graph.find(name, "character") or graph.find(name) for name in names)
    return tuple(dict.fromkeys(node.id for node in found if node is not None))


def seeds_of(graph: Graph, scene: SceneMeta) -> tuple[str, ...]:
    """Return the nodes a scene is made of: who is there, where, and the beat it serves."""
    seeds = list(present_ids(graph, scene.characters))
    place = graph.find(scene.location, "location") if scene.location else None
    if place is not None:
        seeds.append(place.id)
    if scene.beat_number is not None:
        seeds.append(beat_node_id(scene.beat_number))
    return tuple(dict.fromkeys(seeds))


def scene_subgraph(graph: Graph, scene: SceneMeta, *, cap: int = CAP) -> Subgraph:
    """Return what bears on a scene: its seeds, one step around them, rules and recent events."""
    seeds = seeds_of(graph, scene)
    always = (*_rules(graph, seeds), *_recent_events(graph, scene, seeds))
    return graph.subgraph(seeds, hops=1, cap=cap, always=always)


def _rules(graph: Graph, seeds: tuple[str, ...]) -> list[str]:
    """Return the rules that are tied to a seed or to nothing in particular."""
    wanted: list[str] = []
    for rule in graph.nodes("world_rule"):
        bound = {edge.dst for edge in graph.edges(src=rule.id, type="constrains")}
        if not bound or bound & set(seeds):
            wanted.append(rule.id)
    return wanted


def _recent_events(graph: Graph, scene: SceneMeta, seeds: tuple[str, ...]) -> list[str]:
    """Return what happened to somebody of the scene in the last scenes before it."""
    here = (scene.chapter, scene.scene)
    before = sorted(
        point.first
        for node in graph.nodes("scene")
        if (point := find_point(node.id.partition(":")[2])) is not None and point.first < here
    )
    recent = set(before[-RECENT_SCENES:])
    wanted: dict[str, None] = {}
    for seed in seeds:
        for edge in graph.edges(dst=seed, type="involves"):
            event = graph.node(edge.src)
            if event is not None and _points(graph.edges(src=edge.src), event) & recent:
                wanted[edge.src] = None
    return list(wanted)


def _points(edges: Iterable[Edge], event: Node) -> set[tuple[int, int]]:
    named = [
        *(edge.dst.partition(":")[2] for edge in edges if edge.type in _EVENT_EDGES),
        event.attrs.get("scene"),
        event.attrs.get("since_scene"),
        event.first_seen,
    ]
    points: list[ScenePoint | None] = [find_point(each) for each in named]
    return {point.first for point in points if point is not None}


FOUNDATION: Final = (MemoryCategory.CHARACTER, MemoryCategory.CONSTRAINT)
RECENT: Final = (MemoryCategory.WORLD, MemoryCategory.STRUCTURE)

_CORE: Final[tuple[tuple[str, ...], ...]] = (
    ("fatal_flaw", "flaw"),
    ("the_lie", "lie"),
    ("arc_start", "arc_midpoint", "arc_resolution", "arc"),
)
_OWN: Final = frozenset({"", "protagonist", "hero", "heroine"})
_CONSTRAINTS: Final = len(_CORE)
_CHARACTERS: Final = _CONSTRAINTS + 1


@dataclass(frozen=True)
class Scenery:
    """What the ranking looks at beside the facts themselves."""

    protagonist: str = ""
    present: tuple[str, ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict[str, float])
    names: Names = field(default_factory=Names)


def rank_foundation(entries: Iterable[KBEntry], scenery: Scenery) -> tuple[KBEntry, ...]:
    """Return the entries, what must never be missing first."""
    return tuple(sorted(entries, key=lambda entry: _place(entry, scenery)))


def take(
    foundation: Iterable[KBEntry], recent: Iterable[KBEntry], limit: int, *, all_foundational: bool
) -> tuple[KBEntry, ...]:
    """Return the foundation and as much of the recent as fits; never more for a limit below 0.

    Unless all of the foundation is wanted, the first entries of both together are taken.
    """
    first, room = tuple(foundation), max(0, limit)
    if not all_foundational:
        return (*first, *recent)[:room]
    return (*first, *tuple(recent)[: max(0, room - len(first))])


_Place = tuple[int, int, float, int, str]


def _place(entry: KBEntry, scenery: Scenery) -> _Place:
    newest = -entry.updated_at
    core = _core_of(entry, scenery.protagonist)
    if core is not None:
        return (*core, 0.0, newest, entry.key)
    if entry.category == MemoryCategory.CONSTRAINT:
        return (_CONSTRAINTS, 0, 0.0, newest, entry.key)
    node_id, _attribute = scenery.names.split_key(entry.key, "character")
    if node_id in scenery.present:
        return (_CHARACTERS, scenery.present.index(node_id), 0.0, newest, entry.key)
    rank = 0.0 if node_id is None else scenery.ranks.get(node_id, 0.0)
    return (_CHARACTERS, len(scenery.present), -rank, newest, entry.key)


def _core_of(entry: KBEntry, protagonist: str) -> tuple[int, int] | None:
    """Return the place of a fact about the protagonist's flaw, lie or arc."""
    if entry.category != MemoryCategory.CHARACTER:
        return None
    key = key_form(entry.key)
    for group, attributes in enumerate(_CORE):
        for number, attribute in enumerate(attributes):
            if key != attribute and not key.endswith(f"_{attribute}"):
                continue
            owner = key[: -len(attribute)].strip("_")
            if _is_protagonist(owner, protagonist):
                return group, number
    return None


def _is_protagonist(owner: str, protagonist: str) -> bool:
    if owner in _OWN:
        return True
    known = key_form(protagonist)
    # Nobody said whose book it is: then any flaw may be the one it is about.
    return not known or set(owner.split("_")) <= set(known.split("_"))
