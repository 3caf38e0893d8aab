r"""Document: one file's text, parsed once. Immutable; what is costly is made when first asked for.

Lines are counted as editors do (`\n`, `\r\n` and `\r` end one), from 1, in the file as it is.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from operator import itemgetter
from typing import Final

from callboard.core.canonical import Json
from callboard.library.story.lexicon import word_list
from callboard.library.story.model import Quote
from callboard.library.story.text.front import FieldLine, read_field, read_fields, read_front
from callboard.library.story.text.markdown import (
    Blocks,
    CleanText,
    Heading,
    ListItem,
    Paragraph,
    TableRow,
    clean,
    find_blocks,
    mask_comments,
)
from callboard.library.story.text.sentences import (
    Sentence,
    Span,
    Style,
    split_sentences,
    spoken_spans,
    style_of,
    told_paragraphs,
)
from callboard.library.story.text.words import count_words, looks_english, words_of

_LINE_END: Final = re.compile(r"\r\n?")
_HAS_WORD: Final = re.compile(r"[^\W_]")
_LANGUAGE_SAMPLE_CHARS: Final = 4_000
LineRange = tuple[int, int]


class Document:
    """A text with its front matter, fields, headings, prose, sentences and words."""

    def __init__(self, path: str, text: str, *, file_path: str = "", lines_before: int = 0) -> None:
        """Take a text as read; a chapter of a larger file names that file and where it begins."""
        self.path = path
        # What quotes name: the file that holds the text, and the lines of it that stand before.
        self.file_path = file_path or path
        self._lines_before = lines_before
        self.text = _LINE_END.sub("\n", text.removeprefix("\ufeff"))
        self.lines: tuple[str, ...] = tuple(self.text.split("\n"))
        front = read_front(self.lines)
        self.front: Mapping[str, Json] = front.values
        self.front_error = front.error
        self.front_line_count = front.line_count
        after = 1 if front.error else front.line_count
        self.field_lines: tuple[FieldLine, ...] = read_fields(self.lines, after)

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The `Key: value` lines near the top; the first of a key counts."""
        return {field.key: field.value for field in reversed(self.field_lines)}

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings in order."""
        return tuple(self._blocks.headings)

    @property
    def items(self) -> tuple[ListItem, ...]:
        """The list items in order."""
        return tuple(self._blocks.items)

    @property
    def rows(self) -> tuple[TableRow, ...]:
        """The rows of tables in order, without the rows of headers."""
        return tuple(self._blocks.rows)

    @property
    def breaks(self) -> tuple[int, ...]:
        """The lines that only separate."""
        return tuple(self._blocks.breaks)

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The paragraphs of prose: no front matter, code, comments, headings, tables, fields."""
        return tuple(paragraph for paragraph, _ in self._prose)

    def paragraph_text(self, number: int) -> str:
        """Return what a paragraph says, without marks and line breaks."""
        return self._prose[number][1].text

    @cached_property
    def prose(self) -> str:
        """All paragraphs as they read, one a line."""
        return "\n".join(told.text for _, told in self._prose)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the prose in order."""
        texts = [told.text for _, told in self._prose]
        style = style_of(texts)
        told = told_paragraphs(texts)
        found: list[Sentence] = []
        for number, (paragraph, prose) in enumerate(self._prose):
            spoken = spoken_spans(prose.text, style, is_told=number in told)
            found.extend(self._sentences_of(number, paragraph, prose, spoken))
        return tuple(found)

    @cached_property
    def quotation_style(self) -> Style:
        """Which marks open speech here."""
        return style_of([told.text for _, told in self._prose])

    @cached_property
    def word_count(self) -> int:
        """The number of words of prose."""
        return count_words(self.prose)

    @cached_property
    def word_counts(self) -> Mapping[str, int]:
        """How often each word of the prose occurs, in lower case."""
        return Counter(words_of(self.prose))

    @cached_property
    def is_english(self) -> bool:
        """Whether English lexicons may be used on it."""
        return looks_english(words_of(self.prose[:_LANGUAGE_SAMPLE_CHARS]))

    def quote(self, place: Sentence | Paragraph | LineRange | int) -> Quote:
        """Return the text of a sentence, a paragraph or lines, word for word."""
        if isinstance(place, Sentence):
            text = self.text[place.start : place.end]
            return self._quote(place.line_start, place.line_end, text)
        if isinstance(place, Paragraph):
            place = (place.line_start, place.line_end)
        first, last = (place, place) if isinstance(place, int) else place
        text = "\n".join(self.lines[first - 1 : last]).strip()
        return self._quote(first, last, text)

    def _quote(self, first: int, last: int, text: str) -> Quote:
        before = self._lines_before
        return Quote(self.file_path, first + before, last + before, text)

    def line_at(self, offset: int) -> int:
        """Return the line a character of the text stands in."""
        return bisect_right(self._line_starts, offset)

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        starts = [0]
        for line in self.lines[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        return tuple(starts)

    @cached_property
    def _masked(self) -> str:
        """The text with front matter and comments blanked; offsets and lines are kept."""
        text = mask_comments(self.text)
        if not self.front_line_count:
            return text
        end = self._line_starts[self.front_line_count] if self._has_body else len(text)
        return "\n".join(" " * len(line) for line in text[:end].split("\n")) + text[end:]

    @property
    def _has_body(self) -> bool:
        return self.front_line_count < len(self.lines)

    @cached_property
    def _blocks(self) -> Blocks:
        masked = self._masked
        return find_blocks(masked, masked.split("\n"))

    @cached_property
    def _prose(self) -> tuple[tuple[Paragraph, CleanText], ...]:
        found: list[tuple[Paragraph, CleanText]] = []
        limit = self.front_line_count + 15
        for paragraph in self._blocks.paragraphs:
            start = self._line_starts[paragraph.line_start - 1]
            end = self._line_starts[paragraph.line_end - 1] + len(
                self.lines[paragraph.line_end - 1]
            )
            if paragraph.line_start <= limit and self._is_description(paragraph):
                continue
            in_container = paragraph.list_depth > 0 or paragraph.is_quoted
            told = clean(self._masked, start, end, in_container=in_container)
            if _HAS_WORD.search(told.text):
                found.append((paragraph, told))
        return tuple(found)

    def _is_description(self, paragraph: Paragraph) -> bool:
        """Say whether a paragraph only holds what the file says about itself."""
        known = word_list("description_keys")
        told = [read_field(line) for line in self._lines_of(paragraph)]
        return all(each is not None and each[0] in known for each in told)

    def _lines_of(self, paragraph: Paragraph) -> tuple[str, ...]:
        return self.lines[paragraph.line_start - 1 : paragraph.line_end]

    def _sentences_of(
        self, number: int, paragraph: Paragraph, prose: CleanText, spoken: tuple[Span, ...]
    ) -> list[Sentence]:
        one_line = paragraph.line_start == paragraph.line_end
        found: list[Sentence] = []
        for start, end in split_sentences(prose.text):
            text = prose.text[start:end]
            if not _HAS_WORD.search(text):
                continue
            raw_start, raw_end = prose.raw(start), prose.raw_end(end)
            first = paragraph.line_start if one_line else self.line_at(raw_start)
            last = paragraph.line_end if one_line else self.line_at(raw_end - 1)
            inside = _inside(spoken, start, end) if spoken else ()
            found.append(Sentence(text, first, last, number, raw_start, raw_end, inside))
        return found


def _inside(spans: tuple[Span, ...], start: int, end: int) -> tuple[Span, ...]:
    # In order and apart: the first that ends behind the start, and those up to the end.
    at = bisect_right(spans, start, key=itemgetter(1))
    within: list[Span] = []
    while at < len(spans) and spans[at][0] < end:
        first, last = spans[at]
        within.append((max(first, start) - start, min(last, end) - start))
        at += 1
    return tuple(within)
