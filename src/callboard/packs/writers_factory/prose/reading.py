"""Reading: a text as paragraphs with sentences and speech, and the words it is measured by.

Offsets it gives are those of the text it was handed, byte order mark and carriage returns included.
The word groups stand in the file beside this module.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, cast

from callboard.core.bundled import bundled_yaml
from callboard.library.story.text import Document
from callboard.library.story.text.markdown import CleanText, clean, mask_comments
from callboard.library.story.text.markdown import Paragraph as Block
from callboard.library.story.text.sentences import (
    Span,
    split_sentences,
    spoken_spans,
    told_paragraphs,
)


@cache
def words_in(group: str) -> frozenset[str]:
    """Return the words of a group."""
    return frozenset(ordered_words(group))


@cache
def ordered_words(group: str) -> tuple[str, ...]:
    """Return the words of a group in the order of the file."""
    return tuple(str(_groups()[group]).split())


@cache
def metaphor_domains() -> Mapping[str, frozenset[str]]:
    """Return the fields metaphors are drawn from, each with its words."""
    given = cast("dict[str, str]", _groups()["domains"])
    return {name: frozenset(words.split()) for name, words in given.items()}


@cache
def one_of(group: str) -> str:
    """Return an expression that matches any word of a group."""
    return "|".join(sorted(words_in(group)))


def _groups() -> Mapping[str, Any]:
    return bundled_yaml("callboard.packs.writers_factory.prose", "words.yaml")


_RETURN: Final = re.compile(r"\r(?=\n)")
# Stands where speech is: no letter, no space, matched by no word of a sheet.
MASK: Final = "\x00"


@dataclass(frozen=True)
class ProseParagraph:
    """A paragraph as it reads, with its sentences and what of it is spoken."""

    number: int
    clean: CleanText
    spoken: tuple[Span, ...]

    @property
    def text(self) -> str:
        """What it says, in one line."""
        return self.clean.text

    @cached_property
    def sentences(self) -> tuple[Span, ...]:
        """Where its sentences stand."""
        return tuple(split_sentences(self.text))

    @cached_property
    def narration(self) -> str:
        """The text with speech masked; offsets hold."""
        parts: list[str] = []
        at = 0
        for start, end in self.spoken:
            parts += [self.text[at:start], MASK * (end - start)]
            at = end
        return "".join([*parts, self.text[at:]])


class ProseReading:
    """A text taken apart once."""

    def __init__(self, text: str) -> None:
        """Take a scene or a passage as it is."""
        self.text = text
        self.document = Document("text", text)

    @cached_property
    def paragraphs(self) -> tuple[ProseParagraph, ...]:
        """The paragraphs of prose in order."""
        masked = mask_comments(self.document.text)
        cleaned = [self._clean(masked, block) for block in self.document.paragraphs]
        texts = [each.text for each in cleaned]
        told = told_paragraphs(texts)
        style = self.document.quotation_style
        return tuple(
            ProseParagraph(number, each, spoken_spans(each.text, style, is_told=number in told))
            for number, each in enumerate(cleaned)
        )

    def place(self, paragraph: ProseParagraph, start: int, end: int) -> Span:
        """Return where a stretch of a paragraph stands in the text that was handed in."""
        return (
            self._original(paragraph.clean.raw(start)),
            self._original(paragraph.clean.raw_end(end) - 1) + 1,
        )

    def line(self, offset: int) -> int:
        """Return the line a character of the text stands in, from 1."""
        return bisect_right(self._line_starts, offset)

    def _clean(self, masked: str, block: Block) -> CleanText:
        starts = self._document_starts
        start = starts[block.line_start - 1]
        end = starts[block.line_end - 1] + len(self.document.lines[block.line_end - 1])
        in_container = block.list_depth > 0 or block.is_quoted
        return clean(masked, start, end, in_container=in_container)

    @cached_property
    def _document_starts(self) -> tuple[int, ...]:
        starts = [0]
        for line in self.document.lines[:-1]:
            starts.append(starts[-1] + len(line) + 1)
        return tuple(starts)

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        return tuple(self._original(start) for start in self._document_starts)

    @cached_property
    def _dropped(self) -> tuple[int, ...]:
        """The offsets, in the document, before which a character of the text was dropped."""
        mark = len(self.text) - len(self.text.removeprefix("\ufeff"))
        returns = [hit.start() for hit in _RETURN.finditer(self.text)]
        return tuple([0] * mark + [at - mark - n + 1 for n, at in enumerate(returns)])

    def _original(self, offset: int) -> int:
        return offset + bisect_right(self._dropped, offset)
