"""Asking a model what a conversation established; a small one is only asked what a name is."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Trust
from callboard.knowledge.graph import Graph, node_id
from callboard.library.story.contradiction import (
    AnyClaim,
    ConflictRules,
    EdgeClaim,
    GraphClaim,
    Names,
    SceneRange,
    words_of,
)
from callboard.library.story.lexicon import word_list
from callboard.packs.writers_factory.memory.found import (
    FoundEdge,
    FoundGraph,
    FoundNode,
    is_mentioned,
    keep_mentioned,
    names_something,
    read_found,
)
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.workspace import (
    EXTRACTION,
    Workspace,
    is_small,
    model_of,
    route_of,
)
from callboard.replies.evidence import normalise

MOST: Final = 8
_RUN: Final = re.compile(r"(?<![\w'\u2019])[A-Z][\w'\u2019-]*(?:[ \t]+[A-Z][\w'\u2019-]*)*")
# Far enough to see the end of a sentence behind a few spaces.
_LOOK_BACK: Final = 40
_SMALL: Final = re.compile(r"(?<![\w'\u2019])[a-z]+")
_SENTENCE_END: Final = re.compile(r"[.!?:;\"\u201c\u201d()\n]\s*$")


def find_candidates(text: str, *, most: int = MOST) -> tuple[str, ...]:
    """Return the names in a text, those that occur most first."""
    counts: dict[str, int] = {}
    inside: set[str] = set()
    for hit in _RUN.finditer(text):
        before = text[max(0, hit.start() - _LOOK_BACK) : hit.start()]
        opens = hit.start() == 0 or _SENTENCE_END.search(before) is not None
        name = _bare_name(hit[0], opens=opens)
        if name:
            counts[name] = counts.get(name, 0) + 1
            if not opens or " " in name:
                inside.add(name)
    # A word that only ever opens a sentence may be any word.
    small = set(_SMALL.findall(text))
    known = [
        name
        for name in counts
        if (name in inside or counts[name] > 1) and (" " in name or name.lower() not in small)
    ]
    return tuple(sorted(known, key=lambda name: (-counts[name], text.find(name)))[:most])


def _bare_name(run: str, *, opens: bool) -> str:
    words = [re.sub(r"['\u2019]s$", "", word).strip("'\u2019-") for word in run.split()]
    words = [word for word in words if names_something(word)]
    starters = word_list("sentence_starters")
    if opens and len(words) > 1 and words[0].casefold() in starters:
        words = words[1:]
    common = word_list("not_names")
    kept = [word for word in words if len(word) > 1]
    if not kept or (len(kept) == 1 and kept[0].casefold() in (common | starters)):
        return ""
    return " ".join(kept)


_SCOPES = frozenset({"since_scene", "until_scene"})


class Claiming:
    """Turns findings into claims, with the names that are known."""

    def __init__(self, names: Names, rules: ConflictRules) -> None:
        """Take what things are called and what values mean."""
        self._names = names
        self._rules = rules

    def claims(self, found: FoundGraph, text: str, source: str) -> tuple[AnyClaim, ...]:
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
            GraphClaim(known, kind, node.name, source=source, quote=quote, aliases=aliases)
        ]
        scope = SceneRange.from_json(dict(node.attrs))
        for attribute, value in node.attrs.items():
            if attribute not in _SCOPES and self.is_said(attribute, value, plain):
                claims.append(
                    GraphClaim(known, kind, node.name, attribute, value, scope, source, quote)
                )
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


ASK: Final = "memory/extract"
ASK_AGAIN: Final = "memory/extract_again"
ASK_TYPE: Final = "memory/name_type"
NOT_A_THING: Final = "something else"
_SMALL_TYPES: Final = ("character", "location", "object")
_TYPES_LEFT_OUT: Final = frozenset({"project", "scene", "chapter", "beat"})
_KNOWN_NAMES: Final = 60


@dataclass(frozen=True, slots=True)
class TextInterview:
    """How a model is asked about conversations."""

    node_types: frozenset[str]
    edge_types: frozenset[str]
    known_names: tuple[str, ...]
    model: str | None
    temperature: float
    is_constrained: bool

    def knowing(self, names: Iterable[str]) -> "TextInterview":
        """Return the same interview with names nobody is asked about again."""
        return replace(self, known_names=(*self.known_names, *names))


def interview_on(workspace: Workspace, graph: Graph, known_names: Iterable[str]) -> TextInterview:
    """Return how the model that extracts in a project is asked about the things of a graph."""
    vocabulary = graph.vocabulary()
    return TextInterview(
        node_types=vocabulary.nodes,
        edge_types=vocabulary.edges,
        known_names=tuple(known_names),
        model=route_of(workspace, JUDGE, intent=EXTRACTION),
        temperature=workspace.settings.consolidation.temperature,
        is_constrained=is_small(workspace, model_of(workspace, JUDGE, intent=EXTRACTION)),
    )


async def find_in_text(
    stage: Stage, key: str, text: str, interview: TextInterview
) -> FoundGraph | None:
    """Return what a text establishes, or None if nobody could tell."""
    if interview.is_constrained:
        return await _ask_small(stage, key, text, interview)
    node_types = interview.node_types - _TYPES_LEFT_OUT
    for number, prompt in enumerate((ASK, ASK_AGAIN)):
        reply = await _ask(stage, f"{key}/{number}", prompt, text, interview)
        found = read_found(reply)
        if found is not None:
            return keep_mentioned(found, text, node_types, interview.edge_types)
    return None


async def _ask(stage: Stage, key: str, prompt: str, text: str, interview: TextInterview) -> str:
    known = ", ".join(interview.known_names[:_KNOWN_NAMES])
    inputs: dict[str, Json] = {
        "conversation": Content(text, "conversation", Trust.UNTRUSTED),
        "node_types": _list(interview.node_types - _TYPES_LEFT_OUT),
        "edge_types": _list(interview.edge_types),
        "known": Content(f"Known already: {known}" if known else "", "graph", Trust.UNTRUSTED),
    }
    if prompt == ASK_AGAIN:
        del inputs["known"]
    said = await stage.ask_call(
        AgentCall(
            key=key,
            agent_id=JUDGE,
            prompt=prompt,
            inputs=inputs,
            schema=None,
            slot=None,
            max_tokens=None,
            priority=stage.priority,
            model=interview.model,
            temperature=interview.temperature,
        )
    )
    return str(cast("dict[str, Any]", said)["text"]) if isinstance(said, dict) else str(said)


async def _ask_small(stage: Stage, key: str, text: str, interview: TextInterview) -> FoundGraph:
    """Have a small model say what names are; it adds nothing that code did not find."""
    known = {name.casefold() for name in interview.known_names}
    nodes: list[FoundNode] = []
    dropped = 0
    for name in find_candidates(text):
        if name.casefold() in known:
            continue
        kind = await stage.choose(
            f"{key}/{digest(name)[:10]}",
            JUDGE,
            [*_SMALL_TYPES, NOT_A_THING],
            prompt=ASK_TYPE,
            model=interview.model,
            sentence=Content(quote_of(text, name), "conversation", Trust.UNTRUSTED),
            name=Content(name, "conversation", Trust.UNTRUSTED),
        )
        if kind == NOT_A_THING:
            dropped += 1
        else:
            nodes.append(FoundNode(kind, name))
    return FoundGraph(tuple(nodes), (), dropped)


def _list(names: Iterable[str]) -> Content:
    return Content(", ".join(sorted(names)), "pack", Trust.TRUSTED)
