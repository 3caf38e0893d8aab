"""Rules of the world against each other: code finds the pairs, a judge decides with quotations.

A verdict is kept by the wording of both rules and the model, so the same pair is paid for once.
With a small model the code's own finding stands: many words in common and only one denies.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from callboard.choreography.answers import Answer, Quote
from callboard.choreography.questions import Judge, Question
from callboard.core.canonical import digest
from callboard.core.vocabulary import Content, Trust
from callboard.knowledge.fact_rows import KBEntry
from callboard.knowledge.graph import Graph, Node
from callboard.library.story.contradiction import (
    ConflictRules,
    GraphClaim,
    GraphClash,
    Names,
    rule_clash,
)
from callboard.packs.writers_factory.memory.decisions import MemoryCategory
from callboard.packs.writers_factory.memory.mapping import map_entry
from callboard.replies.evidence import holds_quote

_MOST_PAIRS: Final = 12


class RuleVerdict(Answer):
    """Whether two rules of a world can both hold."""

    verdict: Literal["compatible", "contradiction"]
    existing_quote: Quote
    proposed_quote: Quote


_PAIR: Final = Question("memory/judge_rules", RuleVerdict)


@dataclass(frozen=True, slots=True)
class _Known:
    """A rule that holds, or will if the decision it is stands."""

    node: Node
    text: str
    stems: frozenset[str]
    decision_id: str = ""


@dataclass(frozen=True, slots=True)
class RulePair:
    """A rule and a new one that speaks of the same."""

    known: _Known
    decision_id: str
    proposed: str
    shared: float
    is_opposed: bool

    @property
    def existing(self) -> str:
        """The wording of the older rule."""
        return self.known.text


def find_pairs(
    graph: Graph, entries: Iterable[KBEntry], rules: ConflictRules
) -> tuple[RulePair, ...]:
    """Return new rules with known or earlier ones they likeliest contradict, as they were said."""
    names = Names(graph.nodes())
    known = [_known(node, rules) for node in graph.nodes("world_rule")]
    pairs: list[RulePair] = []
    for entry in entries:
        if entry.category == MemoryCategory.WORLD:
            pairs += _pairs_of(entry, known, rules)
            known += [_known(node, rules, entry.id) for node in _rules_in(entry, names, rules)]
    likeliest = sorted(pairs, key=lambda pair: (-pair.shared, pair.proposed))[:_MOST_PAIRS]
    return tuple(pair for pair in pairs if pair in likeliest)


def _known(node: Node, rules: ConflictRules, decision_id: str = "") -> _Known:
    text = rule_text(node)
    return _Known(node, text, rules.stems(text), decision_id)


def _rules_in(entry: KBEntry, names: Names, rules: ConflictRules) -> Iterator[Node]:
    """Return the rule a decision is going to be, if it is to be one."""
    for claim in map_entry(entry, names, rules.known_attributes, ()).claims:
        if isinstance(claim, GraphClaim) and claim.type == "world_rule":
            text = {"text": claim.value}
            yield Node(claim.node_id, claim.type, claim.name, (), text, claim.source)


def rule_text(node: Node) -> str:
    """Return the wording of a rule."""
    return str(node.attrs.get("text") or node.content or node.name)


def _pairs_of(entry: KBEntry, known: Iterable[_Known], rules: ConflictRules) -> Iterator[RulePair]:
    proposed = entry.value
    mine = rules.stems(proposed)
    for rule in known:
        shared = rules.shared(mine, rule.stems)
        if not shared or rule.text.casefold() == proposed.casefold():
            continue
        is_opposed = rules.are_opposed(rule.text, proposed, shared)
        yield RulePair(rule, entry.id, proposed, shared, is_opposed)


async def judge_pairs(
    judge: Judge, pairs: Iterable[RulePair]
) -> tuple[dict[str, GraphClash], frozenset[str]]:
    """Return the new rules that contradict another, and those the judge gave no answer about.

    Both are named by the id of the decision. A rule that is not judged is no rule that fits.
    """
    found: dict[str, GraphClash] = {}
    unjudged: set[str] = set()
    for pair in pairs:
        # A decision that does not stand itself stands in nobody's way.
        if pair.decision_id in found or pair.known.decision_id in found:
            continue
        if judge.is_small:
            quotes = _found_by_code(pair)
        else:
            verdict = await _judged(judge, pair)
            if verdict is None:
                unjudged.add(pair.decision_id)
                continue
            quotes = _proven(verdict, pair)
        if quotes is not None:
            told = f"{quotes[0]!r} against {quotes[1]!r}"
            found[pair.decision_id] = rule_clash(pair.known.node, pair.existing, told)
    return found, frozenset(unjudged - found.keys())


def _found_by_code(pair: RulePair) -> tuple[str, str] | None:
    return (pair.existing, pair.proposed) if pair.is_opposed else None


async def _judged(judge: Judge, pair: RulePair) -> RuleVerdict | None:
    key = digest([pair.existing, pair.proposed])[:20]
    return await judge.once(
        f"rules/{key}",
        _PAIR,
        existing=Content(pair.existing, "graph", Trust.UNTRUSTED),
        proposed=Content(pair.proposed, "memory", Trust.UNTRUSTED),
    )


def _proven(found: RuleVerdict, pair: RulePair) -> tuple[str, str] | None:
    """Return both quotations of a contradiction, if each is really in its rule."""
    old, new = found.existing_quote, found.proposed_quote
    if found.verdict != "contradiction":
        return None
    if not holds_quote(pair.existing, old) or not holds_quote(pair.proposed, new):
        return None
    return old, new
