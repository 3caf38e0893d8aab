"""Ingestor: the Story Bible becomes part of the graph. The same files change nothing twice.

The templates are the writer's own words, so they are not argued with: a changed field is the new
value, and what it was stays in the graph's history. A template whose file is broken says nothing
until it is mended, so a slip of the pen takes nothing out of the graph.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from callboard.core.canonical import Json
from callboard.knowledge.graph import Edge, Graph, MergeReport, Node, TrustLevel, node_id
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory.scenery import beat_node_id
from callboard.packs.writers_factory.model import TemplateName
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.connection import Connection

DOMAIN: Final = "story"
THEME_NODE: Final = node_id("theme", "theme")
_ARC: Final = ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint", "arc_resolution")
_THEME: Final = ("central_theme", "theme_statement")


@dataclass(frozen=True, slots=True)
class _WorldRules:
    """The rules as they are to be, and the nodes of those that are gone."""

    nodes: tuple[Node, ...]
    gone: tuple[str, ...]


class Ingestor:
    """Reads the four templates into the graph."""

    def __init__(self, workspace: Workspace, bible: Bible | None = None) -> None:
        """Take the open project and the templates."""
        self._workspace = workspace
        self._bible = bible or Bible(workspace)

    @property
    def _graph(self) -> Graph:
        return self._workspace.studio.knowledge.graph(DOMAIN)

    async def ingest(self) -> MergeReport:
        """Bring the graph up to date with the templates; durable when this returns."""
        graph = self._graph
        rules = self._rules(graph)
        nodes = (*self._protagonist(), *self._beats(), *self._theme(), *rules.nodes)
        edges = self._order() if any(node.type == "beat" for node in nodes) else ()
        fresh = [node for node in nodes if not _is_known(graph, node)]
        links = [edge for edge in edges if not graph.edges(edge.src, edge.dst, edge.type)]
        if not fresh and not links and not rules.gone:
            return MergeReport()
        return await graph.merge(
            fresh,
            links,
            connection_work=lambda connection: _remove(graph, connection, rules.gone),
        )

    def _is_broken(self, name: TemplateName) -> bool:
        return bool(self._bible.template(name).problems)

    def _protagonist(self) -> Iterable[Node]:
        fields = self._bible.protagonist
        told = _texts(fields, _ARC)
        name = self._bible.project().protagonist_name or str(fields.get("name") or "")
        if self._is_broken(TemplateName.PROTAGONIST) or not (told or name):
            return ()
        shown = name or "Protagonist"
        aliases = ("Protagonist", *shown.split()[:1]) if name else ()
        known = self._graph.find(shown, "character")
        identity = known.id if known is not None else node_id("character", shown)
        attrs: dict[str, Json] = {field: told.get(field) for field in _ARC}
        return (
            Node(
                identity,
                "character",
                shown,
                tuple(alias for alias in aliases if alias.casefold() != shown.casefold()),
                {**attrs, "role": "protagonist"},
                _source(TemplateName.PROTAGONIST),
                TrustLevel.GROUND,
            ),
        )

    def _beats(self) -> Iterable[Node]:
        beats = self._bible.beats()
        is_empty = not any(beat.content for beat in beats)
        if is_empty or self._is_broken(TemplateName.BEAT_SHEET):
            return ()
        return tuple(
            Node(
                beat_node_id(beat.number),
                "beat",
                beat.name,
                (f"beat {beat.number}",),
                {
                    "number": beat.number,
                    "act": beat.point.act,
                    "low_pct": beat.point.low_pct,
                    "high_pct": beat.point.high_pct,
                    "text": beat.content or None,
                    "midpoint_type": beat.midpoint_type or None,
                },
                _source(TemplateName.BEAT_SHEET),
                TrustLevel.GROUND,
            )
            for beat in beats
        )

    def _order(self) -> tuple[Edge, ...]:
        numbers = [beat.number for beat in self._bible.beats()]
        source = _source(TemplateName.BEAT_SHEET)
        return tuple(
            Edge(beat_node_id(one), beat_node_id(other), "precedes", source=source)
            for one, other in pairwise(numbers)
        )

    def _theme(self) -> Iterable[Node]:
        told = _texts(self._bible.theme, _THEME)
        if not told or self._is_broken(TemplateName.THEME):
            return ()
        attrs: dict[str, Json] = {field: told.get(field) for field in _THEME}
        statement = told.get("theme_statement", "")
        return (
            Node(
                THEME_NODE,
                "theme",
                "Theme",
                (),
                attrs,
                _source(TemplateName.THEME),
                TrustLevel.GROUND,
                content=statement or told.get("central_theme", ""),
            ),
        )

    def _rules(self, graph: Graph) -> _WorldRules:
        """Give each rule a node: its own if its wording is known, else that of one that changed."""
        if self._is_broken(TemplateName.WORLD_RULES):
            return _WorldRules((), ())
        source = _source(TemplateName.WORLD_RULES)
        held = {node.id: node for node in graph.nodes("world_rule") if node.source == source}
        by_text = {str(node.attrs.get("text")): node.id for node in held.values()}
        wanted = list(dict.fromkeys(self._bible.rules))
        taken = {by_text[text] for text in wanted if text in by_text}
        free = [each for each in sorted(held, key=_number) if each not in taken]
        number = max((_number(each) for each in held), default=0)
        nodes: list[Node] = []
        for text in wanted:
            identity = by_text.get(text) or (free.pop(0) if free else None)
            if identity is None:
                number += 1
                identity = node_id("world_rule", f"rule {number}")
            nodes.append(_rule(identity, text, source))
        return _WorldRules(tuple(nodes), tuple(free))


def _rule(identity: str, text: str, source: str) -> Node:
    name = f"Rule {_number(identity)}"
    return Node(
        identity, "world_rule", name, (), {"text": text}, source, TrustLevel.GROUND, content=text
    )


def _number(identity: str) -> int:
    last = identity.rpartition("-")[2]
    return int(last) if last.isdigit() else 0


def _texts(fields: Mapping[str, Json], wanted: Iterable[str]) -> dict[str, str]:
    told = {field: fields.get(field) for field in wanted}
    return {field: str(value).strip() for field, value in told.items() if str(value or "").strip()}


def _source(name: TemplateName) -> str:
    return f"template:{name.value}"


def _is_known(graph: Graph, node: Node) -> bool:
    """Say whether the graph holds all that a node says."""
    known = graph.node(node.id)
    if known is None or known.name != node.name or known.content != node.content:
        return False
    if not {alias.casefold() for alias in node.aliases} <= {
        each.casefold() for each in known.answers_to()
    }:
        return False
    return all(known.attrs.get(attr) == value for attr, value in node.attrs.items())


def _remove(graph: Graph, connection: Connection, ids: tuple[str, ...]) -> None:
    if ids:
        graph.remove_in(connection, ids)
