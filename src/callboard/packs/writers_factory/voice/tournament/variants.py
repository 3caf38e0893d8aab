"""Variants: one passage of a tournament with its scores, as it is stored and shown."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.prose import Stylometrics

# What each dimension can give; together a hundred.
DIMENSIONS: Final[Mapping[str, int]] = {
    "voice_authenticity": 25,
    "prose_quality": 20,
    "rhythm": 15,
    "interiority": 15,
    "dialogue": 10,
    "genre_and_world_fit": 15,
}


class VariantState(StrEnum):
    """How far a variant has come."""

    PENDING = "pending"
    USABLE = "usable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """One score with the words it rests on; `source` is who gave it, `judge` or `code`."""

    dimension: str
    score: float
    most: int
    quote: str
    reason: str = ""
    source: str = "code"


@dataclass(frozen=True, slots=True)
class Variant:
    """A passage one model wrote by one strategy; `index` counts that model's variants from 1."""

    agent: str
    strategy: str
    index: int
    state: VariantState = VariantState.PENDING
    text: str = ""
    words: int = 0
    flags: tuple[str, ...] = ()
    error: str = ""
    scores: tuple[DimensionScore, ...] = ()
    hits: tuple[Mapping[str, Json], ...] = ()
    metrics: Stylometrics = field(default_factory=Stylometrics)
    judge: str = ""

    @property
    def id(self) -> str:
        """How it is named: `agent:strategy:n`."""
        return f"{self.agent}:{self.strategy}:{self.index}"

    @property
    def is_usable(self) -> bool:
        """Whether it can be chosen."""
        return self.state is VariantState.USABLE

    @property
    def total(self) -> float:
        """All scores together, out of 100."""
        return round(sum(each.score for each in self.scores), 1)

    def failed(self, why: str) -> "Variant":
        """Return the same variant, given up."""
        return replace(self, state=VariantState.FAILED, error=why)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        told = asdict(replace(self, metrics=Stylometrics()))
        lists = {name: [*told[name]] for name in ("flags", "scores", "hits")}
        metrics = self.metrics.to_json()
        return {**told, **lists, "id": self.id, "total": self.total, "metrics": metrics}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Variant":
        """Read the stored shape."""
        return cls(
            agent=data["agent"],
            strategy=data["strategy"],
            index=data["index"],
            state=VariantState(data["state"]),
            text=data["text"],
            words=data["words"],
            flags=tuple(data["flags"]),
            error=data["error"],
            scores=tuple(DimensionScore(**each) for each in data["scores"]),
            hits=tuple(data["hits"]),
            metrics=Stylometrics.from_json(data["metrics"]),
            judge=data["judge"],
        )
