"""Claiming: what was found in a turn of the conversation becomes claims about the story.

An attribute is claimed only if the turn says it: its words stand there, or words of the same
meaning do.
"""

from callboard.core.canonical import Json
from callboard.knowledge.graph import node_id
from callboard.packs.writers_factory.memory.claims import (
    AnyClaim,
    Claim,
    EdgeClaim,
    Names,
    SceneRange,
)
from callboard.packs.writers_factory.memory.conflicts import ConflictRules, words_of
from callboard.packs.writers_factory.memory.extraction.reading import (
    Found,
    FoundEdge,
    FoundNode,
    is_mentioned,
)
from callboard.replies.evidence import normalise

_SCOPES = frozenset({"since_scene", "until_scene"})


class Claiming:
    """Turns findings into claims, with the names that are known."""

    def __init__(self, names: Names, rules: ConflictRules) -> None:
        """Take what things are called and what values mean."""
        self._names = names
        self._rules = rules

    def claims(self, found: Found, text: str, source: str) -> tuple[AnyClaim, ...]:
        """Return the claims of what was found in a text."""
        claims: list[AnyClaim] = []
        ids: dict[str, str] = {}
        for node in found.nodes:
            known = self._names.find(node.name, node.type)
            ids[node.name.casefold()] = known or node_id(node.type, node.name)
            claims += self._node_claims(ids[node.name.casefold()], node, text, source)
        for edge in found.edges:
            claim = self._edge_claim(edge, ids, text, source)
            if claim is not None:
                claims.append(claim)
        return tuple(claims)

    def _node_claims(self, known: str, node: FoundNode, text: str, source: str) -> list[AnyClaim]:
        kind = known.partition(":")[0]
        plain = normalise(text).casefold()
        aliases = tuple(alias for alias in node.aliases if is_mentioned(plain, alias))
        quote = quote_of(text, node.name)
        claims: list[AnyClaim] = [
            Claim(known, kind, node.name, source=source, quote=quote, aliases=aliases)
        ]
        scope = SceneRange.from_json(dict(node.attrs))
        for attribute, value in node.attrs.items():
            if attribute not in _SCOPES and self.is_said(attribute, value, plain):
                claims.append(Claim(known, kind, node.name, attribute, value, scope, source, quote))
        return claims

    def _edge_claim(
        self, edge: FoundEdge, ids: dict[str, str], text: str, source: str
    ) -> EdgeClaim | None:
        ends = [ids.get(end.casefold()) or self._names.find(end) for end in (edge.src, edge.dst)]
        src, dst = ends
        if src is None or dst is None or src == dst:
            return None
        scope = SceneRange.from_json(dict(edge.attrs))
        return EdgeClaim(src, dst, edge.type, scope, {}, source, quote_of(text, edge.src))

    def is_said(self, attribute: str, value: Json, plain_text: str) -> bool:
        """Say whether a text in its normal form says what an attribute is."""
        words = words_of(plain_text)
        functional = self._rules.functional(attribute)
        meaning = self._rules.meaning(attribute, value)
        if functional is not None and meaning is not None:
            folded = self._rules.rule(functional).values.get(meaning)
            if folded is not None:
                return bool(words & {meaning, *folded})
        said = words_of(str(value))
        return bool(said) and said <= words


def quote_of(text: str, name: str) -> str:
    """Return the line of a text in which a name stands, cut to what a reader needs."""
    wanted = normalise(name).casefold()
    for line in text.splitlines():
        if is_mentioned(normalise(line).casefold(), wanted):
            return " ".join(line.split())[:240]
    return ""
