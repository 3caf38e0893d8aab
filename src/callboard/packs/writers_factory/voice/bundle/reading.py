"""The voice bundle as it stands on disk: read anew whenever it is asked for, edited or not.

The Markdown files are the writer's and count; `voice.json` fills in what they do not say.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.packs.writers_factory.prose import PatternSheet, Stylometrics, measure, read_sheet
from callboard.packs.writers_factory.voice.bundle.evolution import (
    UNSAID,
    Phase,
    read_guide,
    state_of,
)
from callboard.packs.writers_factory.voice.tournament.scoring import metaphor_fields
from callboard.tools import ProjectFiles
from callboard.tools.errors import ToolError

SUMMARY_WORDS: Final = 60
LINE_WORDS: Final = 25
_AVOIDED: Final = 3


def summarise(gold: Stylometrics, domains: Sequence[str], sheet: PatternSheet) -> str:
    """Return the voice in at most sixty words: view, tense, rhythm, images, what to avoid."""
    return _cut(f"{_view(gold)}. {_rhythm(gold)}. {_images(domains)}. {_avoid(sheet)}.")


def one_line(gold: Stylometrics, domains: Sequence[str]) -> str:
    """Return the same in at most twenty-five words, for models with little room."""
    short = f"{_view(gold)}; sentences of about {round(gold.mean_sentence_words)} words"
    images = f"; images of {', '.join(domains[:2])}" if domains else ""
    return shortened(f"{short}{images}.", LINE_WORDS)


def shortened(text: str, words: int) -> str:
    """Return the first words of a text."""
    held = text.split()
    return text if len(held) <= words else f"{' '.join(held[:words]).rstrip(',;:.')}."


def _view(gold: Stylometrics) -> str:
    return f"{gold.pov.capitalize()} person, {gold.tense} tense"


def _rhythm(gold: Stylometrics) -> str:
    mean, spread = round(gold.mean_sentence_words), gold.sd_sentence_words
    is_varied = spread > 0.55 * gold.mean_sentence_words
    return f"Sentences of about {mean} words, {'strongly varied' if is_varied else 'even'}"


def _images(domains: Sequence[str]) -> str:
    return f"Images from {', '.join(domains[:3])}" if domains else "Few images"


def _avoid(sheet: PatternSheet) -> str:
    worst = sheet.zero_tolerance(_AVOIDED)
    names = [*worst, *(p.name for p in sheet.patterns if p.name not in worst)][:_AVOIDED]
    return f"Avoid: {'; '.join(shortened(name, 6) for name in names)}"


def _cut(text: str) -> str:
    return shortened(text, SUMMARY_WORDS)


DEFAULT_PATH: Final = "content/Voice Bundle"
GOLD_FILE: Final = "Voice-Gold-Standard.md"
SHEET_FILE: Final = "Voice-Anti-Pattern-Sheet.md"
GUIDE_FILE: Final = "Phase-Evolution-Guide.md"
DATA_FILE: Final = "voice.json"
FILES: Final = (GOLD_FILE, SHEET_FILE, GUIDE_FILE, DATA_FILE)
GOLD_CHARS: Final = 2000
SHEET_CHARS: Final = 1500
_PASSAGE: Final = re.compile(r"^##\s+Passage\s*$\n(.*?)(?=^##\s|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VoiceBundle:
    """The voice of the book; `problems` say what in its files could not be used."""

    path: str
    gold: str
    sheet_text: str
    passage: str
    summary: str
    one_line: str
    pov: str
    tense: str
    metrics: Stylometrics
    metaphor_domains: tuple[str, ...]
    patterns: PatternSheet
    evolution: Mapping[str, Phase]
    version: int = 1
    winning_agent: str = ""
    winning_strategy: str = ""
    problems: tuple[str, ...] = field(default=())

    @property
    def gold_excerpt(self) -> str:
        """The beginning of the gold standard, as prompts show it."""
        return self.gold[:GOLD_CHARS]

    @property
    def antipattern_excerpt(self) -> str:
        """The beginning of the anti-pattern sheet, as prompts show it."""
        return self.sheet_text[:SHEET_CHARS]

    def phase(self, act: str) -> Phase:
        """Return how the voice sounds in an act."""
        return self.evolution.get(act.strip().lower(), UNSAID)

    def voice_state(self, act: str, note: str = "") -> str:
        """Return the voice's state in up to three words: the act's, and a scene's own note."""
        return state_of(self.phase(act).voice_state, note)

    def zero_tolerance(self, limit: int = 5) -> tuple[str, ...]:
        """Return what must not occur, for models with little room."""
        return self.patterns.zero_tolerance(limit)


def is_complete(files: ProjectFiles, path: str) -> bool:
    """Say whether all four files of a bundle are there."""
    return all(files.sha256(f"{path}/{name}") is not None for name in FILES)


def read_bundle(files: ProjectFiles, path: str) -> VoiceBundle | None:
    """Return the bundle in a folder, or None if it is not whole."""
    if not is_complete(files, path):
        return None
    problems: list[str] = []
    gold, sheet_text, guide = (
        _text(files, f"{path}/{name}", problems) for name in (GOLD_FILE, SHEET_FILE, GUIDE_FILE)
    )
    data = _data(_text(files, f"{path}/{DATA_FILE}", problems), problems)
    sheet = read_sheet(sheet_text)
    problems += [f"{SHEET_FILE}, {problem}" for problem in sheet.problems]
    passage = passage_of(gold)
    metrics = measure(passage)
    domains = _texts(data.get("metaphor_domains")) or metaphor_fields(passage)
    summary = shortened(_told(data, "summary"), SUMMARY_WORDS)
    line = shortened(_told(data, "one_line"), LINE_WORDS)
    return VoiceBundle(
        path=path,
        gold=gold,
        sheet_text=sheet_text,
        passage=passage,
        summary=summary or summarise(metrics, domains, sheet),
        one_line=line or one_line(metrics, domains),
        pov=_told(data, "pov") or metrics.pov,
        tense=_told(data, "tense") or metrics.tense,
        metrics=metrics,
        metaphor_domains=domains,
        patterns=sheet,
        evolution=_evolution(guide, data),
        version=_version(data),
        winning_agent=_told(data, "winning_agent"),
        winning_strategy=_told(data, "winning_strategy"),
        problems=tuple(problems),
    )


def passage_of(gold: str) -> str:
    """Return the passage of a gold standard; a file without such a section is all passage."""
    found = _PASSAGE.search(gold)
    return (found[1] if found else gold).strip()


def _text(files: ProjectFiles, path: str, problems: list[str]) -> str:
    try:
        return files.read_text(path).text
    except ToolError as error:
        problems.append(error.message)
        return ""


def _data(text: str, problems: list[str]) -> dict[str, Any]:
    try:
        found: Any = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        problems.append(f"{DATA_FILE} is not JSON: {error}")
        return {}
    if isinstance(found, dict):
        return cast("dict[str, Any]", found)
    problems.append(f"{DATA_FILE} holds no object")
    return {}


def _evolution(guide: str, data: Mapping[str, Any]) -> dict[str, Phase]:
    given: Any = data.get("evolution")
    stored = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    written = read_guide(guide)
    phases = {
        act: Phase.from_json(cast("dict[str, Any]", each))
        for act, each in stored.items()
        if isinstance(each, dict)
    }
    return {
        act: written.get(act, UNSAID).completed(phases.get(act, UNSAID))
        for act in sorted({*written, *phases})
    }


def _told(data: Mapping[str, Any], name: str) -> str:
    value: Any = data.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    listed: list[Any] = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(str(each) for each in listed if isinstance(each, str) and each.strip())


def _version(data: Mapping[str, Any]) -> int:
    value: Any = data.get("version")
    return value if isinstance(value, int) and not isinstance(value, bool) else 1
