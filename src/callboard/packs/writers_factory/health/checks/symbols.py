"""C1, symbolic layering: whether the declared symbols return, spread and change."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Final

from callboard.library.story.text import stop_words
from callboard.packs.writers_factory.health.examination import Examination, finding_of
from callboard.packs.writers_factory.health.quotes import evidence_of, sentence_naming
from callboard.packs.writers_factory.health.values import CheckId, HealthCheckResult
from callboard.packs.writers_factory.health.view import ManuscriptView, SymbolView
from callboard.packs.writers_factory.model import Evidence, Finding, Severity
from callboard.packs.writers_factory.settings import HealthSettings

_finding = partial(finding_of, CheckId.SYMBOLS)

_MOTIFS: Final = 3
# A noun is what an article or an owner stands before.
_NOUN: Final = re.compile(
    r"\b(?i:the|a|an|his|her|my|their|its|this|that|old|black|white|red)\s+([a-z]{4,})\b"
)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """How one symbol comes back."""

    occurrences: int
    acts: int
    stages: int
    chapter_share: float

    def failings(self, settings: HealthSettings) -> tuple[str, ...]:
        """Return what keeps it from recurring as a symbol should."""
        found: list[str] = []
        if self.occurrences < settings.symbol_occurrences:
            found.append(f"{self.occurrences} of {settings.symbol_occurrences} occurrences")
        if self.acts < settings.symbol_acts:
            found.append(f"{self.acts} of {settings.symbol_acts} acts")
        if self.occurrences and self.chapter_share > settings.symbol_chapter_share:
            found.append(f"{100 * self.chapter_share:.0f} % in one chapter")
        return tuple(found)

    def is_static(self, settings: HealthSettings) -> bool:
        """Say whether it comes back often enough to change, and does not."""
        return (
            self.occurrences >= settings.symbol_occurrences and self.stages < settings.symbol_stages
        )


def check_symbols(exam: Examination) -> HealthCheckResult:
    """Look for symbols that do not return, or return unchanged."""
    view = exam.view
    if not exam.scenes:
        return exam.no_data(CheckId.SYMBOLS, "no accepted scene")
    if not view.symbols:
        return exam.result(CheckId.SYMBOLS, _suggestion(view))
    findings = [finding for symbol in view.symbols for finding in _layering(exam, symbol)]
    details = {
        symbol.name: [
            {"scene_id": scene.scene_id, "stage": use.stage}
            for scene, use in view.symbol_scenes(symbol)
        ]
        for symbol in view.symbols
    }
    return exam.result(CheckId.SYMBOLS, findings, {"symbols": details})


def recurrence_of(view: ManuscriptView, symbol: SymbolView) -> Recurrence:
    """Count where and how a symbol occurs; a scene counts once."""
    found = list(view.symbol_scenes(symbol))
    chapters = Counter(scene.chapter for scene, _ in found)
    return Recurrence(
        occurrences=len(found),
        acts=len({view.act_of(scene) for scene, _ in found}),
        stages=len({use.stage for _, use in found if use.stage}),
        chapter_share=max(chapters.values()) / len(found) if found else 0.0,
    )


def find_motifs(view: ManuscriptView, most: int = _MOTIFS) -> tuple[str, ...]:
    """Return the things the text comes back to, by the number of scenes and of times."""
    names = {word.casefold() for each in view.characters for n in each.names for word in n.split()}
    names |= {word.casefold() for place in view.places for word in place.split()}
    times: Counter[str] = Counter()
    scenes: Counter[str] = Counter()
    for scene in view.scenes:
        found = [word for word in _NOUN.findall(scene.text) if _is_telling(word, names)]
        times.update(found)
        scenes.update(set(found))
    ranked = sorted(times, key=lambda word: (-scenes[word], -times[word], word))
    return tuple(ranked[:most])


@cache
def _everyday() -> frozenset[str]:
    """Return the nouns every story has; they mean nothing by being there."""
    text = files("callboard.packs.writers_factory.health").joinpath("everyday_words.txt")
    return frozenset(text.read_text(encoding="utf-8").split())


def _is_telling(word: str, names: set[str]) -> bool:
    return word not in _everyday() and word not in names and word not in stop_words()


def _layering(exam: Examination, symbol: SymbolView) -> Iterator[Finding]:
    view, settings = exam.view, exam.settings
    recurrence = recurrence_of(view, symbol)
    evidence = _evidence(view, symbol)
    ids = tuple(scene.scene_id for scene, _ in view.symbol_scenes(symbol))
    name = symbol.name
    if recurrence.is_static(settings):
        yield _finding(
            Severity.WARNING,
            "static",
            f"The symbol {name} comes back {recurrence.occurrences} times and means the same",
            f"Let {name} be seen once with other eyes: what it promised may be broken.",
            (name,),
            ids,
            evidence,
        )
    if recurrence.occurrences == 1 and view.progress_pct > settings.symbol_return_pct:
        yield _finding(
            Severity.WARNING,
            "no_return",
            f"The symbol {name} is introduced in {ids[0]} and never returns",
            f"Bring {name} back where the protagonist is farthest from {ids[0]}, or let it go.",
            (name,),
            ids,
            evidence,
        )
    elif failings := recurrence.failings(settings):
        yield _finding(
            Severity.INFO,
            "recurrence",
            f"The symbol {name} does not carry yet: {', '.join(failings)}",
            f"Plan the next return of {name}, in another act and with another meaning.",
            (name,),
            ids,
            evidence,
        )


def _evidence(view: ManuscriptView, symbol: SymbolView) -> tuple[Evidence, ...]:
    for scene, _ in view.symbol_scenes(symbol):
        return evidence_of(scene, sentence_naming(scene, symbol.names))
    return ()


def _suggestion(view: ManuscriptView) -> Sequence[Finding]:
    motifs = find_motifs(view)
    told = f": {', '.join(motifs)} recur" if motifs else ""
    return [
        Finding(
            check_id=CheckId.SYMBOLS.value,
            severity=Severity.INFO,
            title=f"No symbol is declared{told}",
            recommendation=f"Declare one of {', '.join(motifs)} as a symbol, or none on purpose."
            if motifs
            else "Declare a symbol once the draft keeps coming back to something.",
            rule="none_declared",
        )
    ]
