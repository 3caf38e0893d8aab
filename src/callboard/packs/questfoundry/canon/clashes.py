"""Clashes: statements of a canon that cannot both be true, by the rules every pack shares.

Who is the same under another name is found first. Where an order in time is not known, two values
may be a change and are no clash. A mystery with bounds and a time to look again excuses its clash.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.knowledge.graph import Edge
from callboard.library.story.contradiction import (
    ALWAYS,
    ClashKind,
    ConflictRules,
    EdgeClaim,
    GraphClaim,
    GraphDraft,
    Names,
    find_clash,
    key_form,
    words_of,
)
from callboard.packs.questfoundry.book.model import CanonStatement
from callboard.packs.questfoundry.canon.identity import Identities
from callboard.packs.questfoundry.canon.statements import told
from callboard.packs.questfoundry.canon.timeline import Timeline

_KINDS: Final = {
    ClashKind.FUNCTIONAL: "fact",
    ClashKind.ANTONYM: "opposite",
    ClashKind.EXCLUSIVE_EDGE: "relation",
    ClashKind.DEAD_ACTING: "dead",
}
_OF_ATTRIBUTES: Final = frozenset({"fact", "opposite", "relation"})
_ENTITY: Final = "entity"
_ACTING: Final = "present_in"
# A longer text is a story, and a rule opposes no story.
_MOST_WORDS: Final = 30


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two statements that exclude each other, in words: the later and what it denies."""

    kind: str
    later: str
    earlier: str
    # Whom or what they are about, for whoever looks for a mystery that excuses them.
    about: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    # Whether nothing but an error can explain it.
    is_sure: bool = True


def disagreements(
    statements: Sequence[CanonStatement], rules: ConflictRules
) -> tuple[Disagreement, ...]:
    """Return what contradicts what, as it was said; what a mystery excuses is left out."""
    made = _Comparison(statements, rules)
    found = (*made.facts(), *made.relations(), *made.order(), *made.knowledge(), *made.rules())
    mysteries = [
        each
        for each in statements
        if each.kind == "mystery" and each.text.strip() and each.since.strip()
    ]
    return tuple(
        each
        for each in dict.fromkeys(found)
        if not any(_excuses(mystery, each, rules) for mystery in mysteries)
    )


def _excuses(mystery: CanonStatement, clash: Disagreement, rules: ConflictRules) -> bool:
    """Say whether a mystery is about somebody of a clash, and about what they clash in."""
    names = [name for name in clash.about if name and words_of(name) <= words_of(mystery.about)]
    if not names or clash.kind not in _OF_ATTRIBUTES:
        return bool(names)
    meant = rules.stems(f"{clash.later} {clash.earlier}") - rules.stems(" ".join(clash.about))
    return bool(meant & rules.stems(f"{mystery.about} {mystery.text}"))


class _Comparison:
    """One look at one canon."""

    def __init__(self, statements: Sequence[CanonStatement], rules: ConflictRules) -> None:
        self._rules = rules
        self._all = statements
        self._by_id = {each.id: each for each in statements}
        self._timeline = Timeline(statements)
        self._who = Identities(statements, rules)

    def _of(self, kind: str) -> list[CanonStatement]:
        return [each for each in self._all if each.kind == kind]

    def facts(self) -> Iterator[Disagreement]:
        """Yield attributes with two values, whatever name their bearer is given."""
        groups: dict[tuple[str, str], list[CanonStatement]] = {}
        for each in self._of("fact"):
            attribute = key_form(each.attribute)
            if attribute not in self._rules.several:
                key = self._rules.functional(attribute) or attribute
                groups.setdefault((self._who.of(each.about), key), []).append(each)
        acting = self._acting()
        for (who, key), group in groups.items():
            edges = acting.get(who, [])
            if len(group) > 1 or (edges and key == "life"):
                for part in self._comparable(key, group):
                    yield from self._values(who, part, edges)

    def _comparable(self, key: str, group: list[CanonStatement]) -> list[list[CanonStatement]]:
        """Take those apart whose order nobody knows: one may be a change of the other."""
        is_fixed = key in self._rules.data.functional and not self._rules.rule(key).changes
        if is_fixed or self._timeline.are_ordered(each.since for each in group):
            return [group]
        apart: dict[str, list[CanonStatement]] = {}
        for each in group:
            apart.setdefault(each.since, []).append(each)
        return list(apart.values())

    def _values(
        self, who: str, group: list[CanonStatement], edges: list[Edge]
    ) -> Iterator[Disagreement]:
        after: list[Edge] = []
        draft = GraphDraft({}, lambda _: after, Names())
        # Somebody must be known before a death can be held against what they do later.
        draft.apply(GraphClaim(who, _ENTITY, who))
        said: dict[str, list[CanonStatement]] = {}
        timeless: dict[str, str] = {}
        for each in group:
            scope = self._timeline.scope(each.since) or ALWAYS
            attribute = key_form(each.attribute)
            claim = GraphClaim(who, _ENTITY, who, attribute, each.text, scope, each.id)
            # A death nobody dates is no reason to doubt what somebody learnt.
            after[:] = (edge for edge in edges if self._is_later(edge, each.since))
            clash = find_clash(draft, self._rules, claim)
            if clash is not None:
                source = str(clash.existing.get("source", "")) or timeless[clash.attribute]
                yield self._pair(_KINDS[clash.kind], each, self._by_id[source])
                continue
            if self._rules.meaning(attribute, each.text) is None:
                yield from self._other_value(each, said.setdefault(each.since, []))
            draft.apply(claim)
            timeless.setdefault(attribute, each.id)

    def _is_later(self, edge: Edge, since: str) -> bool:
        return bool(since) and self._timeline.is_before(since, self._by_id[edge.source].since)

    def _other_value(
        self, each: CanonStatement, said: list[CanonStatement]
    ) -> Iterator[Disagreement]:
        other = next((one for one in said if not self._rules.agree(one.text, each.text)), None)
        if other is not None:
            yield self._pair("fact", each, other)
        elif not said:
            said.append(each)

    def _acting(self) -> dict[str, list[Edge]]:
        """Return where somebody learns something, by who it is."""
        found: dict[str, list[Edge]] = {}
        for each in self._of("knowledge"):
            scope = self._timeline.scope(each.since)
            if each.since and scope is not None:
                who = self._who.of(each.about)
                edge = Edge(who, f"event:{each.since}", _ACTING, scope.to_json(), each.id)
                found.setdefault(who, []).append(edge)
        return found

    def relations(self) -> Iterator[Disagreement]:
        """Yield ties between two that cannot hold together."""
        draft = GraphDraft({}, lambda _: (), Names())
        for each in self._of("fact"):
            attribute = key_form(each.attribute)
            if attribute not in self._rules.relations:
                continue
            scope = self._timeline.scope(each.since) or ALWAYS
            src, dst = self._who.of(each.about), self._who.of(each.text)
            claim = EdgeClaim(src, dst, attribute, scope, source=each.id)
            clash = find_clash(draft, self._rules, claim)
            if clash is not None:
                other = self._by_id[str(clash.existing.get("source", ""))]
                yield self._pair("relation", each, other)
            else:
                draft.apply(claim)

    def order(self) -> Iterator[Disagreement]:
        """Yield events that run in a circle."""
        for later, earlier in self._timeline.ways_round():
            yield Disagreement("order", later, earlier, self._timeline.circle)

    def knowledge(self) -> Iterator[Disagreement]:
        """Yield who knows of an event before it happens."""
        events = {
            key_form(name): each
            for each in self._of("event")
            for name in (each.about, each.text)
            if key_form(name)
        }
        for each in self._of("knowledge"):
            event = events.get(key_form(each.text))
            if (
                event is not None
                and each.since
                and self._timeline.is_before(each.since, event.about)
            ):
                yield self._pair("foreknowledge", each, event)

    def rules(self) -> Iterator[Disagreement]:
        """Yield rules of the world that deny each other, and what may break one of them."""
        known = _RuleShelf(self._rules)
        for each in self._of("constraint"):
            for other in known.opposed_to(each):
                yield self._pair("rule", each, other)
            known.add(each)
        for kind in ("answer", "event", "fact"):
            for each in self._of(kind):
                for other in known.opposed_to(each):
                    yield self._pair("invariant", each, other, is_sure=False)

    def _pair(
        self, kind: str, later: CanonStatement, earlier: CanonStatement, *, is_sure: bool = True
    ) -> Disagreement:
        about = tuple(dict.fromkeys((later.about, earlier.about)))
        ids = (later.id, earlier.id)
        return Disagreement(kind, told(later), told(earlier), about, ids, is_sure)


class _RuleShelf:
    """Rules of the world by their words, so that only those with words in common are compared."""

    def __init__(self, rules: ConflictRules) -> None:
        self._rules = rules
        self._by_stem: dict[str, list[tuple[CanonStatement, frozenset[str]]]] = {}

    def add(self, rule: CanonStatement) -> None:
        """Take a rule in."""
        stems = self._rules.stems(rule.text)
        for stem in stems:
            self._by_stem.setdefault(stem, []).append((rule, stems))

    def opposed_to(self, statement: CanonStatement) -> Iterable[CanonStatement]:
        """Return the rules that a statement denies, or that deny it."""
        if not self._by_stem:
            return ()
        text = told(statement) if statement.kind == "fact" else statement.text
        if len(text.split()) > _MOST_WORDS:
            return ()
        stems = self._rules.stems(text)
        near = {
            rule.id: (rule, shared)
            for stem in stems
            for rule, other in self._by_stem.get(stem, ())
            if (shared := self._rules.shared(stems, other))
        }
        return [
            rule
            for rule, shared in near.values()
            if self._rules.are_opposed(rule.text, text, shared)
        ]
