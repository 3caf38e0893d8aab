"""Twine: a story as Twee, or as a page that Twine 2 opens.

What came out of a file goes back as it stood there, sign by sign, passage by passage; only what has
changed since is written anew, in its place.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any, Final

from callboard.packs.questfoundry.book.model import Book, Verbatim
from callboard.packs.questfoundry.formats.naming import ordered, passage_names
from callboard.packs.questfoundry.formats.prose import one_line
from callboard.packs.questfoundry.formats.reading.dialects import FORMATS, HARLOWE, SUGARCUBE
from callboard.packs.questfoundry.formats.reading.passages import (
    STORY_DATA,
    STORY_TITLE,
    TwinePassage,
    header_of,
    story_data,
    twee_passages,
)
from callboard.packs.questfoundry.formats.reading.twine import KEYS_PASSAGE, reread
from callboard.packs.questfoundry.formats.writing.twee import TweeWriter

_GAP: Final = "\n\n"
_BYTE_ORDER: Final = "\ufeff"
_BLANKS: Final = " \t\r\n"
_ELEMENTS: Final = {
    "script": ("script", 'role="script" id="twine-user-script" type="text/twine-javascript"'),
    "stylesheet": ("style", 'role="stylesheet" id="twine-user-stylesheet" type="text/twine-css"'),
}
# A map of ten passages a row, for those that have no place on one.
_ROW, _STEP = 10, 150


def twee_of(book: Book, dialect: str = SUGARCUBE) -> bytes:
    """Return the book as Twee 3 for a story format."""
    kept = [
        each
        for each in book.verbatim
        if each.origin != "ink"
        and (each.is_source or (each.section is None and not each.text.startswith("{")))
    ]
    writer = _StoryWriter(book, dialect)
    if any(each.is_source for each in kept) and own_dialect(book) == dialect:
        return _FileWriter(writer, kept).whole().encode()
    return writer.whole().encode()


def own_dialect(book: Book) -> str:
    """Return the story format that a book was imported from; any other is for SugarCube."""
    kept = (each.dialect for each in book.verbatim if each.origin != "ink" and each.dialect)
    return next(kept, SUGARCUBE)


class _StoryWriter(TweeWriter):
    """Writes what a file tells of a story, besides its sections."""

    def whole(self) -> str:
        """Return a file of our own: the story first, then what else was kept."""
        parts = [self.title(), self.data()]
        parts += [self.passage(each) for each in ordered(self.book)]
        parts += self.first_keys()
        kept = [
            each.text.strip("\ufeff\r\n \t")
            for each in self.book.verbatim
            if each.origin != "ink" and not each.section and not each.is_form
        ]
        above = [each for each in kept if not each.startswith(("::", "{"))]
        return "\n\n".join([*above, *parts, *(each for each in kept if each[:2] == "::")]) + "\n"

    def title(self) -> str:
        """Return the passage that names the story."""
        title = one_line(self.book.title)
        return f":: {STORY_TITLE}\n{' ' if title.startswith('::') else ''}{title}"

    def settings(self) -> dict[str, Any]:
        """Return what an import has kept of StoryData, or of the page."""
        for each in self.book.verbatim:
            if each.name == STORY_DATA and each.section is None and each.text.startswith("{"):
                return json.loads(each.text)
        return {}

    def data(self) -> str:
        """Return the passage that tells of the story what no reader sees."""
        told: dict[str, Any] = {"ifid": self.book.ifid} if self.book.ifid else {}
        rest = self.settings()
        if own_dialect(self.book) != self.dialect or not rest.get("format"):
            rest |= FORMATS.get(self.dialect, {})
        told |= {"start": self.name(self.book.start), **rest}
        return f":: {STORY_DATA}\n{json.dumps(told, indent=2, ensure_ascii=False, sort_keys=True)}"

    def first_keys(self) -> list[str]:
        """Return the passage that Harlowe needs: there a variable is no truth until it is set."""
        if self.dialect != HARLOWE or not self.keys:
            return []
        told = "\n".join(f"(set: ${name} to false)" for name in self.keys.values())
        return [f"{header_of(KEYS_PASSAGE, ('startup',))}\n{told}"]


class _FileWriter:
    """Goes through the file a book came from, and leaves alone what the book still says."""

    def __init__(self, writer: _StoryWriter, kept: Sequence[Verbatim]) -> None:
        self.writer = writer
        self.book = writer.book
        self.kept = kept
        was = reread(map(_standing, kept), writer.dialect)
        forms = tuple(each for each in was.verbatim if not each.is_source)
        self.was = _StoryWriter(replace(was, verbatim=forms), writer.dialect)
        self.sections = {each.title: each for each in was.sections}
        self.named: set[str] = set()
        self.is_changed = False

    def whole(self) -> str:
        told = [self.part(each) for each in self.kept]
        written = {each.section for each in self.kept if each.is_source}
        fresh = [each for each in ordered(self.book) if each.id not in written]
        more = [self.writer.passage(each) for each in fresh]
        if (fresh or self.is_changed) and KEYS_PASSAGE not in self.named:
            more += self.writer.first_keys()
        text = "".join(told)
        if first := _GAP.join(self.first()):
            above = 1 if told and not self.kept[0].text.startswith((_BYTE_ORDER, "::")) else 0
            text = "".join([*told[:above], first, _GAP, *told[above:]]).replace(_BYTE_ORDER, "", 1)
        if more:
            text = f"{text.rstrip(_BLANKS)}{_GAP}{_GAP.join(more)}\n".lstrip(_BLANKS)
        return text

    def first(self) -> Iterator[str]:
        """Yield what must be told of the story and stood in no passage of it."""
        if STORY_TITLE not in self.named and one_line(self.book.title) != self.was.book.title:
            yield self.writer.title()
        if STORY_DATA not in self.named and not self.is_told():
            yield self.writer.data()

    def is_told(self) -> bool:
        """Say whether the file tells what the book does: number, start and settings."""
        writers = (self.writer, self.was)
        now, was = (
            (each.book.ifid, each.name(each.book.start), each.settings()) for each in writers
        )
        return now == was

    def part(self, each: Verbatim) -> str:
        """Return what stands at one place of the file now."""
        source = _standing(each)
        passages = twee_passages(source).passages
        if not each.is_source or not passages:
            return source
        passage = passages[0]
        if each.section is None:
            self.named.add(passage.name)
            return self.told(passage, source)
        section = self.book.by_id.get(each.section)
        if section is None:
            return ""
        now = self.writer.passage(section)
        was = self.sections.get(passage.name)
        if was is not None and self.was.passage(was) == now:
            return source
        self.is_changed = True
        return _in_place(now, source)

    def told(self, passage: TwinePassage, source: str) -> str:
        """Return a passage that is no section: title, settings, or keys of Harlowe."""
        if passage.name == STORY_TITLE:
            is_same = one_line(passage.text) == one_line(self.book.title)
            return source if is_same else _in_place(self.writer.title(), source)
        if passage.name == STORY_DATA:
            return source if self.is_told() else _in_place(self.writer.data(), source)
        keys = "".join(self.writer.first_keys())
        is_set = set(keys.splitlines()[1:]) <= set(passage.text.split("\n"))
        return source if is_set else _in_place(keys, source)


def _standing(each: Verbatim) -> str:
    """Return a passage as it stood in its file; those of a page had no lines between them."""
    return each.text if each.origin == "twee" else f"{each.text}{_GAP}"


def _in_place(told: str, source: str) -> str:
    """Return what is written anew with the line ends and the space of what stood there."""
    gap = source[len(source.rstrip(_BLANKS)) :]
    told = told.replace("\n", "\r\n") if "\r\n" in source else told
    return (_BYTE_ORDER if source.startswith(_BYTE_ORDER) else "") + told + gap


def twine_of(book: Book) -> bytes:
    """Return the story as the page that Twine 2 keeps it in; a player is not in it."""
    passages = twee_passages(twee_of(book, own_dialect(book)).decode()).passages
    data = next((story_data(each.text) for each in passages if each.name == STORY_DATA), None)
    facts: dict[str, Any] = dict(data or {})
    told = [each for each in passages if each.name not in (STORY_TITLE, STORY_DATA)]
    scripts = [(each, tag) for each in told if (tag := _element(each))]
    shown = [each for each in told if not _element(each)]
    start = facts.pop("start", passage_names(book).get(book.start, ""))
    number = next((at for at, each in enumerate(shown, 1) if each.name == start), None)
    colors: Mapping[str, Any] = facts.pop("tag-colors", {})
    head = {"name": one_line(book.title), "startnode": "" if number is None else number} | facts
    lines = [f"<tw-storydata{_attributes(head)} hidden>"]
    for each, tag in scripts:
        name, attributes = _ELEMENTS[tag]
        lines.append(f"<{name} {attributes}>{each.text}</{name}>")
    lines += [
        f"<tw-tag{_attributes({'name': name, 'color': color})}></tw-tag>"
        for name, color in colors.items()
    ]
    for at, each in enumerate(shown):
        place = f"{100 + _STEP * (at % _ROW)},{100 + _STEP * (at // _ROW)}"
        map_place = {"position": place} | (story_data(each.metadata) or {})
        named = {"pid": at + 1, "name": each.name, "tags": " ".join(each.tags)} | map_place
        lines.append(f"<tw-passagedata{_attributes(named)}>{escape(each.text)}</tw-passagedata>")
    return ("\n".join([*lines, "</tw-storydata>"]) + "\n").encode()


def _element(passage: TwinePassage) -> str:
    """Return which element of the page a passage is; one that would end it early is none."""
    for tag, (name, _) in _ELEMENTS.items():
        if tag in passage.tags and f"</{name}" not in passage.text.lower():
            return tag
    return ""


def _attributes(told: Mapping[str, Any]) -> str:
    return "".join(
        f' {name}="{escape(value if isinstance(value, str) else json.dumps(value))}"'
        for name, value in told.items()
    )
