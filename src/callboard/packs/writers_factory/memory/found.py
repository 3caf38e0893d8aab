"""Reading what a model found in a conversation: elements or JSON, checked against the text.

A thing whose name is not in the text was not found there, whatever the model says. Nothing that is
read here can do anything; it is data about a story.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.library.story.lexicon import word_list
from callboard.library.story.text.words import stop_words
from callboard.packs.writers_factory.memory.decisions import without_controls
from callboard.replies import Extracted, extract_json
from callboard.replies.code import read_tag
from callboard.replies.evidence import normalise

_ELEMENT: Final = re.compile(r"<(node|edge|none|graph|nodes|edges)\b", re.IGNORECASE)
_MOST: Final = 60
_NAME_CHARS: Final = 80
_VALUE_CHARS: Final = 300
_RESERVED: Final = frozenset(
    {"id", "type", "name", "aliases", "attrs", "src", "dst", "source", "target", "quote"}
)
_SCOPES: Final = ("since_scene", "until_scene")


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A thing a model says it found."""

    type: str
    name: str
    aliases: tuple[str, ...] = ()
    attrs: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class FoundEdge:
    """A relation a model says it found; the ends are names."""

    src: str
    dst: str
    type: str
    attrs: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class FoundGraph:
    """What was found; `dropped` counts what was said and cannot be used."""

    nodes: tuple[FoundNode, ...] = ()
    edges: tuple[FoundEdge, ...] = ()
    dropped: int = 0


def read_found(text: str) -> FoundGraph | None:
    """Return what a reply lists, or None if it is no list of things and relations."""
    found = _read_json(text)
    return found if found is not None else _read_elements(text)


def keep_mentioned(
    found: FoundGraph, text: str, node_types: Collection[str], edge_types: Collection[str]
) -> FoundGraph:
    """Return only things the text names, of known types, and relations of these."""
    plain = normalise(text).casefold()
    nodes = [
        each
        for each in found.nodes
        if each.type in node_types
        and is_mentioned(plain, each.name)
        and any(map(names_something, each.name.split()))
    ]
    kept_names = {each.name.casefold() for each in nodes}
    edges = [
        each
        for each in found.edges
        if each.type in edge_types
        and each.src.casefold() != each.dst.casefold()
        and all(
            end.casefold() in kept_names or is_mentioned(plain, end) for end in (each.src, each.dst)
        )
    ]
    dropped = len(found.nodes) - len(nodes) + len(found.edges) - len(edges)
    return FoundGraph(tuple(nodes), tuple(edges), found.dropped + dropped)


def names_something(word: str) -> bool:
    """Say whether a word can be of a name: no `You're`, no `Nobody`, however it is written."""
    plain = word.replace("\u2019", "'").casefold()
    bare, mark, _rest = plain.partition("'")
    if not mark:
        return plain not in word_list("sentence_starters")
    return bare not in stop_words() and not re.search(r"n't$|'(?:re|ll|ve|m|d)$", plain)


def is_mentioned(plain_text: str, name: str) -> bool:
    """Say whether a name stands as whole words in a text in its normal form, case aside."""
    wanted = normalise(name).casefold()
    if not wanted:
        return False
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain_text) is not None


def _read_json(text: str) -> FoundGraph | None:
    extracted = extract_json(text)
    if not isinstance(extracted, Extracted):
        return None
    data = extracted.value
    if isinstance(data, list) and all(isinstance(each, dict) for each in cast("list[Any]", data)):
        listed = cast("list[dict[str, Any]]", data)
        data = {
            "nodes": [each for each in listed if "name" in each],
            "edges": [each for each in listed if "name" not in each],
        }
    if not isinstance(data, dict):
        return None
    told = cast("dict[str, Any]", data)
    if "nodes" not in told and "edges" not in told:
        return None
    return _found(_objects(told.get("nodes")), _objects(told.get("edges")))


def _objects(value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[Any]", value)[:_MOST]
    return [cast("dict[str, Any]", each) for each in items if isinstance(each, dict)]


def _read_elements(text: str) -> FoundGraph | None:
    nodes: list[Mapping[str, Any]] = []
    edges: list[Mapping[str, Any]] = []
    is_list = False
    for hit in _ELEMENT.finditer(text):
        tag = read_tag(text, hit.start())
        if tag is None:
            continue
        is_list = True
        kind = tag.name.lower()
        if kind == "node" and len(nodes) < _MOST:
            nodes.append(tag.attributes)
        elif kind == "edge" and len(edges) < _MOST:
            edges.append(tag.attributes)
    return _found(nodes, edges) if is_list else None


def _found(nodes: Iterable[Mapping[str, Any]], edges: Iterable[Mapping[str, Any]]) -> FoundGraph:
    read_nodes = [_node(each) for each in nodes]
    read_edges = [_edge(each) for each in edges]
    kept_nodes = tuple(each for each in read_nodes if each is not None)
    kept_edges = tuple(each for each in read_edges if each is not None)
    dropped = len(read_nodes) - len(kept_nodes) + len(read_edges) - len(kept_edges)
    return FoundGraph(kept_nodes, kept_edges, dropped)


def _node(told: Mapping[str, Any]) -> FoundNode | None:
    kind, name = _word(told.get("type")), _text(told.get("name"), _NAME_CHARS)
    if not kind or not name:
        return None
    aliases = told.get("aliases")
    listed: list[Any] = (
        cast("list[Any]", aliases) if isinstance(aliases, list) else str(aliases or "").split(",")
    )
    names = tuple(each for each in (_text(alias, _NAME_CHARS) for alias in listed) if each)
    return FoundNode(kind, name, names, _attrs(told))


def _edge(told: Mapping[str, Any]) -> FoundEdge | None:
    src = _text(told.get("src") or told.get("source"), _NAME_CHARS)
    dst = _text(told.get("dst") or told.get("target"), _NAME_CHARS)
    kind = _word(told.get("type"))
    if not src or not dst or not kind:
        return None
    return FoundEdge(_bare(src), _bare(dst), kind, _attrs(told))


def _attrs(told: Mapping[str, Any]) -> dict[str, Json]:
    inner = told.get("attrs")
    flat = {key: value for key, value in told.items() if key not in _RESERVED}
    if isinstance(inner, dict):
        flat.update(cast("dict[str, Any]", inner))
    attrs: dict[str, Json] = {}
    for key, value in flat.items():
        name = _word(key)
        if name and isinstance(value, str | int | float | bool):
            text = _text(value, _VALUE_CHARS)
            if text:
                attrs[name] = value if isinstance(value, bool | int | float) else text
    return attrs


def _bare(name: str) -> str:
    """Return the name of an end that was given as an id."""
    kind, mark, slug = name.partition(":")
    return slug.replace("-", " ").replace("_", " ") if mark and kind.isidentifier() else name


def _word(value: Any) -> str:
    return re.sub(r"[^a-z0-9]+", "_", str(value or "").strip().lower()).strip("_")[:_NAME_CHARS]


def _text(value: Any, most: int) -> str:
    if value is None:
        return ""
    return " ".join(without_controls(str(value)).split())[:most]


_STATES: Final = frozenset({"alive", "status", "life", "injured", "location", "whereabouts"})


def since_scene(found: FoundGraph, scene_id: str) -> FoundGraph:
    """Return findings whose states begin with a scene: who dies in it lived before."""

    def dated(node: FoundNode) -> FoundNode:
        if not node.attrs or not _STATES.issuperset(node.attrs):
            return node
        return replace(node, attrs={"since_scene": scene_id, **node.attrs})

    return replace(found, nodes=tuple(dated(node) for node in found.nodes))
