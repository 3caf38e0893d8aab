"""What a pack brings to a conference: the rules of evidence, and calls that code can prepare."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from callboard.choreography.grounding import Grounding
from callboard.core.canonical import Json
from callboard.tools import ToolContext


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A tool call with its arguments made by code; a small model only has to pick it."""

    tool: str
    args: dict[str, Json]
    label: str

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {"tool": self.tool, "args": self.args, "label": self.label}

    @classmethod
    def from_json(cls, data: Json) -> "ProposedCall":
        """Read the stored shape."""
        return cls(**cast("dict[str, Any]", data))


ProposeCalls = Callable[[ToolContext, str], Sequence[ProposedCall]]
"""Returns the calls that would help with a message, the most useful first. Asks no model."""

KnownNames = Callable[[ToolContext], Collection[str]]
"""Returns the names the project is known to hold."""


def _no_calls(_context: ToolContext, _message: str) -> Sequence[ProposedCall]:
    return ()


def _no_names(_context: ToolContext) -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Supplies:
    """What a pack brings; without hooks a small Chief gathers nothing."""

    grounding: Grounding
    propose: ProposeCalls = field(default=_no_calls)
    names: KnownNames = field(default=_no_names)


Bring = Callable[[], Supplies]
"""Brings the supplies when they are first needed: a pack reads its files then, not on import."""
