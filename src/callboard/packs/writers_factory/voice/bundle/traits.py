"""Traits: what the other passages do and what the writer said, as rows of a sheet."""

import re
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Final

from callboard.packs.writers_factory.prose import Pattern, PatternSeverity
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
