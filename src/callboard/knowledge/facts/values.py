"""Values of the soft facts: an entry, the states it can be in, what it was before."""

from dataclasses import dataclass
from enum import StrEnum


class FactState(StrEnum):
    """Open until consolidation promotes it, or finds that it contradicts what is known."""

    OPEN = "open"
    PROMOTED = "promoted"
    CONFLICTED = "conflicted"


@dataclass(frozen=True, slots=True)
class FactRevision:
    """What a fact said before it was said anew."""

    value: str
    source: str
    state: FactState
    since: int
    until: int


@dataclass(frozen=True, slots=True)
class KBEntry:
    """Something that was said; category and key identify it. Lists leave `history` empty."""

    id: str
    category: str
    key: str
    value: str
    source: str
    state: FactState
    created_at: int
    updated_at: int
    superseded_by: str | None = None
    history: tuple[FactRevision, ...] = ()

    @property
    def is_promoted(self) -> bool:
        """Whether it has become part of the graph."""
        return self.state is FactState.PROMOTED
