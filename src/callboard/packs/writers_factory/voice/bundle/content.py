"""The text of a bundle's files: what the writer reads, and what `read_bundle` reads back."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.prose import (
    Pattern,
    PatternSeverity,
    PatternSheet,
    write_table,
)
from callboard.packs.writers_factory.voice.bundle.evolution import Arc, Phase, write_guide
from callboard.packs.writers_factory.voice.bundle.reading import one_line, summarise
from callboard.packs.writers_factory.voice.tournament.tournaments import Tournament
from callboard.packs.writers_factory.voice.tournament.variants import Variant

_QUOTED: Final = re.compile(r"[\"“]([^\"”\n]{3,80})[\"”]")
# A phrase in quotation marks is one piece, whatever ends a sentence in it.
_SENTENCE: Final = re.compile(r"(?:[\"“][^\"”\n]{3,80}[\"”]|[^.!?;\n])+")
_WARNING: Final = re.compile(
    r"\b(?:avoid|never|no more|not|don['’]t|without|less|too (?:much|many)|stop|hate)\b",
    re.IGNORECASE,
)
_STRICT: Final = re.compile(r"\b(?:never|ban|hate)\b", re.IGNORECASE)
_MOST_ROWS: Final = 6
# By how much the others must exceed the chosen passage before it is a trait of theirs.
_CLEARLY: Final = 1.5
_FIGURES: Final = (
    ("mean_sentence_words", 4.0, "longer sentences than the chosen voice", "Break the sentence"),
    ("adverbs_per_1000", 6.0, "more adverbs in -ly than the chosen voice", "A stronger verb"),
    ("similes_per_1000", 4.0, "more similes than the chosen voice", "One image, or none"),
    ("dialogue_share", 0.2, "more talk than the chosen voice", "Let silence answer"),
    ("inner_per_1000", 10.0, "more spelled-out thought than the chosen voice", "An act instead"),
)


def rejected_traits(winner: Variant, rejected: Sequence[Variant]) -> tuple[Pattern, ...]:
    """Return what sets the other passages apart from the one that was chosen."""
    return tuple([*_figures(winner, rejected), *_repeated_hits(winner, rejected)][:_MOST_ROWS])


def noted_traits(notes: str) -> tuple[Pattern, ...]:
    """Return what the writer's notes warn of; a phrase in quotation marks is looked for."""
    found: list[Pattern] = []
    for sentence in _SENTENCE.findall(notes):
        told = " ".join(sentence.split())
        if not _WARNING.search(told):
            continue
        strict = _STRICT.search(told) is not None
        severity = PatternSeverity.ZERO_TOLERANCE if strict else PatternSeverity.DEDUCTION
        phrases = _QUOTED.findall(sentence)
        for phrase in phrases:
            found.append(
                Pattern(
                    f"“{phrase}”",
                    severity,
                    expression=_escaped(phrase),
                    why="The writer's note",
                    instead="Leave it out",
                )
            )
        if not phrases:
            name = f"writer's note {len(found) + 1}"
            found.append(Pattern(name, severity, description=told, why="The writer's note"))
    return tuple(found)


def _figures(winner: Variant, rejected: Sequence[Variant]) -> Iterator[Pattern]:
    if not rejected:
        return
    for name, least, told, instead in _FIGURES:
        own = float(getattr(winner.metrics, name))
        theirs = fmean(float(getattr(each.metrics, name)) for each in rejected)
        if theirs - own >= least and theirs >= _CLEARLY * own:
            yield Pattern(
                told,
                description=f"{name.replace('_', ' ')}: {theirs:.1f}, the chosen passage {own:.1f}",
                why="A trait of the passages that were not chosen",
                instead=instead,
            )


def _repeated_hits(winner: Variant, rejected: Sequence[Variant]) -> Iterator[Pattern]:
    """Yield the very words with which the others ran into the sheet."""
    seen: set[str] = set()
    for variant in rejected:
        for hit in variant.hits:
            quote = " ".join(str(hit["quote"]).split())
            is_short = 2 <= len(quote.split()) <= 6
            if is_short and quote.lower() not in seen and quote not in winner.text:
                seen.add(quote.lower())
                yield Pattern(
                    f"“{quote}”",
                    expression=_escaped(quote),
                    why=f"{hit['pattern']}, in a passage that was not chosen",
                    instead=str(hit.get("instead") or ""),
                )


def _escaped(phrase: str) -> str:
    """Return an expression for the very words, in letters that can stand in a row of a sheet."""
    words = " ".join(phrase.replace("`", "").split())
    return re.sub(r"([^\w\s'’,|-])", r"\\\1", words).replace("|", ".")


_MARKS: Final = ('"', "“", "‘", "«")
_SHOWN_METRICS: Final = (
    ("words", "words"),
    ("mean_sentence_words", "mean sentence, words"),
    ("sd_sentence_words", "sentence length, standard deviation"),
    ("dialogue_share", "share of dialogue"),
    ("adverbs_per_1000", "adverbs per 1000 words"),
    ("similes_per_1000", "similes per 1000 words"),
    ("pov", "person"),
    ("tense", "tense"),
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something this voice does, with words of the passage that show it."""

    advice: str
    quote: str


@dataclass(frozen=True, slots=True)
class BundleContent:
    """Everything a bundle says."""

    tournament: Tournament
    winner: Variant
    advice: tuple[Advice, ...]
    sheet: PatternSheet
    domains: tuple[str, ...]
    evolution: Mapping[str, Phase]
    arc: Arc
    version: int

    def gold(self) -> str:
        """Return the gold standard."""
        winner = self.winner
        parts = [
            "# Voice gold standard",
            f"## Passage\n\n{_demoted(winner.text)}",
            f"## Provenance\n\n{self._provenance()}",
            f"## Analysis\n\n{_analysis(winner)}",
            f"## Do this\n\n{_do_this(self.advice)}",
            f"## Stylometrics\n\n{_metrics(winner)}",
        ]
        return "\n\n".join(parts) + "\n"

    def sheet_text(self) -> str:
        """Return the anti-pattern sheet."""
        opening = (
            "What stands in backticks is looked for in every scene, `check:` turns a check on, the"
            " rest is for whoever writes. Edit it freely; it is read anew each time."
        )
        table = write_table(self.sheet.patterns)
        return f"# Voice anti-pattern sheet\n\n{table}\n\n{opening}\n"

    def guide(self) -> str:
        """Return the phase evolution guide."""
        return write_guide(self.evolution, self.arc)

    def data(self) -> dict[str, Json]:
        """Return what machines read."""
        metrics = self.winner.metrics
        return {
            "version": self.version,
            "winning_agent": self.winner.agent,
            "winning_strategy": self.winner.strategy,
            "variant_id": self.winner.id,
            "tournament_id": self.tournament.id,
            "pov": metrics.pov,
            "tense": metrics.tense,
            "metaphor_domains": list(self.domains),
            "patterns": [
                {
                    "pattern": pattern.name,
                    "regex": pattern.expression,
                    "check": pattern.check,
                    "description": pattern.description,
                    "severity": pattern.severity.value,
                }
                for pattern in self.sheet.patterns
            ],
            "metrics": metrics.to_json(),
            "summary": summarise(metrics, self.domains, self.sheet),
            "one_line": one_line(metrics, self.domains),
            "evolution": {act: phase.to_json() for act, phase in self.evolution.items()},
        }

    def _provenance(self) -> str:
        lines = [
            f"- model: {self.winner.agent}",
            f"- strategy: {self.winner.strategy}",
            f"- variant: {self.winner.id}",
            f"- tournament: {self.tournament.id}",
            f"- brief: {' '.join(self.tournament.test_prompt.split())}",
        ]
        if self.tournament.notes:
            lines.append(f"- the writer: {' '.join(self.tournament.notes.split())}")
        return "\n".join(lines)


def _demoted(text: str) -> str:
    """Return a passage whose own headings cannot end its section."""
    return "\n".join(f"\\{line}" if line.startswith("#") else line for line in text.split("\n"))


def _analysis(winner: Variant) -> str:
    rows = ["| dimension | score | of | shown by | reason |", "|---|---|---|---|---|"]
    for each in winner.scores:
        cells = (
            each.dimension,
            f"{each.score:g}",
            str(each.most),
            _quoted(each.quote),
            each.reason,
        )
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join([*rows, f"| total | {winner.total:g} | 100 | | |"])


def _do_this(advice: Sequence[Advice]) -> str:
    return "\n".join(f"- {each.advice}: {_cell(_quoted(each.quote))}" for each in advice)


def _metrics(winner: Variant) -> str:
    told = winner.metrics.to_json()
    rows = [f"| {label} | {told[name]} |" for name, label in _SHOWN_METRICS]
    return "\n".join(["| figure | value |", "|---|---|", *rows])


def _quoted(text: str) -> str:
    """Return a quotation in marks, unless it brings its own."""
    return text if text[:1] in _MARKS else f"“{text}”"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
