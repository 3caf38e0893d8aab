"""Dialects: which story format a Twine story is for, and who reads its passages.

SugarCube and Harlowe have readers of their own. Of any other format links and words are read here;
its programs stay where they stand, and so does every link that a program may hide.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from callboard.packs.questfoundry.formats.reading.harlowe import read_harlowe
from callboard.packs.questfoundry.formats.reading.nodes import (
    STRING,
    Link,
    Markup,
    Node,
    Places,
    PlainText,
    decoded,
    is_outside,
    scan,
    split_link,
)
from callboard.packs.questfoundry.formats.reading.sugarcube import read_sugarcube

SUGARCUBE: Final = "sugarcube"
HARLOWE: Final = "harlowe"
SNOWMAN: Final = "snowman"
CHAPBOOK: Final = "chapbook"
# What a story of ours says of the format it is written for.
FORMATS: Final = {
    SUGARCUBE: {"format": "SugarCube", "format-version": "2.37.3"},
    HARLOWE: {"format": "Harlowe", "format-version": "3.3.9"},
}
_HARLOWE_MACRO: Final = re.compile(r"\([A-Za-z][\w\-]*:")
_MODIFIER: Final = re.compile(
    r"^\[(?:if|ifalways|ifnever|unless|else|continue|cont|cont'd|after|append|JavaScript|CSS)\b"
    r"[^\[\]\n]*\][ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_MARKS: Final = re.compile(
    r"(?P<quoted><!--|<%|<(?i:script|style)\b)|(?P<link>\[\[(?!\[))|(?P<modifier>^\[(?!\[))"
    r"|(?P<insert>\{(?=[A-Za-z_]))|(?P<tag></?[A-Za-z][A-Za-z0-9\-]*)"
    r"|(?P<sign>\*+|_+|~~|`+|\\|^[ \t]*#{1,6}(?= )|^[ \t]*>)",
    re.MULTILINE,
)
_CLOSED_BY: Final = {"<!--": "-->", "<%": "%>", "<script": "</script>", "<style": "</style>"}
_VARIABLES: Final = re.compile(r"\A(?:[^\n]*\n)*?--[ \t]*(?:\n|\Z)")
_PROGRAM: Final = re.compile(r"\[(?:[^;\]]*;)*\s*(?:javascript|css|note|n\.b|todo|fixme)\b", re.I)
_CONTINUED: Final = re.compile(r"\[\s*cont(?:inue|'d|inued)?\s*\]", re.IGNORECASE)


def dialect_of(named: str, text: str) -> tuple[str, str]:
    """Return the story format of a story, and what its author should know of that."""
    told = named.strip().lower()
    if told in FORMATS:
        return told, ""
    if told:
        return told, f"Of {named} only links are understood; the rest stays as it was written"
    if "<<" not in text and _HARLOWE_MACRO.search(text):
        return HARLOWE, ""
    guess = SNOWMAN if "<%" in text else CHAPBOOK if _MODIFIER.search(text) else SUGARCUBE
    if guess == SUGARCUBE:
        return guess, ""
    return guess, (
        f"No story format is named; it reads like {guess.title()}, of which only links are"
        " understood"
    )


def reader_of(dialect: str) -> Callable[[str], list[Node]]:
    """Return the reader of a story format's passages."""
    if dialect in FORMATS:
        return read_harlowe if dialect == HARLOWE else read_sugarcube
    return partial(_read_other, has_modifiers=dialect == CHAPBOOK)


def _read_other(text: str, *, has_modifiers: bool) -> list[Node]:
    head = _VARIABLES.match(text) if has_modifiers else None
    start = head.end() if head else 0
    before: list[Node] = [Markup(text[:start], "variables of the passage")] if start else []
    rest = text[start:]
    return [*before, *scan(rest, _MARKS, _OtherReader(rest, has_modifiers=has_modifiers).read)]


class _OtherReader:
    """Reads one mark after the other, and knows whether a program may hide what comes next."""

    def __init__(self, text: str, *, has_modifiers: bool) -> None:
        self.text = text
        self.has_modifiers = has_modifiers
        self.ends: dict[str, Places] = {}
        self.depth = 0
        self.is_modified = False

    def end_of(self, sign: str, at: int) -> int:
        if sign not in self.ends:
            self.ends[sign] = Places(self.text, sign)
        return self.ends[sign].after(at)

    def read(self, found: re.Match[str]) -> tuple[Link | Markup | PlainText | None, int]:
        match found.lastgroup:
            case "quoted":
                return self.quoted(found)
            case "link":
                return self.link(found)
            case "modifier":
                return self.modifier(found) if self.has_modifiers else (None, found.end())
            case "insert" | "tag":
                return self.until(found, "}" if found[0] == "{" else ">")
            case _:
                return Markup(found[0], "markup"), found.end()

    def quoted(self, found: re.Match[str]) -> tuple[Markup, int]:
        closing = _CLOSED_BY[found[0].lower()]
        end = self.end_of(closing, found.end())
        if end < 0:
            return Markup(found[0], "markup"), found.end()
        told = self.text[found.start() : end + len(closing)]
        if closing == "%>":
            code = STRING.sub("", told)
            self.depth = max(0, self.depth + code.count("{") - code.count("}"))
        return Markup(told, "a program"), end + len(closing)

    def until(self, found: re.Match[str], closing: str) -> tuple[Markup | None, int]:
        end, line = self.end_of(closing, found.end()), self.end_of("\n", found.end())
        if end < 0 or (closing == "}" and 0 <= line < end):
            return None, found.end()
        why = "HTML" if closing == ">" else "an insert"
        return Markup(self.text[found.start() : end + 1], why), end + 1

    def modifier(self, found: re.Match[str]) -> tuple[Markup | None, int]:
        line = self.end_of("\n", found.end())
        end = line if line >= 0 else len(self.text)
        told = self.text[found.start() : end]
        if not told.rstrip().endswith("]"):
            return None, found.end()
        self.is_modified = not _CONTINUED.match(told)
        if _PROGRAM.match(told):
            after = self.end_of("\n[", end)
            while after >= 0 and self.text.startswith("[[", after + 1):
                after = self.end_of("\n[", after + 1)
            end = after if after >= 0 else len(self.text)
        return Markup(self.text[found.start() : end], "a modifier"), end

    def link(self, found: re.Match[str]) -> tuple[Link | Markup | None, int]:
        start = found.start()
        end, line = self.end_of("]]", start + 2), self.end_of("\n", start)
        if end < 0 or 0 <= line < end:
            return None, start + 2
        source = self.text[start : end + 2]
        label, target = (each.strip() for each in split_link(source[2:-2]))
        if not target or is_outside(target):
            return Markup(source, "a link whose goal only a player knows"), end + 2
        is_plain = not (self.depth or self.is_modified or _MARKS.search(label))
        return Link(source, decoded(label) if is_plain else label, target, (), is_plain), end + 2
