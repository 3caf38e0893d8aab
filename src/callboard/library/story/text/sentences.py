"""Sentences: where one ends and the next begins, and which stretches of them are spoken."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from callboard.library.story.lexicon import word_list, word_list_as_written
from callboard.library.story.text.words import words_of

Span = tuple[int, int]

# Speech that runs over this many paragraphs is somebody telling the story.
TOLD_PARAGRAPHS: Final = 3
_DASH: Final = re.compile(r"\s*[—–―]\s*\S")
_PAIRS: Final = {"“": "”", "«": "»", "»": "«", "„": "“”", "「": "」", "『": "』"}
_DOUBLE: Final = re.compile(r"[“”\"«»„「」『』]")
_SINGLE: Final = re.compile(r"[‘’']")
_SINGLE_OPEN: Final = re.compile(r"(?:^|(?<=[\s—–(\[“\"-]))[‘'](?=[^\s\d])")
_SINGLE_CLOSE: Final = re.compile(r"(?<=[.,!?…—–;:-])[’'](?!\w)")
_STYLE_SAMPLE: Final = re.compile(r"[“«»„「]|(?:^|(?<=\s))\"|(?:^|(?<=\s))[‘'](?=[A-ZÀ-Þ])")
LONGEST_CHARS: Final = 3_000
"""How long a sentence may be; a longer one is read in pieces, as no author writes them."""
_BOUNDARY: Final = re.compile(
    # Starting only where the marks do keeps a line of a million dots cheap.
    r"(?<![.!?…])(?P<mark>[.!?…]+)(?P<close>[\"”’'»)\]]*)(?P<gap>\s+)"
    r"(?=(?P<open>[\"“‘'«»„(\[—–\-…]*\s?)(?P<next>\w))"
    r"|(?P<wide>[。！？]+[」』”）]*)"
)
_LAST_WORD: Final = re.compile(r"[^\s“”\"‘(\[—–]+$")
_FIRST_WORD: Final = re.compile(r"[\w’']+")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_TAG: Final = re.compile(
    r"(?:I|[A-Z][\w’'.]{0,40}+(?: [A-Z][\w’'.]{0,40}+){0,2}|the [\w’' ]{2,30}?) (?P<verb>\w+)"
)


class Style(StrEnum):
    """Which marks open speech."""

    DOUBLE = "double"
    SINGLE = "single"


def style_of(paragraphs: Sequence[str]) -> Style:
    """Return the style most paragraphs that hold speech open it with."""
    counts: Counter[Style] = Counter()
    for paragraph in paragraphs:
        hit = _STYLE_SAMPLE.search(paragraph)
        if hit is not None:
            counts[Style.SINGLE if hit[0] in "‘'" else Style.DOUBLE] += 1
    return Style.SINGLE if counts[Style.SINGLE] > counts[Style.DOUBLE] else Style.DOUBLE


def told_paragraphs(paragraphs: Sequence[str]) -> frozenset[int]:
    """Return the paragraphs of long unbroken speech, in which a character tells the story."""
    told: set[int] = set()
    run: list[int] = []
    for number, paragraph in enumerate([*paragraphs, ""]):
        if _continues(paragraph):
            run.append(number)
            continue
        if len(run) >= TOLD_PARAGRAPHS:
            told.update(run)
            if paragraph.startswith(("“", '"')):
                told.add(number)
        run = []
    return frozenset(told)


def spoken_spans(paragraph: str, style: Style, *, is_told: bool = False) -> tuple[Span, ...]:
    """Return where somebody speaks, marks included; unclosed speech runs to the end.

    In a paragraph of a story told aloud, the speech inside it is what counts.
    """
    if _DASH.match(paragraph):
        return ((0, len(paragraph)),)
    if is_told or style is Style.SINGLE:
        return _single_spans(paragraph)
    return _double_spans(paragraph)


def _continues(paragraph: str) -> bool:
    if paragraph.startswith("“"):
        return paragraph.count("“") > paragraph.count("”")
    return paragraph.startswith('"') and paragraph.count('"') == 1


def _double_spans(paragraph: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    start, closing = -1, ""
    for hit in _DOUBLE.finditer(paragraph):
        mark = hit[0]
        if start < 0:
            start, closing = hit.start(), _PAIRS.get(mark, '"')
            if mark == "”":
                start = -1
        elif mark in closing:
            spans.append((start, hit.end()))
            start = -1
    if start >= 0:
        spans.append((start, len(paragraph)))
    return tuple(spans)


def _single_spans(paragraph: str) -> tuple[Span, ...]:
    if not _SINGLE.search(paragraph):
        return ()
    spans: list[Span] = []
    at = 0
    while (opened := _SINGLE_OPEN.search(paragraph, at)) is not None:
        closed = _SINGLE_CLOSE.search(paragraph, opened.end())
        # Without an end it is an apostrophe that opens a word: ’tis, 'em.
        if closed is None:
            if opened.start() == 0 and paragraph[0] == "‘":
                spans.append((0, len(paragraph)))
            break
        spans.append((opened.start(), closed.end()))
        at = closed.end()
    return tuple(spans)


@dataclass(frozen=True)
class Sentence:
    """One sentence as it reads; `start` and `end` are its place in the document's text."""

    text: str
    line_start: int
    line_end: int
    paragraph: int
    start: int
    end: int
    spoken: tuple[Span, ...] = ()

    @property
    def has_dialogue(self) -> bool:
        """Whether somebody speaks in it."""
        return bool(self.spoken)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in lower case."""
        return words_of(self.text)

    @cached_property
    def narration(self) -> str:
        """The text without what is spoken; spaces stand in its place so that offsets hold."""
        if not self.spoken:
            return self.text
        parts: list[str] = []
        at = 0
        for start, end in self.spoken:
            parts += [self.text[at:start], " " * (end - start)]
            at = end
        return "".join([*parts, self.text[at:]])

    @cached_property
    def dialogue(self) -> str:
        """What is spoken, without the rest."""
        return " ".join(self.text[start:end] for start, end in self.spoken)

    @cached_property
    def is_spoken_only(self) -> bool:
        """Whether nothing but speech is in it."""
        return bool(self.spoken) and not any(char.isalnum() for char in self.narration)


def split_sentences(text: str) -> list[Span]:
    """Return where the sentences of a paragraph stand, without the space between them.

    What looks back and forth within a sentence takes the square of its length: one that would
    fill pages is cut between two words.
    """
    spans: list[Span] = []
    start = 0
    for hit in _BOUNDARY.finditer(text):
        if hit["wide"] is None and not _ends(text, hit):
            continue
        end = hit.end("close") if hit["wide"] is None else hit.end()
        _add(spans, text, start, end)
        start = hit.end()
    if start < len(text):
        _add(spans, text, start, len(text))
    return spans


def _add(spans: list[Span], text: str, start: int, end: int) -> None:
    while end - start > LONGEST_CHARS:
        space = text.rfind(" ", start + LONGEST_CHARS // 2, start + LONGEST_CHARS)
        cut = space if space >= 0 else start + LONGEST_CHARS
        spans.append((start, cut))
        start = cut + (space >= 0)
    spans.append((start, end))


def _ends(text: str, hit: re.Match[str]) -> bool:
    following = hit["next"]
    if following.islower() or following == "_":
        return False
    mark = hit["mark"]
    if hit["close"]:
        # “Stop!” Holmes cried: who speaks belongs to what is said.
        return mark[-1] == "." or not _is_tag(text, hit)
    if mark in ("…", "...", "....") and not hit["open"]:
        first = _FIRST_WORD.match(text, hit.start("next"))
        return first is None or first[0].partition("’")[0].partition("'")[0] != "I"
    if mark != ".":
        return True
    return _full_stop_ends(text, hit)


def _full_stop_ends(text: str, hit: re.Match[str]) -> bool:
    last = _LAST_WORD.search(text, max(0, hit.start() - 24), hit.start())
    if last is None:
        return True
    word = last[0].lower()
    if word in word_list("abbreviations_lower"):
        return False
    if last[0][0].isupper() and word in word_list("abbreviations_inside"):
        return False
    if word in word_list("abbreviations_numbered"):
        return not hit["next"].isdigit()
    ambiguous = word in word_list("abbreviations_ambiguous")
    if not ambiguous and (last[0] == "I" or not _INITIALS.fullmatch(last[0])):
        return True
    if len(word) == 1 and not ambiguous:
        return last[0].islower()
    first = _FIRST_WORD.match(text, hit.start("next"))
    return first is not None and (
        bool(hit["open"].strip()) or first[0] in word_list_as_written("sentence_starters")
    )


def _is_tag(text: str, hit: re.Match[str]) -> bool:
    if hit["open"].strip():
        return False
    tag = _TAG.match(text, hit.start("next"))
    return tag is not None and tag["verb"] in word_list("speech_verbs")
