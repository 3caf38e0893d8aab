"""Profiles: what each model was measured to be good at, per shape of schema, in a file each.

A profile tells about a model as this machine and this account reach it, so it belongs to the user
and not to a project. A file that cannot be read is as good as none, and is told in the log.
"""

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json, digest_bytes
from callboard.core.errors import CallboardError
from callboard.core.parsing import decode_text, parse_json
from callboard.core.places import data_dir
from callboard.models.ladder.questions import QuestionKind, SmallQuestion, Splitter
from callboard.models.types import Rung, Usage
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import read_bounded


class SchemaShape(StrEnum):
    """What makes a schema hard, from the easiest on."""

    CHOICE = "choice"
    FLAT = "flat"
    LIST = "list"
    NESTED = "nested"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model is asked to show that it can keep to a shape; subjects vary the question."""

    shape: SchemaShape
    prompt: str
    schema: Mapping[str, Json]
    subjects: tuple[str, ...]

    def question(self, number: int) -> str:
        """Return the words of one try."""
        return self.prompt.replace("{{subject}}", self.subjects[number % len(self.subjects)])


def shape_of(schema: Mapping[str, Json]) -> SchemaShape:
    """Return which trial says most about a schema."""
    steps = [step for step in Splitter(schema).split() if isinstance(step, SmallQuestion)]
    if any(len(step.place) > 1 or step.kind is QuestionKind.COUNT for step in steps):
        return SchemaShape.NESTED
    kinds = {step.kind for step in steps}
    if kinds & {QuestionKind.LINES, QuestionKind.PICKS}:
        return SchemaShape.LIST
    if QuestionKind.JSON in kinds:
        return SchemaShape.NESTED
    return SchemaShape.CHOICE if kinds <= {QuestionKind.CHOICE} else SchemaShape.FLAT


@cache
def trials() -> tuple[Trial, ...]:
    """Read the bundled trials, one per shape."""
    loaded: dict[str, Any] = bundled_yaml("callboard.models.ladder", "trials.yaml")
    return tuple(
        Trial(SchemaShape(name), entry["prompt"].strip(), entry["schema"], tuple(entry["subjects"]))
        for name, entry in loaded.items()
    )


def plain_prompt() -> str:
    """Return the question that shows how a model talks, and how fast."""
    return files("callboard.models.ladder").joinpath("plain.md").read_text("utf-8").strip()


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
    scores: Mapping[Rung, Mapping[SchemaShape, Score]] = field(
        default_factory=dict[Rung, Mapping[SchemaShape, Score]]
    )
    first_token_ms: int | None = None
    tokens_per_second: float | None = None
    usage: Usage = field(default_factory=Usage)
    sample: str = ""

    def first_rung(self, shape: SchemaShape) -> Rung:
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
            Rung(rung): {SchemaShape(shape): Score(**score) for shape, score in shapes.items()}
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


_LARGEST_BYTES: Final = 10_000_000
_log: Final = logging.getLogger(__name__)
_UNSAFE: Final = re.compile(r"[^a-z0-9._-]+")


def profiles_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for profiles: under `CALLBOARD_DATA_DIR`, else the user's data folder."""
    return data_dir(os.environ if environ is None else environ) / "profiles"


class ProfileShelf:
    """Profiles on disk; a file is read again when it has changed."""

    def __init__(self, folder: Path) -> None:
        """Take the folder; it need not exist."""
        self.folder = folder
        self._read: dict[Path, tuple[tuple[int, int], ModelProfile | None]] = {}

    def path(self, model: str) -> Path:
        """Return where the profile of a model lies, or would lie."""
        # The name is for people; the digest keeps ids apart that look alike as file names.
        name = _UNSAFE.sub("-", model.lower())[:60].strip("-.")
        return self.folder / f"{name}-{digest_bytes(model.encode())[:8]}.json"

    def find(self, model: str) -> ModelProfile | None:
        """Return the profile of a model, if there is a readable one."""
        path = self.path(model)
        try:
            state = path.stat()
        except OSError:
            return None
        stamp = (state.st_mtime_ns, state.st_size)
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = self._read[path] = (stamp, _load(path))
        return known[1]

    def save(self, profile: ModelProfile) -> Path:
        """Keep a profile in place of an older one."""
        path = self.path(profile.model)
        text = json.dumps(profile.to_json(), indent=2, ensure_ascii=False)
        # Held, so that what a killed process left half-written is swept.
        with locked_folder(self.folder):
            write_atomically(path, f"{text}\n".encode("utf-8", "replace"))
        return path


def _load(path: Path) -> ModelProfile | None:
    try:
        data = read_bounded(path, limit_bytes=_LARGEST_BYTES)
        return ModelProfile.from_json(parse_json(decode_text(data)))
    except (OSError, CallboardError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("The profile %s cannot be used: %s", path, error)
        return None
