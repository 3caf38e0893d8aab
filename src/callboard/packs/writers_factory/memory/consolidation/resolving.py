"""Resolving: the writer decides a conflict; graph, memory and marks follow in one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.canonical import Json
from callboard.core.errors import Conflict, InvalidInput
from callboard.knowledge.fact_rows import FactState, KBEntry
from callboard.knowledge.facts import SoftFacts
from callboard.knowledge.graph import Edge, Graph
from callboard.library.story.contradiction import (
    AnyClaim,
    ClashKind,
    ConflictRules,
    GraphClaim,
    GraphDraft,
    Names,
    SceneRange,
    read_range,
    states_of,
    with_states,
)
from callboard.packs.writers_factory.bible.provenance import STATED
from callboard.packs.writers_factory.memory.consolidation.turns import TurnState, mark_turns
from callboard.packs.writers_factory.memory.ledger import ConflictLedger, ConflictRecord, Resolution
from callboard.packs.writers_factory.memory.mapping import OriginKind
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records

WRITER: Final = "writer"


class NotTheWriter(Conflict):
    """Somebody else than the writer wanted to decide."""

    code = "writer_only"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a conflict is decided, and for which scenes the new fact holds."""

    resolution: Resolution
    scope: SceneRange | None = None

    @classmethod
    def read(cls, decision: str, scope: Json, by: str) -> "Verdict":
        """Check what somebody decided."""
        if by != WRITER:
            raise NotTheWriter(
                "Only the writer resolves conflicts", fix="Ask the writer to decide.", by=by
            )
        known = [each.value for each in Resolution if each is not Resolution.SUPERSEDED]
        if decision not in known:
            raise InvalidInput(
                f"{decision!r} is no way to resolve a conflict", fix=f"Use: {', '.join(known)}."
            )
        chosen = Resolution(decision)
        return cls(chosen, read_range(scope) if chosen is Resolution.BOTH_WITH_SCOPE else None)


class Resolver:
    """Carries out what the writer decided."""

    def __init__(
        self, database: Database, records: Records, graph: Graph, facts: SoftFacts
    ) -> None:
        """Take where everything is kept."""
        self._database = database
        self._records = records
        self._graph = graph
        self._facts = facts
        self._ledger = ConflictLedger(records)

    async def resolve(
        self, conflict_id: str, verdict: Verdict, rules: ConflictRules, clock: Callable[[], int]
    ) -> ConflictRecord:
        """Decide a conflict; durable when this returns."""
        self._ledger.get(conflict_id)

        def act(connection: Connection) -> ConflictRecord:
            conflict = self._ledger.load_in(connection, conflict_id)
            if conflict is None or not conflict.is_open:
                raise Conflict(
                    f"The conflict {conflict_id} is decided already",
                    fix="Save the decision anew to change it.",
                    conflict_id=conflict_id,
                )
            now = clock()
            if verdict.resolution is Resolution.KEEP_EXISTING:
                self._keep(connection, conflict, now)
            else:
                self._accept(connection, conflict, verdict, rules, now)
            decided = replace(
                conflict,
                resolution=verdict.resolution,
                resolved_at=now,
                scope=None if verdict.scope is None else verdict.scope.to_json(),
            )
            self._ledger.store_in(connection, (decided,))
            self._release_turn(connection, decided)
            return decided

        return await self._database.write(act)

    def _accept(
        self,
        connection: Connection,
        conflict: ConflictRecord,
        verdict: Verdict,
        rules: ConflictRules,
        now: int,
    ) -> None:
        claim = _scoped(conflict.claim, verdict.scope)
        is_replacing = verdict.scope is None
        draft = self._draft(connection, claim)
        if is_replacing:
            claim = self._make_way(connection, conflict, claim, draft, rules)
        draft.apply(claim, is_replacing=is_replacing)
        self._graph.merge_in(
            connection, draft.changed_nodes.values(), draft.changed_edges.values(), now
        )
        entry = self._entry(connection, conflict)
        if entry is not None:
            self._facts.mark_in(connection, [entry.id], FactState.PROMOTED)

    def _draft(self, connection: Connection, claim: AnyClaim) -> GraphDraft:
        ids = [claim.node_id] if isinstance(claim, GraphClaim) else [claim.src, claim.dst]
        memory = self._graph.memory()
        known = {**memory.nodes, **self._graph.load_in(connection, ids)}
        return GraphDraft(known, lambda src: memory.by_source.get(src, ()), Names())

    def _make_way(
        self,
        connection: Connection,
        conflict: ConflictRecord,
        claim: AnyClaim,
        draft: GraphDraft,
        rules: ConflictRules,
    ) -> AnyClaim:
        """Take away what the new fact replaces, and return where it belongs."""
        if conflict.kind is ClashKind.EXCLUSIVE_EDGE:
            old = conflict.existing
            gone = Edge(str(old["src"]), str(old["dst"]), str(old["type"]))
            self._graph.remove_in(connection, edges=(gone,))
        elif conflict.kind is ClashKind.WORLD_RULE and isinstance(claim, GraphClaim):
            # The rule that held keeps its place and its history, with the new wording.
            node = draft.node(conflict.node_id)
            if node is not None:
                return replace(claim, node_id=node.id, name=node.name, attribute="text")
        elif isinstance(claim, GraphClaim):
            _clear_aliases(draft, claim, rules)
        elif conflict.kind is ClashKind.DEAD_ACTING:
            _clear_state(draft, conflict)
        return claim

    def _keep(self, connection: Connection, conflict: ConflictRecord, now: int) -> None:
        """Let the memory say what the graph says, so that no prompt repeats what was rejected."""
        entry = self._entry(connection, conflict)
        if entry is None:
            return
        value = conflict.existing.get("value")
        if value is None or conflict.kind is ClashKind.WORLD_RULE:
            self._facts.delete_in(connection, entry.category, entry.key)
            return
        kept = self._facts.save_in(connection, entry.category, entry.key, str(value), STATED, now)
        self._facts.mark_in(connection, [kept.id], FactState.PROMOTED)

    def _entry(self, connection: Connection, conflict: ConflictRecord) -> KBEntry | None:
        """Return the decision that is decided about; one said anew since then waits for its own."""
        origin = conflict.origin
        if origin.kind is not OriginKind.ENTRY:
            return None
        entry = self._facts.load_in(connection, origin.id)
        return entry if entry is not None and entry.value == conflict.claim.quote else None

    def _release_turn(self, connection: Connection, decided: ConflictRecord) -> None:
        origin = decided.origin
        if origin.kind is not OriginKind.TURN:
            return
        still = [each for each in self._ledger.open_in(connection) if each.origin == origin]
        if not still:
            mark_turns(connection, self._records, [origin.id], TurnState.COMMITTED)


def _scoped(claim: AnyClaim, scope: SceneRange | None) -> AnyClaim:
    return claim if scope is None else replace(claim, scope=scope)


def _clear_aliases(draft: GraphDraft, claim: GraphClaim, rules: ConflictRules) -> None:
    """Take away values of the same attribute under another name, such as `alive: true`."""
    node = draft.node(claim.node_id)
    functional = rules.functional(claim.attribute)
    if node is None or functional is None:
        return
    attrs = dict(node.attrs)
    for attribute in node.attrs:
        if attribute == claim.attribute or rules.functional(attribute) != functional:
            continue
        states = states_of(attrs, attribute)
        kept = tuple(each for each in states if not each.scope.overlaps(claim.scope))
        if rules.meaning(attribute, attrs[attribute]) is None or kept == states:
            continue
        attrs = with_states(attrs, attribute, kept)
    draft.changed_nodes[node.id] = replace(node, attrs=attrs)


def _clear_state(draft: GraphDraft, conflict: ConflictRecord) -> None:
    """Take away the state that forbids somebody to act."""
    node = draft.node(conflict.node_id)
    if node is None or isinstance(conflict.claim, GraphClaim):
        return
    scope = SceneRange.from_json(dict(conflict.existing))
    states = states_of(node.attrs, conflict.attribute)
    kept = tuple(each for each in states if each.scope != scope)
    attrs = with_states(node.attrs, conflict.attribute, kept)
    draft.changed_nodes[node.id] = replace(node, attrs=attrs)
