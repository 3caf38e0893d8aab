"""The brief of a scene: everything an analysis measures it by, gathered once, as plain values.

It goes into the journal of a run, so that a run that is resumed measures by what it began with.
A thread is what a scene has to take up or to plant, found by name or alias. One that is a whole
phrase counts as present when most of its telling words stand together in one paragraph.
"""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from callboard.core.canonical import Json, plain
from callboard.library.story.text import content_stems
from callboard.packs.writers_factory.prose import (
    Pattern,
    PatternSeverity,
    PatternSheet,
    Stylometrics,
    measure,
)
from callboard.packs.writers_factory.revision.analysis.forbidden import Correction, ForbiddenFact
from callboard.packs.writers_factory.revision.analysis.quotes import Span, paragraphs_of

_TELLING_SHARE: Final = 0.6
_NAME_WORDS: Final = 2
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# A planned thread may say where it comes from: "the lighter (ch1-sc2)".
_ORIGIN: Final = re.compile(r"\(?\b(?:from |see )?ch\d+-sc\d+\b:?\)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Thread:
    """Something planted or to be planted, with the names it goes by."""

    name: str
    aliases: tuple[str, ...] = ()
    is_foreshadowing: bool = False

    @property
    def kind(self) -> str:
        """What the writer calls it."""
        return "foreshadowing" if self.is_foreshadowing else "callback"


def find_thread(text: str, thread: Thread) -> Span | None:
    """Return a place where a thread is taken up, or None."""
    for name in (thread.name, *thread.aliases):
        found = _find_name(text, name)
        if found is not None:
            return found
    telling = telling_stems(_ORIGIN.sub(" ", thread.name))
    if len(telling) < _NAME_WORDS:
        return None
    best, share = _closest(text, telling)
    return best if share >= _TELLING_SHARE else None


def nearest_place(text: str, thread: Thread) -> Span | None:
    """Return the paragraph closest to a thread: where a missing one could be worked in."""
    stems = telling_stems(" ".join((thread.name, *thread.aliases)))
    best, _ = _closest(text, stems)
    return best or next(iter(paragraphs_of(text)), None)


def telling_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say something."""
    return content_stems((match[0].casefold() for match in _WORD.finditer(text)), min_letters=2)


def _find_name(text: str, name: str) -> Span | None:
    words = _WORD.findall(_ORIGIN.sub(" ", name))
    if not words:
        return None
    pattern = (
        r"\b" + r"[\s\-\u2019']+".join(re.escape(word) for word in words) + r"(?:['\u2019]?s)?\b"
    )
    found = re.search(pattern, text, re.IGNORECASE)
    if found is None:
        return None
    line = text.count("\n", 0, found.start()) + 1
    return Span(found.start(), found.end(), line, found[0])


def _closest(text: str, telling: Iterable[str]) -> tuple[Span | None, float]:
    wanted = frozenset(telling)
    best: Span | None = None
    most = 0.0
    for paragraph in paragraphs_of(text):
        share = len(wanted & telling_stems(paragraph.quote)) / len(wanted) if wanted else 0.0
        if share > most:
            best, most = paragraph, share
    return best, most


@dataclass(frozen=True, slots=True)
class JudgeGround:
    """What a judge is told beside the scene itself."""

    voice: str = ""
    gold_excerpt: str = ""
    evolution: str = ""
    beat: str = ""
    goal: str = ""
    characters: str = ""
    world_rules: str = ""
    corrections: str = ""
    threads: str = ""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A zero-tolerance hit the writer wants as it is."""

    pattern: str
    quote: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SceneBrief:
    """What one scene is measured by."""

    scene_id: str
    patterns: PatternSheet
    chapter: int | None = None
    pov: str | None = None
    gold_text: str = ""
    threads: tuple[Thread, ...] = ()
    forbidden: tuple[ForbiddenFact, ...] = ()
    judge: JudgeGround = JudgeGround()

    @property
    def gold(self) -> Stylometrics | None:
        """How the gold standard measures, if there is one."""
        return _measured(self.gold_text) if self.gold_text.strip() else None

    def to_json(self) -> dict[str, Json]:
        """Return the journaled shape."""
        shape: dict[str, Json] = plain(asdict(self))
        return {**shape, "patterns": [plain(asdict(each)) for each in self.patterns.patterns]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SceneBrief":
        """Read the journaled shape."""
        return cls(
            scene_id=data["scene_id"],
            patterns=PatternSheet(tuple(_pattern(each) for each in data["patterns"])),
            chapter=data["chapter"],
            pov=data["pov"],
            gold_text=data["gold_text"],
            threads=tuple(
                Thread(each["name"], tuple(each["aliases"]), each["is_foreshadowing"])
                for each in data["threads"]
            ),
            forbidden=tuple(_fact(each) for each in data["forbidden"]),
            judge=JudgeGround(**data["judge"]),
        )


@lru_cache(maxsize=64)
def _measured(text: str) -> Stylometrics:
    return measure(text)


def _pattern(data: dict[str, Any]) -> Pattern:
    shape: dict[str, Any] = {**data, "severity": PatternSeverity(data["severity"])}
    return Pattern(**shape)


def _fact(data: dict[str, Any]) -> ForbiddenFact:
    shape: dict[str, Any] = {**data, "correction": Correction(**data["correction"])}
    return ForbiddenFact(**shape)
