"""Planning: from offers to what is merged and what stays out. Pure: stores and asks nothing.

A conflicting claim changes nothing. What else its origin says goes on, except that a decision is
one claim and stands or falls with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callboard.knowledge.graph import Edge, Node
from callboard.library.story.contradiction import (
    AnyClaim,
    ConflictRules,
    GraphClaim,
    GraphClash,
    GraphDraft,
    find_clash,
)
from callboard.packs.writers_factory.memory.ledger import ConflictRecord, make_conflict
from callboard.packs.writers_factory.memory.mapping import Offer, Origin

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
