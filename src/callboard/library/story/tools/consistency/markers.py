"""Markers: the terms files share and the words by which they tell time."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from callboard.core.canonical import Json
from callboard.library.story.facts.values.dates import MONTHS, date_in, days_later, weekday_in
from callboard.library.story.text import Document

_PER_FILE: Final = 20
# What no marker of time can do without; most sentences have none of it.
_TRIGGER: Final = re.compile(
    rf"day|week|fortnight|next|following|{'|'.join(month[:3] for month in MONTHS)}|\d{{2}}",
    re.IGNORECASE,
)
_HYPHENATED: Final = re.compile(r"\b[^\W\d_]{2,}-[^\W\d_]{2,}\b")


def shared_terms(
    documents: Sequence[Document], references: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Json]]:
    """Return the names and compound words that occur in more than one file."""
    counts: dict[str, dict[str, int]] = {
        name: dict(found) for name, found in references.items() if len(found) > 1
    }
    for document in documents:
        for word, count in Counter(_HYPHENATED.findall(document.prose.lower())).items():
            counts.setdefault(word, {})[document.path] = count
    return [
        {"term": term, "files": counts[term]} for term in sorted(counts) if len(counts[term]) > 1
    ]


def time_markers(documents: Sequence[Document]) -> list[dict[str, Json]]:
    """Return the sentences that name a date, a weekday or a span, file by file."""
    found: list[dict[str, Json]] = []
    for document in documents:
        told = 0
        for sentence in document.sentences if document.is_english else ():
            kind = _kind(sentence.text)
            if kind is not None and told < _PER_FILE:
                told += 1
                found.append({"kind": kind, "quote": document.quote(sentence).to_json()})
    return found


def _kind(text: str) -> str | None:
    if not _TRIGGER.search(text):
        return None
    if days_later(text):
        return "span"
    date = date_in(text)
    if date is not None and (date.month is not None or date.day_number is not None):
        return "date"
    return "weekday" if weekday_in(text) else None
