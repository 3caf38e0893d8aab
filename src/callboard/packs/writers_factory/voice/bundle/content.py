"""The text of a bundle's files: what the writer reads, and what `read_bundle` reads back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.prose import PatternSheet, write_table
from callboard.packs.writers_factory.voice.bundle.evolution import Arc, Phase, write_guide
from callboard.packs.writers_factory.voice.bundle.summary import one_line, summarise
from callboard.packs.writers_factory.voice.tournament.tournaments import Tournament
from callboard.packs.writers_factory.voice.tournament.variants import Variant

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
