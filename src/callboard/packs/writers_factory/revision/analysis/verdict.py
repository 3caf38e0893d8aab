"""The verdict of a judge: what it is asked for as JSON, and what of its answer can be used.

Nothing here trusts an answer: numbers are held to their range, unknown categories are dropped, and
whether a quote is true is decided by whoever has the scene.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.packs.writers_factory.model import Severity
from callboard.packs.writers_factory.revision.analysis.findings import Category

MOST_GRADE: Final = 10
MOST_ISSUES: Final = 20
# What a small model's word for a category is worth: it can tilt a score that code has made, and
# never make or break it.
WORDS: Final[Mapping[str, int]] = {"weak": 6, "fair": 7, "good": 8, "strong": 9}
_MOST_CHARS: Final = 600


@dataclass(frozen=True, slots=True)
class Grade:
    """A category from 0 to 10, with the words that show it."""

    score: float
    quote: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Charge:
    """An issue as a judge states it, not yet proven."""

    category: Category
    severity: Severity
    quote: str
    problem: str
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about a scene."""

    grades: Mapping[Category, Grade]
    charges: tuple[Charge, ...] = ()


def verdict_schema() -> dict[str, Json]:
    """Return the JSON asked of a judge that can be trusted with quotes."""
    grade = _object(
        # No bounds: a score beyond them is held to them here, and not worth another call.
        score={"type": "integer"},
        quote={"type": "string"},
        reason={"type": "string"},
    )
    charge = _object(
        category={"type": "string", "enum": [each.value for each in Category]},
        severity={"type": "string", "enum": [each.value for each in Severity]},
        quote={"type": "string"},
        problem={"type": "string"},
        suggestion={"type": "string"},
    )
    return _object(
        **{each.value: grade for each in Category},
        issues={"type": "array", "items": charge},
    )


def choice_schema(candidates: int) -> dict[str, Json]:
    """Return the JSON asked of a small model: a word per category, and the number of a line."""
    word: Json = {"type": "string", "enum": list(WORDS)}
    numbers: Json = [str(number) for number in range(1, candidates + 1)]
    return _object(
        **{each.value: word for each in Category}, line={"type": "string", "enum": numbers}
    )


def verdict_of_choices(data: Json, candidates: Sequence[str]) -> dict[str, Json]:
    """Return a small model's choices in the shape of a verdict."""
    chosen = _mapping(data)
    number = str(chosen.get("line", "1"))
    at = int(number) - 1 if number.isdecimal() else 0
    quote = candidates[min(max(at, 0), len(candidates) - 1)] if candidates else ""
    grades: dict[str, Json] = {
        each.value: {"score": WORDS[word], "quote": quote, "reason": ""}
        for each in Category
        if (word := str(chosen.get(each.value, ""))) in WORDS
    }
    return {**grades, "issues": []}


def read_verdict(data: Json) -> Verdict:
    """Return what can be used of a judge's answer."""
    said = _mapping(data)
    grades: dict[Category, Grade] = {}
    for category in Category:
        grade = _mapping(said.get(category.value))
        score = _number(grade.get("score"))
        if score is not None:
            held = min(max(score, 0.0), float(MOST_GRADE))
            grades[category] = Grade(held, _text(grade, "quote"), _text(grade, "reason"))
    listed: Any = said.get("issues")
    issues = cast("list[Any]", listed) if isinstance(listed, list) else []
    charges = [charge for each in issues[:MOST_ISSUES] if (charge := _charge(each)) is not None]
    return Verdict(grades, tuple(charges))


def _charge(data: Json) -> Charge | None:
    said = _mapping(data)
    category, severity = _text(said, "category"), _text(said, "severity")
    problem, quote = _text(said, "problem"), _text(said, "quote")
    if category not in list(Category) or not problem or not quote:
        return None
    weight = Severity(severity) if severity in list(Severity) else Severity.WARNING
    return Charge(Category(category), weight, quote, problem, _text(said, "suggestion"))


def _object(**properties: Json) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _mapping(value: Json) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value == value else None


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value.strip()[:_MOST_CHARS] if isinstance(value, str) else ""
