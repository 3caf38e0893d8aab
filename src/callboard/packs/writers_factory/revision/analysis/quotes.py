"""Quotes: where words a judge quotes stand in a text. What is not there word for word is nothing.

Only what print and keyboard set differently is forgiven: white space and the form of quote marks
and dashes. What is returned is always the text's own words.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.library.story.text.sentences import split_sentences

_MARKS: Final = {
    **dict.fromkeys("'\u2018\u2019\u201a\u201b", "['\u2018\u2019\u201a\u201b]"),
    **dict.fromkeys('"\u201c\u201d\u201e\u201f', '["\u201c\u201d\u201e\u201f]'),
    **dict.fromkeys("-\u2013\u2014\u2010\u2011", "[-\u2013\u2014\u2010\u2011]"),
}
_MAX_CHARS: Final = 600
_LEAST_CHARS: Final = 3


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a text, with its words and its line counted from 1."""

    start: int
    end: int
    line: int
    quote: str


def span(text: str, start: int, end: int) -> Span:
    """Return a place in a text by its offsets."""
    return Span(start, end, text.count("\n", 0, start) + 1, text[start:end])


def locate(text: str, quote: str) -> Span | None:
    """Return where a quote stands first, or None if it does not."""
    wanted = quote.strip().strip('\u201c\u201d"').strip()[:_MAX_CHARS]
    if len(wanted) < _LEAST_CHARS:
        return None
    at = text.find(wanted)
    if at >= 0:
        return span(text, at, at + len(wanted))
    words = ["".join(_MARKS.get(char, re.escape(char)) for char in word) for word in wanted.split()]
    found = re.search(r"\s+".join(words), text)
    return None if found is None else span(text, found.start(), found.end())


def occurrences(text: str, wanted: str) -> int:
    """Count how often a text occurs, overlaps included."""
    if not wanted:
        return 0
    count, at = 0, text.find(wanted)
    while at >= 0:
        count, at = count + 1, text.find(wanted, at + 1)
    return count


def sentences_of(text: str) -> tuple[Span, ...]:
    """Return the sentences of a text with their places, in order."""
    return tuple(
        span(text, paragraph.start + start, paragraph.start + end)
        for paragraph in paragraphs_of(text)
        for start, end in split_sentences(paragraph.quote)
    )


def paragraphs_of(text: str) -> tuple[Span, ...]:
    """Return the paragraphs of a text with their places, in order."""
    return tuple(
        span(text, match.start(), match.end())
        for match in re.finditer(r"\S[^\n]*(?:\n[ \t]*\S[^\n]*)*", text)
    )
