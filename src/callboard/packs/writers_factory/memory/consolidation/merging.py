"""Merging: graph, marks, conflicts and report in one transaction, or nothing of it.

The plan is made beside the database: from offers to what is merged and what stays out. A
conflicting claim changes nothing. What else its origin says goes on, except that a decision is one
claim and stands or falls with it. If anybody changed the graph or the facts meanwhile the plan is
made again; if the same run has merged already its report is returned and nothing is done twice.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.errors import Conflict
from callboard.knowledge.fact_rows import FactState, KBEntry
from callboard.knowledge.facts import SoftFacts
from callboard.knowledge.graph import Edge, Graph, MergeReport, Node
from callboard.knowledge.graph.similarity import Vectors
from callboard.knowledge.rows import KnowledgePart, read_version
from callboard.library.story.contradiction import (
    AnyClaim,
    ConflictRules,
    GraphClaim,
    GraphClash,
    GraphDraft,
    Names,
    find_clash,
)
from callboard.packs.writers_factory.memory.consolidation.turns import (
    TurnState,
    mark_turns,
    without_marks,
)
from callboard.packs.writers_factory.memory.ledger import (
    ConflictLedger,
    ConflictRecord,
    Resolution,
    make_conflict,
)
from callboard.packs.writers_factory.memory.mapping import Offer, Origin, OriginKind, map_entry
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records


@dataclass(frozen=True, slots=True)
class Report:
    """Counts of one run; `unread` are turns nobody could make sense of, left for the next run."""

    events_seen: int = 0
    entries_seen: int = 0
    nodes_added: int = 0
    nodes_updated: int = 0
    edges_added: int = 0
    conflicts: int = 0
    skipped: int = 0
    unread: int = 0
    duration_ms: int = 0
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "warnings": list(self.warnings)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Report":
        """Read the stored shape."""
        known = {each.name for each in fields(cls)}
        told: dict[str, Any] = {name: value for name, value in data.items() if name in known}
        told["warnings"] = tuple(told.get("warnings", ()))
        return cls(**told)


RuleClashes = Mapping[str, GraphClash]
"""By the id of a decision that is a new rule: what it contradicts, as judged before."""


@dataclass
class Plan:
    """What a consolidation is going to do."""

    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    accepted: list[Origin] = field(default_factory=list[Origin])
    conflicted: list[Origin] = field(default_factory=list[Origin])
    conflicts: list[ConflictRecord] = field(default_factory=list[ConflictRecord])
    skipped: int = 0
    turn_ids: tuple[str, ...] = ()


def make_plan(
    draft: GraphDraft,
    rules: ConflictRules,
    offers: Iterable[Offer],
    rule_clashes: RuleClashes,
    now_ms: int,
) -> Plan:
    """Go through offers in order; each is judged with all that was accepted before it."""
    plan = Plan()
    for offer in offers:
        is_clean = True
        for claim in offer.claims:
            clash = rule_clashes.get(offer.origin.id) or find_clash(draft, rules, claim)
            if clash is not None:
                is_clean = False
                plan.conflicts.append(make_conflict(clash, claim, offer.origin, now_ms))
            elif _can_stand(draft, claim):
                draft.apply(claim)
            else:
                plan.skipped += 1
        (plan.accepted if is_clean else plan.conflicted).append(offer.origin)
    plan.nodes = tuple(draft.changed_nodes.values())
    plan.edges = tuple(draft.changed_edges.values())
    return plan


def _can_stand(draft: GraphDraft, claim: AnyClaim) -> bool:
    """Say whether what a claim needs is there: a relation needs both ends."""
    if isinstance(claim, GraphClaim):
        return True
    return draft.node(claim.src) is not None and draft.node(claim.dst) is not None


REPORT: Final = "consolidation_report"
_ATTEMPTS: Final = 5
OffersFor = Callable[[Names], Iterable[Offer]]
"""Returns what the conversation offers, given what everything is called now."""


@dataclass(frozen=True)
class Digestion:
    """What one run has before it."""

    run_id: str
    # By id, the wording that was judged: a decision said anew since then is left for the next run.
    entries: Mapping[str, str]
    turn_ids: tuple[str, ...]
    offers: OffersFor
    rule_clashes: RuleClashes
    seen: Report
    started_ms: int


@dataclass(frozen=True)
class _Versions:
    graph: int
    facts: int


class Merger:
    """Brings a digestion into the project's database."""

    def __init__(
        self, database: Database, records: Records, graph: Graph, facts: SoftFacts
    ) -> None:
        """Take where everything is kept."""
        self._database = database
        self._records = records
        self._graph = graph
        self._facts = facts
        self._ledger = ConflictLedger(records)

    async def merge(
        self, digestion: Digestion, rules: ConflictRules, clock: Callable[[], int]
    ) -> Report:
        """Merge and return the report; durable when this returns."""
        for _ in range(_ATTEMPTS):
            versions = self._database.read(self._versions)
            plan = self._plan(digestion, rules, clock())
            vectors = await asyncio.to_thread(self._graph.prepare, plan.nodes)

            def act(
                connection: Connection,
                versions: _Versions = versions,
                plan: Plan = plan,
                vectors: Vectors = vectors,
            ) -> Report | None:
                done = self._records.load(connection, REPORT, digestion.run_id)
                if done is not None:
                    return Report.from_json(done)
                if self._versions(connection) != versions:
                    return None
                merged = self._graph.merge_in(
                    connection, plan.nodes, plan.edges, clock(), vectors=vectors
                )
                self._mark(connection, plan, clock())
                report = _report(digestion, plan, merged, clock())
                self._records.store(connection, REPORT, digestion.run_id, report.to_json())
                return report

            report = await self._database.write(act)
            if report is not None:
                return report
        raise Conflict(
            "The story's facts keep changing while they are consolidated",
            fix="Consolidate again when nothing else is running.",
        )

    def _plan(self, digestion: Digestion, rules: ConflictRules, now_ms: int) -> Plan:
        memory = self._graph.memory()
        names = Names(memory.nodes.values())
        draft = GraphDraft(memory.nodes, lambda src: memory.by_source.get(src, ()), names)
        edge_types = self._graph.vocabulary().edges
        waiting = self._facts.unpromoted()
        entries = [each for each in waiting if digestion.entries.get(each.id) == each.value]
        # Another run may have digested the same turns meanwhile.
        turns = self._database.read(
            lambda connection: without_marks(connection, self._records, digestion.turn_ids)
        )
        offers = (each for each in digestion.offers(names) if each.origin.id in turns)
        mapped = _mapped(entries, names, rules, edge_types)
        plan = make_plan(draft, rules, mapped, digestion.rule_clashes, now_ms)
        said = make_plan(draft, rules, offers, digestion.rule_clashes, now_ms)
        plan.nodes, plan.edges = said.nodes, said.edges
        plan.accepted += said.accepted
        plan.conflicted += said.conflicted
        plan.conflicts += said.conflicts
        plan.skipped += said.skipped
        plan.turn_ids = turns
        return plan

    def _versions(self, connection: Connection) -> _Versions:
        return _Versions(
            read_version(connection, KnowledgePart.GRAPH, self._graph.domain).number,
            read_version(connection, KnowledgePart.FACTS, self._facts.domain).number,
        )

    def _mark(self, connection: Connection, plan: Plan, now_ms: int) -> None:
        entries = {each.id for each in plan.accepted if each.kind is OriginKind.ENTRY}
        blocked = {each.id for each in plan.conflicted if each.kind is OriginKind.ENTRY}
        clashing = {each.id for each in plan.conflicted if each.kind is OriginKind.TURN}
        self._facts.mark_in(connection, sorted(entries), FactState.PROMOTED)
        self._facts.mark_in(connection, sorted(blocked), FactState.CONFLICTED)
        clean = [each for each in plan.turn_ids if each not in clashing]
        mark_turns(connection, self._records, clean, TurnState.COMMITTED)
        mark_turns(connection, self._records, sorted(clashing), TurnState.CONFLICTED)
        self._supersede(connection, entries | blocked, now_ms)
        for conflict in plan.conflicts:
            self._ledger.store_in(connection, (conflict,))

    def _supersede(self, connection: Connection, entries: set[str], now_ms: int) -> None:
        """Close what was open about decisions that have been said anew and are judged now."""
        if not entries:
            return
        old = [
            replace(each, resolution=Resolution.SUPERSEDED, resolved_at=now_ms)
            for each in self._ledger.open_in(connection)
            if each.origin.kind is OriginKind.ENTRY and each.origin.id in entries
        ]
        self._ledger.store_in(connection, old)


def _mapped(
    entries: Sequence[KBEntry], names: Names, rules: ConflictRules, edge_types: frozenset[str]
) -> Iterator[Offer]:
    """Map decisions one by one: what an earlier one names, a later one may be about."""
    for entry in entries:
        yield map_entry(entry, names, rules.known_attributes, edge_types)


def _report(digestion: Digestion, plan: Plan, merged: MergeReport, now_ms: int) -> Report:
    seen = digestion.seen
    return replace(
        seen,
        nodes_added=merged.nodes_added,
        nodes_updated=merged.nodes_updated,
        edges_added=merged.edges_added,
        conflicts=len(plan.conflicts),
        skipped=seen.skipped + plan.skipped,
        duration_ms=max(0, now_ms - digestion.started_ms),
    )
