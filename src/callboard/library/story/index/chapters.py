"""Chapters: a book kept in one file taken apart, and files read in the encoding they were saved in.

A file is a book when at least three of its headings are chapters, or when it is long and headings
of one level divide it. Chapters keep the lines of their file.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from callboard.library.story.index.metadata import describe, numbered_title
from callboard.library.story.model import FileKind, StoryFile
from callboard.library.story.text import Document
from callboard.library.story.text.words import count_words

_FEWEST: Final = 3
# What says of itself to be one scene or no story at all is not taken apart.
_ONE: Final = frozenset({"scene", "chapter", "note", "notes", "other"})
_NO_STORY: Final = re.compile(
    r"readme|notes?|todo|changelog|license|agents|ideas?|synopsis|summary|style|log", re.I
)
# Of a folder that marks no scenes, texts from so many words on are taken for the story.
_STORY_WORDS: Final = 150
_PLAIN: Final = re.compile(r"^\s{0,3}(?:chapter|book|part|letter)\s+[\w-]{1,12}\b.{0,70}$", re.I)
# A shorter text with headings is a note; a shorter part is a line of the contents.
_BOOK_WORDS: Final = 3_000
_PART_WORDS: Final = 40
_FEW_CONTROLS: Final = 0.01


def decode_text(data: bytes) -> str | None:
    """Return a text in UTF-8, UTF-16 or the encodings of older editors; None for what is no text.

    UTF-16 is told by its mark; what is neither is Windows-1252, which holds Latin-1.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    strange = sum(not char.isprintable() and char not in "\r\n\t\f" for char in text)
    return None if strange + text.count("\ufffd") > _FEW_CONTROLS * len(text) else text


def is_unmarked_scene(file: StoryFile, document: Document) -> bool:
    """Say whether a file that nothing marks as a scene reads like a part of the story."""
    name = file.path.rpartition("/")[2]
    if file.kind is not FileKind.OTHER or document.front.get("type") or _NO_STORY.search(name):
        return False
    return file.word_count >= _STORY_WORDS and len(document.items) * 40 < file.word_count


def chapters_of(document: Document, file: StoryFile) -> tuple[tuple[Document, StoryFile], ...]:
    """Return the chapters of a book in one file; empty when the file is no book."""
    declared = str(document.front.get("type", "")).strip().lower()
    if file.kind not in (FileKind.SCENE, FileKind.OTHER) or declared in _ONE:
        return ()
    starts = _labelled(document)
    if len(starts) < _FEWEST and file.word_count >= _BOOK_WORDS:
        starts = _divided(document)
    if len(starts) < _FEWEST:
        return ()
    bounds = _merged(document.lines, [1, *starts] if starts[0] > 1 else starts)
    if len(bounds) < _FEWEST:
        return ()
    return tuple(
        _chapter(document, file, number, first, after)
        for number, (first, after) in enumerate(bounds, start=1)
    )


def _labelled(document: Document) -> list[int]:
    marked = {
        heading.line
        for heading in document.headings
        if numbered_title(heading.text)[2] in ("chapter", "scene")
    }
    if len(marked) >= _FEWEST:
        return sorted(marked)
    lines = document.lines
    return [
        number
        for number, line in enumerate(lines, start=1)
        if _PLAIN.match(line)
        and (number == 1 or not lines[number - 2].strip())
        and (number == len(lines) or not lines[number].strip())
    ]


def _divided(document: Document) -> list[int]:
    """Return the lines of the highest headings that come often enough to be chapters."""
    levels = Counter(heading.level for heading in document.headings)
    level = next((each for each in sorted(levels) if levels[each] >= _FEWEST), None)
    return [heading.line for heading in document.headings if heading.level == level]


def _merged(lines: Sequence[str], starts: Sequence[int]) -> list[tuple[int, int]]:
    """Return where chapters begin and end; what is too short to be one goes with the next."""
    bounds: list[tuple[int, int]] = []
    first: int | None = None
    for start, after in pairwise([*starts, len(lines) + 1]):
        first = start if first is None else first
        if count_words("\n".join(lines[first - 1 : after - 1])) >= _PART_WORDS:
            bounds.append((first, after))
            first = None
    if first is not None and bounds:
        bounds[-1] = (bounds[-1][0], len(lines) + 1)
    return bounds


def _chapter(
    document: Document, file: StoryFile, number: int, first: int, after: int
) -> tuple[Document, StoryFile]:
    path = f"{document.path}#{number}"
    text = "\n".join(document.lines[first - 1 : after - 1])
    chapter = Document(path, text, file_path=document.path, lines_before=first - 1)
    told = describe(chapter, file.sha256)
    heading = next((line.strip(" #") for line in document.lines[first - 1 : after] if line), "")
    title = shown if (shown := heading.strip()) and len(shown) <= 120 else f"Part {number}"
    return chapter, replace(
        told, kind=FileKind.SCENE, title=title, scene_number=number, pov=told.pov or file.pov
    )
