"""Projects on disk, and what a sentence claims."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fact_project import Project

from callboard.library.story.facts.cast import Cast, Hit
from callboard.library.story.facts.prose import read
from callboard.library.story.text import Document

FORTRESS = Path(__file__).parents[2] / "fortress"
PEOPLE = {"Kael": "male", "Mira": "female", "Jon": "male"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def fortress(tmp_path: Path) -> Callable[[str], Project]:
    def copy(which: str) -> Project:
        shutil.copytree(FORTRESS / which, tmp_path / which)
        return Project(tmp_path / which)

    return copy


@pytest.fixture
def claims() -> Callable[..., list[tuple[Any, ...]]]:
    """What a text claims: (entity, attribute, value), and whom a tie of kin is to."""
    pattern = re.compile(r"\b(?:" + "|".join(PEOPLE) + r"|Fortress)\b")

    def find(text: str) -> list[Hit]:
        return [Hit(hit[0], hit.start(), hit.end()) for hit in pattern.finditer(text)]

    cast = Cast(find, PEOPLE, frozenset({"Fortress"}))  # type: ignore[arg-type]

    def of(text: str, narrator: str | None = None) -> list[tuple[Any, ...]]:
        reading = read(Document("scene.md", text), cast, narrator=narrator)
        return [
            (claim.entity, claim.attribute.value, claim.value.text)
            + ((claim.other,) if claim.other else ())
            for claim in reading.claims()
        ]

    return of
