"""Dialogue: which stretches of a paragraph are spoken, in the quotation style of its document."""

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

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
