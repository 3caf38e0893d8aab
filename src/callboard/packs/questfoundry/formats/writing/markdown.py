"""Markdown: the book as one text to read and to print, with a link for every choice."""

import re
from collections.abc import Mapping
from typing import Final

from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.formats.naming import anchors
from callboard.packs.questfoundry.formats.prose import PageWords, one_line, paragraphs
from callboard.packs.questfoundry.formats.writing.printed import PrintedSection, Printing

# Every sign that may mean something in CommonMark or in what is built on it can be escaped.
_SIGNS: Final = re.compile(r"[\\`*_{}\[\]<>()#+\-.!|~$^=:@&\"']")
_PLAIN_SIGNS: Final = re.compile(r"(?<=\w)[.\-'](?=\w)|[.!,;:?'](?=\s|$)")
_COUNTED: Final = re.compile(r"\d{1,9}\.(?=\s|$)")


def markdown_of(book: Book, words: PageWords) -> bytes:
    """Return the book as Markdown; its start stands first."""
    names = anchors(book)
    printed = Printing(book, words).sections()
    printed.sort(key=lambda section: section.id != book.start)
    parts = [f"# {escaped(one_line(book.title))}"]
    parts += [f"*{escaped(one_line(book.author))}*"] if one_line(book.author) else []
    for section in printed:
        parts += _section(section, names, words)
    parts += _codex(book, words)
    return ("\n\n".join(parts) + "\n").encode()


def escaped(text: str) -> str:
    """Return words as Markdown that shows them as they are."""
    plain = [found.span() for found in _PLAIN_SIGNS.finditer(text)]
    starts = {start for start, _ in plain}
    if _COUNTED.match(text):
        starts.discard(text.index("."))
    return _SIGNS.sub(lambda found: found[0] if found.start() in starts else f"\\{found[0]}", text)


def _section(section: PrintedSection, names: Mapping[str, str], words: PageWords) -> list[str]:
    anchor = names[section.id]
    heading = escaped(section.title or words.untitled)
    parts = [f'<a id="{anchor}"></a>\n\n## {heading}']
    parts += [f"*{escaped(each)}*" for each in section.plates]
    parts += ["\\\n".join(escaped(line) for line in lines) for lines in section.paragraphs]
    parts += [f"*{escaped(each)}*" for each in section.notes]
    told: list[str] = []
    for choice in section.choices:
        before = escaped(choice.lead)
        after = "".join(f" *{escaped(each)}*" for each in choice.notes)
        label = escaped(choice.label)
        link = f"[{label}](#{names[choice.to]})" if choice.to in names else label
        told.append(f"- {before}{link}{after}")
    parts += ["\n".join(told)] if told else []
    return parts + ([f"**{escaped(section.end)}**"] if section.end is not None else [])


def _codex(book: Book, words: PageWords) -> list[str]:
    parts = [f"## {escaped(words.codex)}"] if book.codex else []
    for entry in book.codex:
        parts.append(f"### {escaped(one_line(entry.title))}")
        for text in (entry.overview, entry.usage, entry.context):
            parts += ["\\\n".join(escaped(line) for line in lines) for lines in paragraphs(text)]
    return parts
