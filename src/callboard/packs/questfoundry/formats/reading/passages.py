"""Passages: a Twee 3 file or a Twine 2 page as named passages, before anybody reads them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise
from typing import Any, Final, cast

from callboard.core.canonical import compact_json
from callboard.packs.questfoundry.formats.prose import clean
from callboard.packs.questfoundry.formats.reading.nodes import Places

STORY_DATA: Final = "StoryData"
STORY_TITLE: Final = "StoryTitle"
_ESCAPE: Final = re.compile(r"\\(.)")
_OPENING: Final = re.compile(r"(?:\A\ufeff?|(?<=[\r\n]))(?=::)")
_TAG: Final = re.compile(r"<tw-(storydata|passagedata|tag)\b|<(script|style)\b", re.IGNORECASE)
_HEADER_LIKE: Final = re.compile("^::", re.MULTILINE)
_LINE_ENDS: Final = re.compile(r"[\r\n]+")
# Attributes that are told by something else in Twee: those of a passage, and those of a story.
_NAMED: Final = ("pid", "name", "tags")
_OF_PAGE: Final = ("name", "startnode")
_ATTRIBUTE: Final = re.compile(r"(?<![\w:\-])([\w:\-]++)=(?:\"([^\"]*)\"|'([^']*)')")


@dataclass(frozen=True, slots=True)
class TwinePassage:
    """A named part of a story; `source` is how it stood in the file."""

    name: str
    text: str
    tags: tuple[str, ...] = ()
    metadata: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class PassageFile:
    """All passages of a file; `before` is what stood above the first one, as it was written."""

    passages: tuple[TwinePassage, ...]
    before: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    # What its author should know, before anybody reads a passage.
    notes: tuple[str, ...] = ()


def twee_passages(text: str) -> PassageFile:
    """Split a Twee file at the lines that open a passage; none of its signs is lost."""
    starts = [found.start() for found in _OPENING.finditer(text)]
    passages = tuple(_passage(text[start:end]) for start, end in pairwise([*starts, len(text)]))
    return PassageFile(passages, text[: starts[0]] if starts else text)


def header_of(name: str, tags: tuple[str, ...] = (), metadata: str = "") -> str:
    """Return the line that opens a passage in Twee."""
    told = f":: {_guarded(name)}"
    told += f" [{' '.join(_guarded('-'.join(tag.split())) for tag in tags)}]" if tags else ""
    return f"{told} {metadata}" if metadata else told


def twine_passages(text: str) -> PassageFile:
    """Read the story out of a page that Twine 2 has published, or out of its archive."""
    reader = _PageReader(clean(text.removeprefix("\ufeff")))
    passages = list(reader.passages())
    if reader.start and "start" not in reader.facts:
        reader.facts["startnode"] = reader.start
    return PassageFile(tuple(passages), "", reader.facts, tuple(reader.notes()))


def _passage(source: str) -> TwinePassage:
    lines = clean(source).removeprefix("\ufeff").split("\n")
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    name, tags, metadata = _header(lines[0][2:])
    return TwinePassage(name, "\n".join(lines[1:]), tags, metadata, source)


def _header(line: str) -> tuple[str, tuple[str, ...], str]:
    at = _unescaped(line, "[{", 0)
    name = _ESCAPE.sub(r"\1", line[:at].strip())
    tags: tuple[str, ...] = ()
    if line[at : at + 1] == "[":
        end = _unescaped(line, "]", at)
        tags = tuple(_ESCAPE.sub(r"\1", each) for each in line[at + 1 : end].split())
        at = _unescaped(line, "{", end)
    return name, tags, line[at:].strip()


def _unescaped(line: str, signs: str, at: int) -> int:
    while at < len(line) and line[at] not in signs:
        at += 2 if line[at] == "\\" else 1
    return min(at, len(line))


def _guarded(name: str) -> str:
    return "".join(f"\\{each}" if each in "\\[]{}" else each for each in name)


class _PageReader:
    """Goes through a page once; what it learns of the story itself is in `facts`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.facts: dict[str, Any] = {}
        self.start = ""
        self.others: list[str] = []
        self.moved_lines = 0
        self.ends = {
            each: Places(text, each)
            for each in (">", "</tw-passagedata>", "</tw-storydata>", "</script>", "</style>")
        }

    def passages(self) -> Iterator[TwinePassage]:
        """Yield the passages of the first story; scripts and styles are passages of their own."""
        at, is_open, closed_at = 0, False, len(self.text)
        while (found := _TAG.search(self.text, at)) is not None:
            kind = (found[1] or found[2]).lower()
            end = self.ends[">"].after(found.end())
            if end < 0:
                return
            attributes = self.attributes(found.end(), end)
            at = end + 1
            if kind == "storydata":
                if is_open:
                    self.others.append(attributes.get("name", ""))
                    continue
                is_open = True
                self.story(attributes)
                end = self.ends["</tw-storydata>"].after(at)
                closed_at = end if end >= 0 else closed_at
            elif found.start() > closed_at:
                # What follows is another story, or the program that plays this one.
                continue
            elif is_open and kind == "tag":
                colors = self.facts.setdefault("tag-colors", {})
                colors[attributes.get("name", "")] = attributes.get("color", "")
            elif is_open:
                closing = "</tw-passagedata>" if kind == "passagedata" else f"</{kind}>"
                closed = self.ends[closing].after(at)
                body = self.text[at : closed if closed >= 0 else len(self.text)]
                at = closed + len(closing) if closed >= 0 else len(self.text)
                yield from self.passage(kind, attributes, body)

    def passage(
        self, kind: str, attributes: Mapping[str, str], body: str
    ) -> Iterator[TwinePassage]:
        if kind != "passagedata":
            if body.strip():
                tag = "script" if kind == "script" else "stylesheet"
                name = "Story JavaScript" if kind == "script" else "Story Stylesheet"
                yield self.sourced(TwinePassage(name, body, (tag,)))
            return
        if attributes.get("pid") == self.start:
            self.facts["start"] = _in_one_line(attributes.get("name", ""))
        told = {each: told for each, told in attributes.items() if told and each not in _NAMED}
        name = _in_one_line(attributes.get("name", ""))
        metadata = compact_json(told) if told else ""
        tags = tuple(attributes.get("tags", "").split())
        yield self.sourced(TwinePassage(name, clean(unescape(body)), tags, metadata))

    def sourced(self, passage: TwinePassage) -> TwinePassage:
        """Give a passage that came out of a page the form it has in Twee."""
        text, moved = _HEADER_LIKE.subn(" ::", passage.text)
        self.moved_lines += moved
        source = f"{header_of(passage.name, passage.tags, passage.metadata)}\n{text}"
        return replace(passage, text=text.strip("\n"), source=source)

    def story(self, attributes: Mapping[str, str]) -> None:
        self.start = attributes.get("startnode", "")
        self.facts["name"] = attributes.get("name", "")
        told = {each: told for each, told in attributes.items() if told and each not in _OF_PAGE}
        self.facts |= told
        zoom = _number(told.get("zoom", ""))
        self.facts |= {} if zoom is None else {"zoom": zoom}

    def notes(self) -> Iterator[str]:
        """Say what of the page is not in the story as its author may think."""
        if self.others:
            named = ", ".join(repr(each) for each in self.others)
            yield f"The file holds more than {self.facts['name']!r}; not taken: {named}"
        if self.moved_lines:
            yield (
                f"{self.moved_lines} lines begin with `::`; they have a space before it now, for in"
                " Twee it opens a passage"
            )

    def attributes(self, start: int, end: int) -> dict[str, str]:
        found = _ATTRIBUTE.finditer(self.text, start, end)
        return {each[1].lower(): unescape(each[2] or each[3] or "") for each in found}


def _in_one_line(text: str) -> str:
    return " ".join(part for each in _LINE_ENDS.split(text) if (part := each.strip()))


def _number(told: str) -> float | None:
    """Return a number that is written as it was, None for any other text."""
    try:
        value = float(told)
    except ValueError:
        return None
    value = int(value) if value.is_integer() else value
    return value if str(value) == told else None


def story_data(text: str) -> dict[str, Any] | None:
    """Return what StoryData says, None if it cannot be read."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", told) if isinstance(told, dict) else None
