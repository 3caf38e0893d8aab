"""Hard facts: what the graph says, as lines beside what was decided; and where the two disagree."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.knowledge.fact_rows import FactState, KBEntry
from callboard.knowledge.graph import Node, Subgraph
from callboard.library.story.contradiction import (
    STATES,
    ClashKind,
    ConflictRules,
    GraphClaim,
    GraphClash,
    ScenePoint,
    key_form,
    value_at,
)
from callboard.packs.writers_factory.memory.ledger import ConflictRecord, make_conflict
from callboard.packs.writers_factory.memory.mapping import Origin, OriginKind
from callboard.packs.writers_factory.memory.scenery import KnowledgeLine

_TOLD_TYPES: Final = frozenset(
    {"character", "location", "event", "theme", "symbol", "motif", "world_rule", "object"}
)
_PER_NODE: Final = 2
_VALUE_CHARS: Final = 240


@dataclass(frozen=True, slots=True)
class HardFact:
    """One attribute or relation of the graph."""

    node: Node
    attribute: str
    value: str

    @property
    def key(self) -> str:
        """The fact as a key of the memory."""
        return f"{key_form(self.node.name)}_{self.attribute}"

    def line(self) -> KnowledgeLine:
        """Return it as a line of a prompt."""
        return KnowledgeLine(
            self.node.type, self.key, self.value[:_VALUE_CHARS], self.node.source, "graph"
        )


@dataclass(frozen=True)
class KnownDecisions:
    """Decisions by what they are about; `keys` also holds those that are about nothing known."""

    about: Mapping[tuple[str, str], KBEntry]
    keys: frozenset[str]

    def find(self, fact: HardFact) -> KBEntry | None:
        """Return the decision that says the same thing as a fact, or something else about it."""
        return self.about.get((fact.node.id, fact.attribute))

    def covers(self, fact: HardFact) -> bool:
        """Say whether a fact would only repeat a decision."""
        return (fact.node.id, fact.attribute) in self.about or fact.key in self.keys


def facts_of(around: Subgraph, point: ScenePoint | None) -> Iterator[HardFact]:
    """Return what a part of the graph says, the most relevant thing first."""
    by_id = {node.id: node for node in around.nodes}
    for node in around.nodes:
        if node.type not in _TOLD_TYPES:
            continue
        for attribute in node.attrs:
            value = value_at(node.attrs, attribute, point)
            if attribute != STATES and (told := _told(value)):
                yield HardFact(node, attribute, told)
        for edge in around.edges:
            other = by_id.get(edge.dst)
            if edge.src != node.id or other is None:
                continue
            if other.type in _TOLD_TYPES:
                yield HardFact(node, edge.type, other.name)


def choose_lines(
    facts: Iterable[HardFact], known: KnownDecisions, most: int
) -> tuple[KnowledgeLine, ...]:
    """Return the first facts that no decision covers, only a few of the same thing."""
    chosen: list[KnowledgeLine] = []
    per_node: dict[str, int] = {}
    for fact in facts:
        if len(chosen) >= most:
            break
        if known.covers(fact) or per_node.get(fact.node.id, 0) >= _PER_NODE:
            continue
        per_node[fact.node.id] = per_node.get(fact.node.id, 0) + 1
        chosen.append(fact.line())
    return tuple(chosen)


def find_disagreements(
    facts: Iterable[HardFact], known: KnownDecisions, rules: ConflictRules, now_ms: int
) -> tuple[ConflictRecord, ...]:
    """Return the decisions that say something else than the graph does."""
    found: list[ConflictRecord] = []
    for fact in facts:
        entry = known.find(fact)
        if entry is None or entry.state is FactState.CONFLICTED:
            continue
        if agrees(rules, fact.attribute, fact.value, entry.value):
            continue
        node = fact.node
        claim = GraphClaim(
            node.id,
            node.type,
            node.name,
            fact.attribute,
            entry.value,
            source=entry.source,
            quote=entry.value,
        )
        clash = GraphClash(
            ClashKind.DISAGREEMENT,
            node.id,
            fact.attribute,
            {"value": fact.value, "source": node.source},
            f"{node.name}: {fact.attribute} is {fact.value!r} in the graph,"
            f" and {entry.value!r} was decided",
        )
        origin = Origin(OriginKind.ENTRY, entry.id)
        found.append(make_conflict(clash, claim, origin, now_ms))
    return tuple(found)


def agrees(rules: ConflictRules, attribute: str, one: Json, other: Json) -> bool:
    """Say whether two values of an attribute mean the same; part of a text agrees with it."""
    functional = rules.functional(attribute)
    meanings = rules.meaning(attribute, one), rules.meaning(attribute, other)
    if functional is not None and meanings[0] is not None and meanings[1] is not None:
        return rules.same(functional, meanings[0], meanings[1])
    left, right = _plain(one), _plain(other)
    return left == right or left in right or right in left


def _plain(value: Json) -> str:
    return key_form(str(value))


def _told(value: Json) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
