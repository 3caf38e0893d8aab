"""Canon in the knowledge graph: Cold's statements as nodes, each with where it comes from.

Derived from Cold and written with it, in one transaction; where the graph is not of the snapshot
that counts, as in a project from before it or one restored from an archive, what is read is derived
on the spot. Nothing Hot is in it. A role that works on what readers get is refused the secrets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.codec import decode, encode
from callboard.core.errors import NotFound
from callboard.knowledge import Knowledge
from callboard.knowledge.graph import Edge, Graph, Node, TrustLevel
from callboard.knowledge.graph.memory import GraphMemory, load_memory
from callboard.library.story.contradiction import ConflictRules
from callboard.library.story.text import content_stems
from callboard.packs.questfoundry.book.model import CanonStatement
from callboard.packs.questfoundry.canon.identity import Identities
from callboard.packs.questfoundry.canon.statements import Bodies, statements_in, told
from callboard.packs.questfoundry.canon.timeline import Timeline
from callboard.packs.questfoundry.shelf.entry import COLD_READERS, HotLeak
from callboard.store.connection import Connection

DOMAIN: Final = "canon"
_ENTITY: Final = "entity"
_SNAPSHOT: Final = "snapshot"
_MARK: Final = "snapshot:cold"
_NODES: Final = (
    *("fact", "event", "answer", "constraint", "knowledge", "mystery", "summary", "codex"),
    *(_ENTITY, _SNAPSHOT),
)
_EDGES: Final = ("about", "since", "precedes")
# A role reads so many lines of canon; the questions it is asked choose which.
_MOST_LINES: Final = 200
_ORIGIN: Final = ("artifact", "version", "unit", "snapshot")


@dataclass(frozen=True, slots=True)
class CanonOrigin:
    """Where a statement comes from: an artifact of a unit, merged as a snapshot."""

    artifact: str
    version: int
    unit: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class TracedStatement:
    """A statement of Cold, and where it comes from."""

    statement: CanonStatement
    origin: CanonOrigin

    def shape(self) -> dict[str, Json]:
        """Return what doors show of it."""
        return {
            **_json(self.statement),
            "told": told(self.statement),
            "origin": _json(self.origin),
        }


@dataclass(frozen=True, slots=True)
class ColdStep:
    """One snapshot on the way to another: what it held of canon, and who said what then."""

    snapshot: str
    held: Bodies
    # What each merged unit made, in order: its artifact, version, unit and body by kind.
    made: Sequence[tuple[str, int, str, Bodies]]


def traced(before: Mapping[str, TracedStatement], step: ColdStep) -> dict[str, TracedStatement]:
    """Return the statements of a snapshot; what stood before keeps the origin it has."""
    said: dict[str, CanonOrigin] = {}
    for artifact, version, unit, bodies in step.made:
        origin = CanonOrigin(artifact, version, unit, step.snapshot)
        said |= {told(each): origin for each in statements_in(bodies)}
    nowhere = CanonOrigin("", 0, "", step.snapshot)
    known = {told(each.statement): each.origin for each in before.values()}
    return {
        each.id: TracedStatement(each, known.get(told(each)) or said.get(told(each)) or nowhere)
        for each in statements_in(step.held)
    }


class CanonGraph:
    """The canon of one project, as the knowledge graph holds it."""

    def __init__(self, knowledge: Knowledge, rules: ConflictRules) -> None:
        """Take where it is kept, and what tells that two names are one."""
        self._knowledge = knowledge
        self._rules = rules

    @property
    def graph(self) -> Graph:
        """The graph itself."""
        return self._knowledge.graph(DOMAIN)

    def snapshot(self) -> str | None:
        """Return the snapshot the graph is of."""
        return _marked(self.graph.memory())

    def load(self, connection: Connection) -> tuple[str | None, dict[str, TracedStatement]]:
        """Return the snapshot and the statements within a unit of work of the database."""
        memory = load_memory(connection, DOMAIN, None)
        return _marked(memory), _statements(memory)

    def statements(self) -> dict[str, TracedStatement]:
        """Return every statement of the graph by its id."""
        return _statements(self.graph.memory())

    def history(self, statement_id: str) -> list[dict[str, Json]]:
        """Return what a statement said before, oldest first."""
        return [
            {"was": change.old, "became": change.new, "source": change.source, "at": change.at}
            for change in self.graph.attr_history(statement_id)
            if change.attr == "text"
        ]

    def write(
        self, connection: Connection, snapshot: str, wanted: Mapping[str, TracedStatement]
    ) -> None:
        """Let the graph be of a snapshot, within the unit of work that makes it so."""
        memory = load_memory(connection, DOMAIN, None)
        nodes, edges = self._drawn(wanted)
        nodes.append(Node(_MARK, _SNAPSHOT, "Cold", attrs={_SNAPSHOT: snapshot}))
        self._knowledge.define_in(connection, DOMAIN, _NODES, _EDGES)
        drawn = {node.id: node for node in nodes}
        keys = {edge.key for edge in edges}
        stale = [edge for key, edge in memory.edges.items() if key not in keys]
        gone = [each.id for each in memory.nodes.values() if _is_other(each, drawn.get(each.id))]
        self.graph.remove_in(connection, gone, stale)
        self.graph.merge_in(connection, nodes, edges)

    def _drawn(self, wanted: Mapping[str, TracedStatement]) -> tuple[list[Node], list[Edge]]:
        statements = [each.statement for each in wanted.values()]
        who = Identities(statements, self._rules)
        names = who.names()
        nodes = [
            Node(f"{_ENTITY}:{key}", _ENTITY, first, tuple(others), trust=TrustLevel.GROUND)
            for key, (first, *others) in names.items()
        ]
        edges: list[Edge] = []
        events = {each.about: each.id for each in reversed(statements) if each.kind == "event"}
        for each in wanted.values():
            nodes.append(_node(each))
            statement = each.statement
            owner = who.of(statement.about)
            if statement.kind in ("fact", "knowledge") or owner in names:
                edges.append(Edge(statement.id, f"{_ENTITY}:{owner}", "about"))
            if statement.kind in ("fact", "knowledge") and statement.since in events:
                edges.append(Edge(statement.id, events[statement.since], "since"))
        order = Timeline(statements).pairs()
        edges += [Edge(events[one], events[other], "precedes") for one, other in order]
        return nodes, edges


def readable(
    statements: Iterable[TracedStatement], reader: str | None
) -> Iterator[TracedStatement]:
    """Yield what a role may read; one who works on what readers get is given no secret."""
    for each in statements:
        if reader not in COLD_READERS or not each.statement.is_secret:
            yield each


def canon_for(
    statements: Mapping[str, TracedStatement], asked: str, reader: str | None = None
) -> dict[str, Json]:
    """Return canon as a role reads it, in lines: what it is asked about first, and what is left."""
    lines = {told(each.statement): each for each in readable(statements.values(), reader)}
    words = content_stems(asked)
    near = [line for line in lines if words & content_stems(line)]
    shown = list(dict.fromkeys([*near, *lines]))[:_MOST_LINES]
    return {"canon": [*shown], "left_out": len(lines) - len(shown)}


def find_statement(
    statements: Mapping[str, TracedStatement], statement_id: str, reader: str | None = None
) -> TracedStatement:
    """Return a statement by its id; refuse it to a role that may not read it."""
    found = statements.get(statement_id)
    if found is None:
        raise NotFound(
            f"Canon has no statement {statement_id!r}",
            fix="`callboard quest canon list` shows them.",
        )
    if found.statement.is_secret and reader in COLD_READERS:
        raise HotLeak(
            f"{reader} may not read {statement_id}: it is not for readers",
            fix="Give the work to another role.",
            artifact=found.origin.artifact,
            role=reader,
        )
    return found


def _is_other(old: Node, new: Node | None) -> bool:
    """Say whether a node is gone, or bears a name that is no longer one of its names."""
    return new is None or not {*old.answers_to()} <= {*new.answers_to()}


def _node(each: TracedStatement) -> Node:
    statement, origin = each.statement, each.origin
    attrs = {**_json(statement), **_json(origin)}
    source = f"{origin.artifact}.v{origin.version}@{origin.snapshot}"
    return Node(
        statement.id,
        statement.kind,
        statement.about or statement.id,
        attrs=attrs,
        source=source,
        trust=TrustLevel.GROUND,
    )


def _statements(memory: GraphMemory) -> dict[str, TracedStatement]:
    found: dict[str, TracedStatement] = {}
    for node in memory.nodes.values():
        if node.type not in (_ENTITY, _SNAPSHOT):
            own = {name: value for name, value in node.attrs.items() if name not in _ORIGIN}
            origin = {name: node.attrs[name] for name in _ORIGIN}
            statement = decode(CanonStatement, own)
            found[node.id] = TracedStatement(statement, decode(CanonOrigin, origin))
    return found


def _marked(memory: GraphMemory) -> str | None:
    mark = memory.nodes.get(_MARK)
    return None if mark is None else str(mark.attrs[_SNAPSHOT])


def _json(value: object) -> dict[str, Any]:
    shape: Any = encode(value)
    return shape
