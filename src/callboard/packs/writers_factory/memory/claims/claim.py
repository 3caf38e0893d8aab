"""Claims: what somebody said about the story, not yet believed. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from callboard.core.canonical import Json
from callboard.packs.writers_factory.memory.claims.scope import ALWAYS, SceneRange


class OriginKind(StrEnum):
    """Where a claim was found."""

    ENTRY = "entry"
    TURN = "turn"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Origin:
    """The remembered decision, the turn of conversation or the file behind a claim."""

    kind: OriginKind
    id: str

    def __str__(self) -> str:
        """Render as the source of a node."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """Read the rendered form."""
        kind, _, found = text.partition(":")
        return cls(OriginKind(kind), found)


@dataclass(frozen=True, slots=True)
class Claim:
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


AnyClaim = Claim | EdgeClaim


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything one origin says."""

    origin: Origin
    claims: tuple[AnyClaim, ...]


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
    return Claim(
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
