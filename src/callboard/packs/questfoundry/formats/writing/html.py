"""HTML: the whole book in one page that plays itself, keeps a reader's place and asks no network.

The page is given its text as data and shows it as text. Neither keys nor ids of choices are in it:
state is numbers.
"""

import base64
import hashlib
import re
from collections import defaultdict
from html import escape
from importlib.resources import files
from typing import Any, Final

from callboard.core.canonical import canonical_json, digest
from callboard.library.binding.volume import is_right_to_left
from callboard.packs.questfoundry.book.model import Book, KeyChange, KeyTest, Section, StoryChoice
from callboard.packs.questfoundry.book.playing import is_end, needs
from callboard.packs.questfoundry.formats.naming import anchors, ordered
from callboard.packs.questfoundry.formats.prose import (
    PageWords,
    clean,
    gateway_of,
    label_of,
    one_line,
    paragraphs,
    refusal_of,
    told_paragraphs,
)

_HERE: Final = files(__package__ or __name__)
_PLACES: Final = re.compile(
    "LANGUAGE|DIRECTION|TITLE|BYLINE|NEEDS_SCRIPT|RESTART|CODEX|SCRIPT_HASH|STYLE_HASH|STYLE|SCRIPT|BOOK"
)
# So that nothing in the data can end the element it stands in.
_IN_SCRIPT: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def html_of(book: Book, words: PageWords) -> bytes:
    """Return the book as one page."""
    style = _HERE.joinpath("page.css").read_text("utf-8")
    script = _HERE.joinpath("page.js.txt").read_text("utf-8")
    data = canonical_json(_PageData(book, words).whole())
    for each, written in _IN_SCRIPT.items():
        data = data.replace(each, written)
    parts = {
        "LANGUAGE": escape(one_line(book.language) or "en"),
        "DIRECTION": ' dir="rtl"' if is_right_to_left(book.language) else "",
        "TITLE": escape(one_line(book.title)),
        "BYLINE": f'<p dir="auto">{escape(one_line(book.author))}</p>' if book.author else "",
        "NEEDS_SCRIPT": escape(words.needs_script),
        "RESTART": escape(words.restart),
        "CODEX": _codex(book, words),
        "SCRIPT_HASH": _hash(script),
        "STYLE_HASH": _hash(style),
        "STYLE": style,
        "SCRIPT": script,
        "BOOK": data,
    }
    return _filled(_HERE.joinpath("page.html").read_text("utf-8"), parts).encode()


class _PageData:
    """The book as the script of the page reads it: sections and keys by number."""

    def __init__(self, book: Book, words: PageWords) -> None:
        self.book = book
        self.words = words
        self.anchors = anchors(book)
        self.numbers = {each.id: number for number, each in enumerate(ordered(book))}
        self.keys = {key: number for number, key in enumerate(book.keys, 1)}
        self.endings = {each.section: one_line(each.title) for each in book.endings}
        self.pictures: dict[str, list[list[str]]] = defaultdict(list)
        for each in book.pictures:
            told = [clean(each.alt or each.subject), clean(each.caption)]
            self.pictures[each.section].append(told)
        self.sounds: dict[str, list[str]] = defaultdict(list)
        for each in book.cues:
            self.sounds[each.section].append(clean(each.caption or each.description))

    def whole(self) -> dict[str, Any]:
        words = self.words
        told: dict[str, Any] = {
            "name": one_line(self.book.ifid) or one_line(self.book.title),
            "start": self.numbers[self.book.start],
            "sections": [self.section(each) for each in ordered(self.book)],
            "words": {
                name: getattr(words, name)
                for name in ("end", "choices", "untitled", "picture", "sound", "unwritten", "saved")
            },
        }
        # A place kept in another edition may not exist in this one.
        return {**told, "edition": digest(told)[:16]}

    def section(self, section: Section) -> dict[str, Any]:
        ending = self.endings.get(section.id, "")
        return {
            "anchor": self.anchors[section.id],
            "title": one_line(section.title),
            "text": told_paragraphs(section, self.words),
            "effects": self.changed(section.effects),
            "end": ending if is_end(section) else None,
            "choices": [self.choice(each) for each in section.choices],
            "pictures": self.pictures[section.id],
            "sounds": self.sounds[section.id],
        }

    def choice(self, choice: StoryChoice) -> list[Any]:
        gateway = gateway_of(self.book, choice)
        return [
            label_of(choice),
            self.numbers.get(choice.to, -1),
            self.needed(needs(self.book, choice)),
            self.changed(choice.effects),
            refusal_of(gateway, self.words) if gateway else None,
        ]

    def needed(self, tests: tuple[KeyTest, ...]) -> list[int]:
        return [-self.keys[each.key] if each.negated else self.keys[each.key] for each in tests]

    def changed(self, effects: tuple[KeyChange, ...]) -> list[int]:
        return [self.keys[each.key] * (1 if each.op == "set" else -1) for each in effects]


def _codex(book: Book, words: PageWords) -> str:
    if not book.codex:
        return ""
    titles = {each.slug: each.title for each in book.codex}
    told = [f"<details><summary>{escape(words.codex)}</summary>"]
    for entry in book.codex:
        told.append(f'<h2 dir="auto">{escape(one_line(entry.title))}</h2>')
        for text in (entry.overview, entry.usage, entry.context):
            for lines in paragraphs(text):
                told.append(f'<p dir="auto">{"<br>".join(escape(line) for line in lines)}</p>')
        seen = [titles[each] for each in entry.see_also if each in titles]
        if seen:
            told.append(f"<p>{escape(words.see_also)}: {escape(', '.join(seen))}</p>")
    return "\n".join([*told, "</details>"])


def _filled(page: str, parts: dict[str, str]) -> str:
    """Fill the page in one pass, so that nothing filled in is taken for a place to fill."""
    return _PLACES.sub(lambda found: parts[found[0]], page)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
