"""What the Foreman is reminded of, line by line. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnowledgeLine:
    """A fact in a prompt; `origin` is `kb` for a decision and `graph` for a hard fact."""

    category: str
    key: str
    value: str
    origin: str = "kb"
    source: str = ""


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """Something about the collaboration: a correction, a preference, a point of continuity."""

    kind: str
    text: str
    key: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class TimelineItem:
    """A decision as it was made once; `is_current` says whether it still stands."""

    at: int
    category: str
    key: str
    value: str
    source: str
    state: str
    is_current: bool
