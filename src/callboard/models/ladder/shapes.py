"""The shapes of schemas that models find easy or hard, and a trial for each, read from data."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.models.ladder.questions import Kind, Question, Splitter


class Shape(StrEnum):
    """What makes a schema hard, from the easiest on."""

    CHOICE = "choice"
    FLAT = "flat"
    LIST = "list"
    NESTED = "nested"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model is asked to show that it can keep to a shape; subjects vary the question."""

    shape: Shape
    prompt: str
    schema: Mapping[str, Json]
    subjects: tuple[str, ...]

    def question(self, number: int) -> str:
        """Return the words of one try."""
        return self.prompt.replace("{{subject}}", self.subjects[number % len(self.subjects)])


def shape_of(schema: Mapping[str, Json]) -> Shape:
    """Return which trial says most about a schema."""
    steps = [step for step in Splitter(schema).split() if isinstance(step, Question)]
    if any(len(step.place) > 1 or step.kind is Kind.COUNT for step in steps):
        return Shape.NESTED
    kinds = {step.kind for step in steps}
    if kinds & {Kind.LINES, Kind.PICKS}:
        return Shape.LIST
    if Kind.JSON in kinds:
        return Shape.NESTED
    return Shape.CHOICE if kinds <= {Kind.CHOICE} else Shape.FLAT


@cache
def trials() -> tuple[Trial, ...]:
    """Read the bundled trials, one per shape."""
    loaded: dict[str, Any] = bundled_yaml("callboard.models.ladder", "trials.yaml")
    return tuple(
        Trial(Shape(name), entry["prompt"].strip(), entry["schema"], tuple(entry["subjects"]))
        for name, entry in loaded.items()
    )


def plain_prompt() -> str:
    """Return the question that shows how a model talks, and how fast."""
    return files("callboard.models.ladder").joinpath("plain.md").read_text("utf-8").strip()
