"""Asking a model what a conversation established; a small one is only asked what a name is."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.choreography.asking import AgentCall
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Trust
from callboard.knowledge.graph import Graph
from callboard.packs.writers_factory.ground import Ground
from callboard.packs.writers_factory.memory.extraction.candidates import find_candidates
from callboard.packs.writers_factory.memory.extraction.claiming import quote_of
from callboard.packs.writers_factory.memory.extraction.reading import (
    Found,
    FoundNode,
    keep_mentioned,
    read_found,
)
from callboard.packs.writers_factory.model import JUDGE
from callboard.packs.writers_factory.staff import EXTRACTION, is_small, model_of, route_of

ASK: Final = "memory/extract"
ASK_AGAIN: Final = "memory/extract_again"
ASK_TYPE: Final = "memory/name_type"
NOT_A_THING: Final = "something else"
_SMALL_TYPES: Final = ("character", "location", "object")
_TYPES_LEFT_OUT: Final = frozenset({"project", "scene", "chapter", "beat"})
_KNOWN_NAMES: Final = 60


@dataclass(frozen=True, slots=True)
class Interview:
    """How a model is asked about conversations."""

    node_types: frozenset[str]
    edge_types: frozenset[str]
    known_names: tuple[str, ...]
    model: str | None
    temperature: float
    is_constrained: bool

    def knowing(self, names: Iterable[str]) -> "Interview":
        """Return the same interview with names nobody is asked about again."""
        return replace(self, known_names=(*self.known_names, *names))


def interview_on(ground: Ground, graph: Graph, known_names: Iterable[str]) -> Interview:
    """Return how the model that extracts in a project is asked about the things of a graph."""
    vocabulary = graph.vocabulary()
    return Interview(
        node_types=vocabulary.nodes,
        edge_types=vocabulary.edges,
        known_names=tuple(known_names),
        model=route_of(ground, JUDGE, intent=EXTRACTION),
        temperature=ground.settings.consolidation.temperature,
        is_constrained=is_small(ground, model_of(ground, JUDGE, intent=EXTRACTION)),
    )


async def find_in_text(stage: Stage, key: str, text: str, interview: Interview) -> Found | None:
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


async def _ask(stage: Stage, key: str, prompt: str, text: str, interview: Interview) -> str:
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


async def _ask_small(stage: Stage, key: str, text: str, interview: Interview) -> Found:
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
    return Found(tuple(nodes), (), dropped)


def _list(names: Iterable[str]) -> Content:
    return Content(", ".join(sorted(names)), "pack", Trust.TRUSTED)
