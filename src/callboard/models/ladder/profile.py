"""A model's profile: what it was measured to be good at. Values only; nothing is asked here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.models.ladder.shapes import Shape
from callboard.models.types import Rung, Usage

VERSION: Final = 1
_GOOD_RATE: Final = 0.9
_ORDER: Final = (Rung.GRAMMAR, Rung.SCHEMA, Rung.TAGGED, Rung.SMALLER)


@dataclass(frozen=True, slots=True)
class Score:
    """How many of so many tries were valid at the first go."""

    tries: int
    valid: int

    @property
    def rate(self) -> float:
        """The share of valid replies; 0 when nothing was tried."""
        return self.valid / self.tries if self.tries else 0.0


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a trial of one model showed, on this machine.

    `scores` has the valid replies by rung and shape of schema. `sample` is how it talks.
    """

    model: str
    measured_at: int
    has_grammar: bool = False
    scores: Mapping[Rung, Mapping[Shape, Score]] = field(
        default_factory=dict[Rung, Mapping[Shape, Score]]
    )
    first_token_ms: int | None = None
    tokens_per_second: float | None = None
    usage: Usage = field(default_factory=Usage)
    sample: str = ""

    def first_rung(self, shape: Shape) -> Rung:
        """Return where to start for a schema: the surest rung that works, else the best one."""
        measured = [
            (rung, self.scores[rung][shape].rate)
            for rung in _ORDER
            if shape in self.scores.get(rung, {})
        ]
        if not measured:
            return Rung.GRAMMAR if self.has_grammar else Rung.SCHEMA
        for rung, rate in measured:
            if rate >= _GOOD_RATE:
                return rung
        return max(measured, key=lambda each: each[1])[0]

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "version": VERSION,
            "model": self.model,
            "measured_at": self.measured_at,
            "has_grammar": self.has_grammar,
            "first_token_ms": self.first_token_ms,
            "tokens_per_second": self.tokens_per_second,
            "usage": {
                "input_tokens": self.usage.input_tokens,
                "output_tokens": self.usage.output_tokens,
                "cached_tokens": self.usage.cached_tokens,
            },
            "sample": self.sample,
            "scores": {
                rung.value: {
                    shape.value: {"tries": score.tries, "valid": score.valid}
                    for shape, score in shapes.items()
                }
                for rung, shapes in self.scores.items()
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ModelProfile":
        """Read the stored shape; raise ValueError, KeyError or TypeError on any other."""
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']!r} is not {VERSION}")
        scores = {
            Rung(rung): {Shape(shape): Score(**score) for shape, score in shapes.items()}
            for rung, shapes in data["scores"].items()
        }
        return cls(
            model=data["model"],
            measured_at=data["measured_at"],
            has_grammar=data["has_grammar"],
            scores=scores,
            first_token_ms=data["first_token_ms"],
            tokens_per_second=data["tokens_per_second"],
            usage=Usage(**data["usage"]),
            sample=data["sample"],
        )
