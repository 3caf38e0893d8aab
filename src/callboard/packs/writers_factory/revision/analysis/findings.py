"""What an analysis of a scene says: scores, issues that quote the scene, and a judge's verdict.

Values and their stored shape only; who gives the points is decided elsewhere. No answer of a judge
is trusted: numbers are held to their range, texts to a length, and whether a quote is true is
decided by whoever has the scene.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema

from callboard.choreography.answers import Answer, at_most, choices, shortened
from callboard.core.canonical import Json
from callboard.packs.writers_factory.model import Severity


class Category(StrEnum):
    """What a scene is scored on."""

    VOICE = "voice_authenticity"
    PROSE = "prose_quality"
    BEAT = "beat_compliance"
    CHARACTER = "character_consistency"
    CONTINUITY = "continuity"


class Band(StrEnum):
    """What a score recommends."""

    ACCEPT = "accept"
    REVISE = "six_pass"
    REWRITE = "rewrite"


class Source(StrEnum):
    """Who found an issue."""

    SCAN = "scan"
    PRESENCE = "presence"
    CORRECTION = "correction"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Issue:
    """Something to be fixed; its quote stands word for word in the scene, at its line."""

    category: Category
    severity: Severity
    line: int
    quote: str
    problem: str
    suggestion: str = ""
    source: Source = Source.JUDGE
    pattern: str = ""
    start: int = -1
    end: int = -1

    @property
    def is_zero_tolerance(self) -> bool:
        """Whether it keeps the scene from being accepted."""
        return self.source is Source.SCAN and self.severity is Severity.ERROR

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {**asdict(self), "zero_tolerance": self.is_zero_tolerance}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Issue":
        """Read the stored shape."""
        return cls(
            Category(data["category"]),
            Severity(data["severity"]),
            int(data["line"]),
            str(data["quote"]),
            str(data["problem"]),
            str(data["suggestion"]),
            Source(data["source"]),
            str(data["pattern"]),
            int(data["start"]),
            int(data["end"]),
        )


@dataclass(frozen=True, slots=True)
class PartScore:
    """Points of one part of a category; `points` is None where nobody could give any."""

    name: str
    points: float | None
    most: float
    reason: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """The points of a category, made of its parts."""

    category: Category
    parts: tuple[PartScore, ...]
    taken_off: float = 0.0

    @property
    def most(self) -> float:
        """How many points the parts that were scored could have given."""
        return sum(part.most for part in self.parts if part.points is not None)

    @property
    def points(self) -> float | None:
        """The points, or None if no part was scored."""
        scored = [part.points for part in self.parts if part.points is not None]
        if not scored:
            return None
        return round(max(0.0, sum(scored) - self.taken_off), 2)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "category": self.category.value,
            "points": self.points,
            "most": self.most,
            "taken_off": self.taken_off,
            "parts": [asdict(part) for part in self.parts],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "CategoryScore":
        """Read the stored shape."""
        parts = tuple(PartScore(**part) for part in data["parts"])
        return cls(Category(data["category"]), parts, float(data["taken_off"]))


@dataclass(frozen=True, slots=True)
class SceneAnalysis:
    """How a scene was scored, and what is to be fixed in it."""

    scene_id: str
    text_sha256: str
    scores: tuple[CategoryScore, ...]
    issues: tuple[Issue, ...]
    total: float
    band: Band
    judged_by: str = ""
    is_fast: bool = False
    notes: tuple[str, ...] = ()

    def score(self, category: Category) -> CategoryScore:
        """Return the score of one category."""
        return next(score for score in self.scores if score.category is category)

    @property
    def zero_tolerance(self) -> tuple[Issue, ...]:
        """The issues that keep the scene from being accepted unless they are waived."""
        return tuple(issue for issue in self.issues if issue.is_zero_tolerance)

    @property
    def summary(self) -> str:
        """The score and what is to be fixed, in a few sentences."""
        scores = ", ".join(
            f"{each.category.value.replace('_', ' ')} {each.points:.0f} of {each.most:.0f}"
            for each in self.scores
            if each.points is not None
        )
        told = [f"{self.scene_id}: {self.total:.0f} of 100, {self.band.value}. {scores}."]
        # What keeps the scene from being accepted comes first: a reader may stop early.
        for issue in sorted(self.issues, key=lambda each: not each.is_zero_tolerance):
            told.append(f"Line {issue.line}, “{issue.quote}”: {issue.problem}")
        return "\n".join(told)

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "scene_id": self.scene_id,
            "text_sha256": self.text_sha256,
            "scores": [score.to_json() for score in self.scores],
            "issues": [issue.to_json() for issue in self.issues],
            "total": self.total,
            "band": self.band.value,
            "judged_by": self.judged_by,
            "is_fast": self.is_fast,
            "notes": list(self.notes),
            "summary": self.summary,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SceneAnalysis":
        """Read the stored shape."""
        return cls(
            scene_id=str(data["scene_id"]),
            text_sha256=str(data["text_sha256"]),
            scores=tuple(CategoryScore.from_json(each) for each in data["scores"]),
            issues=tuple(Issue.from_json(each) for each in data["issues"]),
            total=float(data["total"]),
            band=Band(data["band"]),
            judged_by=str(data["judged_by"]),
            is_fast=bool(data["is_fast"]),
            notes=tuple(data["notes"]),
        )


MOST_GRADE: Final = 10
MOST_ISSUES: Final = 20
# What a small model's word for a category is worth: it can tilt a score that code has made, and
# never make or break it.
WORDS: Final[Mapping[str, int]] = {"weak": 6, "fair": 7, "good": 8, "strong": 9}
_MOST_CHARS: Final = 600


def _held(score: Any) -> Any:
    return min(max(score, 0), MOST_GRADE) if isinstance(score, int | float) else score


# No bounds in what is sent: a score beyond them is held to them, and not worth another call.
_Score = Annotated[float, BeforeValidator(_held), WithJsonSchema({"type": "integer"})]
_Text = Annotated[str, shortened(_MOST_CHARS)]


class Grade(Answer):
    """A category from 0 to 10, with the words that show it."""

    score: _Score
    quote: _Text
    reason: _Text


class Charge(Answer):
    """An issue as a judge states it, not yet proven."""

    category: Category
    severity: Severity
    quote: _Text
    problem: _Text
    suggestion: _Text


class Verdict(Answer):
    """What a judge said about a scene."""

    voice_authenticity: Grade
    prose_quality: Grade
    beat_compliance: Grade
    character_consistency: Grade
    continuity: Grade
    issues: Annotated[tuple[Charge, ...], at_most(MOST_ISSUES)]

    def grade(self, category: Category) -> Grade:
        """Return the grade of a category."""
        return getattr(self, category.value)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The issues that say what is wrong, and where."""
        return tuple(each for each in self.issues if each.problem and each.quote)


def picks_of(lines: int) -> type[Answer]:
    """Return what is asked of a small model: a word per category, and the number of a line."""
    numbers = [str(number) for number in range(1, lines + 1)]
    return choices(**dict.fromkeys(Category, tuple(WORDS)), line=numbers)


def verdict_of(picks: Answer, lines: Sequence[str]) -> Verdict:
    """Return a small model's choices as a verdict."""
    said = picks.model_dump()
    quote = lines[int(said["line"]) - 1]
    grades = {
        each.value: Grade(score=WORDS[said[each.value]], quote=quote, reason="")
        for each in Category
    }
    return Verdict.model_validate({**grades, "issues": ()})
