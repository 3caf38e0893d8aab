"""Evidence: a citation in a reply, and what code found when it checked it."""

from dataclasses import dataclass
from enum import StrEnum


class EvidenceKind(StrEnum):
    """What a citation points at."""

    FILE = "file"
    SLOT = "slot"
    RECEIPT = "receipt"
    SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One cited source; `verified` is set by code only, never by a model."""

    kind: EvidenceKind
    source: str
    quote: str = ""
    lines: tuple[int, int] | None = None
    verified: bool = False
    reason: str = ""
