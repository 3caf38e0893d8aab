"""Claims: what somebody said about the story, not yet believed. Values only."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.core.canonical import Json, composed
from callboard.knowledge.graph import Node
from callboard.library.story.contradiction.scope import ALWAYS, SceneRange

_APART: Final = re.compile(r"[^\w]+|_+")
_POSSESSIVE: Final = re.compile(r"['\u2019]s\b")


def key_form(name: str) -> str:
    """Return a name as it stands in a key: `Mickey O'Dea` is `mickey_o_dea`."""
    plain = _POSSESSIVE.sub("", composed(name).casefold())
    return "_".join(part for part in _APART.split(plain) if part)


class Names:
    """Every name and alias known, and what it means."""

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """Take what is known already."""
        self._meant: dict[str, dict[str, str]] = {}
        for node in nodes:
            self.add(node.id, node.type, (node.name, *node.aliases))

    def add(self, node_id: str, node_type: str, names: Iterable[str]) -> None:
        """Learn what a thing is called; its id's own slug counts as a name too."""
        for name in (*names, node_id.partition(":")[2]):
            form = key_form(name)
            if form:
                self._meant.setdefault(form, {})[node_id] = node_type

    def find(self, name: str, node_type: str | None = None) -> str | None:
        """Return the id of what a name means, whatever its case."""
        return self._one(key_form(name), node_type)

    def split_key(self, key: str, node_type: str | None = None) -> tuple[str | None, str]:
        """Split `<entity>_<attribute>` behind the longest name that is known."""
        words = key_form(key).split("_")
        for count in range(len(words), 0, -1):
            found = self._one("_".join(words[:count]), node_type)
            if found is not None:
                return found, "_".join(words[count:])
        return None, "_".join(words)

    def _one(self, form: str, node_type: str | None) -> str | None:
        meant = self._meant.get(form)
        if not meant:
            return None
        if len(meant) == 1:
            return next(iter(meant))
        fitting = [node_id for node_id, each in meant.items() if each == node_type]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, slots=True)
class GraphClaim:
    """A thing exists, and perhaps has an attribute; `attribute` is empty where it only exists."""

    node_id: str
    type: str
    name: str
    attribute: str = ""
    value: Json = None
    scope: SceneRange = ALWAYS
    source: str = ""
    quote: str = ""
    aliases: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "shape": "attribute",
            "node_id": self.node_id,
            "type": self.type,
            "name": self.name,
            "attribute": self.attribute,
            "value": self.value,
            "scope": self.scope.to_json(),
            "source": self.source,
            "quote": self.quote,
            "aliases": list(self.aliases),
        }


@dataclass(frozen=True, slots=True)
class EdgeClaim:
    """Two things stand in a relation."""

    src: str
    dst: str
    type: str
    scope: SceneRange = ALWAYS
    attrs: Mapping[str, Json] = field(default_factory=dict[str, Json])
    source: str = ""
    quote: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "shape": "edge",
            "src": self.src,
            "dst": self.dst,
            "type": self.type,
            "scope": self.scope.to_json(),
            "attrs": dict(self.attrs),
            "source": self.source,
            "quote": self.quote,
        }


AnyClaim = GraphClaim | EdgeClaim


def claim_from_json(data: Mapping[str, Any]) -> AnyClaim:
    """Read the stored shape of either claim."""
    scope = SceneRange.from_json(data["scope"])
    if data["shape"] == "edge":
        return EdgeClaim(
            data["src"],
            data["dst"],
            data["type"],
            scope,
            data["attrs"],
            data["source"],
            data["quote"],
        )
    return GraphClaim(
        data["node_id"],
        data["type"],
        data["name"],
        data["attribute"],
        data["value"],
        scope,
        data["source"],
        data["quote"],
        tuple(data["aliases"]),
    )
