"""The verdict of a judge: what it is asked for, and what of its answer can be used.

Nothing here trusts an answer: numbers are held to their range, texts to a length, and whether a
quote is true is decided by whoever has the scene.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, WithJsonSchema

from callboard.choreography.answers import Answer, at_most, choices, shortened
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.revision.analysis.findings import Category

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
