"""Findings: what tools brought for one message, cut to limits and laid out as one text.

Whoever is shown the text sees the same bytes; the whole of each result lies in its receipt.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import Content, Trust
from callboard.tools import fit_summary

_LEAST_BYTES: Final = 120
"""Less room than this is no room: a result that short tells nothing."""


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """One execution on an agent's behalf; a failed one says why in its text."""

    tool: str
    args: dict[str, Json]
    receipt_id: str
    text: str
    preview: str = ""
    has_failed: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "ToolFinding":
        """Read the stored shape."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class ByteLimits:
    """How much of the findings is shown: of one, and of all together."""

    per_step: int
    in_all: int

    def room(self, taken: Sequence[ToolFinding]) -> int:
        """Return how many bytes the next finding may have; 0 when there is no point."""
        left = self.in_all - sum(len(each.text.encode()) for each in taken)
        return 0 if left < _LEAST_BYTES else min(self.per_step, left)


def fit_bytes(text: str, limit_bytes: int) -> str:
    """Return a text of at most so many bytes, cut after a whole line and saying so."""
    budget = limit_bytes
    fitted = fit_summary(text, budget)
    while len(fitted.encode()) > limit_bytes and budget > 0:
        budget -= max(1, (len(fitted.encode()) - limit_bytes) // 4)
        fitted = fit_summary(text, budget)
    return fitted


def lay_out(findings: Sequence[ToolFinding]) -> Content:
    """Return the findings as agents are shown them, each with the receipt that proves it."""
    parts = [
        f"[{number}] {each.tool} {compact_json(each.args)}\n"
        f"receipt_id: {each.receipt_id}\n{each.text}".rstrip()
        for number, each in enumerate(findings, start=1)
    ]
    return Content("\n\n".join(parts), "tools", Trust.UNTRUSTED)
