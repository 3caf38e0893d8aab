"""Alternatives: replacements made by code, for a model that can choose and cannot write.

Only what can be cut without breaking the sentence is offered: an adjunct, or a whole sentence that
is not alone in its paragraph. Leaving the words as they are is the writer's choice, afterwards.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.packs.writers_factory.revision.analysis.findings import Issue, Source
from callboard.packs.writers_factory.revision.analysis.quotes import Span, sentences_of
from callboard.packs.writers_factory.revision.enhancement.fixes import Replacement

_MOST_ISSUES: Final = 8
_ADJUNCT: Final = re.compile(r"(?:with|like|as)\b", re.IGNORECASE)
_SIMILE: Final = re.compile(r"(?:like|as)\b", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[,.;:!?\u2014\u2026\"\u201d]")
_LITERAL: Final = re.compile(r"[\"\u201c`]([^\"\u201d`]{1,80})[\"\u201d`]")


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What can be done about one issue, by the words a model chooses with."""

    issue: int
    options: dict[str, Replacement]


def alternatives_for(text: str, issues: Sequence[Issue]) -> tuple[Alternatives, ...]:
    """Return what code can do about issues; those it cannot help are left out."""
    sentences = sentences_of(text)
    found: list[Alternatives] = []
    for number, issue in enumerate(issues, start=1):
        options = _options(text, number, issue, sentences)
        if options:
            found.append(Alternatives(number, options))
    return tuple(found[:_MOST_ISSUES])


def _options(
    text: str, number: int, issue: Issue, sentences: Sequence[Span]
) -> dict[str, Replacement]:
    if issue.source is not Source.SCAN or issue.start < 0:
        return {}
    home = next((s for s in sentences if s.start <= issue.start and issue.end <= s.end), None)
    if home is None:
        return {}
    options: dict[str, Replacement] = {}
    cut = _without_adjunct(text, issue, home)
    if cut is not None:
        options["cut the phrase"] = _replacement(number, home.quote, cut, "The phrase is cut.")
    literal = _LITERAL.search(issue.suggestion)
    if literal is not None:
        put = text[home.start : issue.start] + literal[1] + text[issue.end : home.end]
        options["put the other words"] = _replacement(number, home.quote, put, issue.suggestion)
    whole = _without_sentence(text, home, sentences)
    if whole is not None and cut is None:
        options["cut the sentence"] = _replacement(number, whole, "", "The sentence is cut.")
    return options


def _without_adjunct(text: str, issue: Issue, home: Span) -> str | None:
    phrase = text[issue.start : issue.end]
    before = text[home.start : issue.start]
    if not _ADJUNCT.match(phrase) or not before.strip():
        return None
    end = issue.end
    if _SIMILE.match(phrase):
        stop = _CLAUSE_END.search(text, issue.end, home.end)
        end = stop.start() if stop else home.end
    rest = text[end : home.end]
    kept = before.rstrip(" ,")
    return kept + (rest if not rest or not rest[0].isalnum() else f" {rest}")


def _without_sentence(text: str, home: Span, sentences: Sequence[Span]) -> str | None:
    """Return the words to cut so that the sentence goes and no double space stays."""
    at = sentences.index(home)
    follows = sentences[at + 1] if at + 1 < len(sentences) else None
    if follows is not None and "\n" not in text[home.end : follows.start]:
        return text[home.start : follows.start]
    before = sentences[at - 1] if at else None
    if before is not None and "\n" not in text[before.end : home.start]:
        return text[before.end : home.end]
    return None


def _replacement(issue: int, old_text: str, new_text: str, reason: str) -> Replacement:
    return Replacement(issue=issue, old_text=old_text, new_text=new_text, reason=reason)
