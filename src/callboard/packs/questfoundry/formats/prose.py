"""Prose: the text of a section as every format shows it, and the few words a format adds.

The text of a book is plain. A blank line ends a paragraph, a line's end is one; no sign in it means
anything, so what looks like markup is shown as it was written.
"""

import re
from dataclasses import dataclass
from typing import Final

from callboard.library.binding.prose_tree import without_controls
from callboard.packs.questfoundry.book.model import Book, Gateway, Section, StoryChoice
from callboard.packs.questfoundry.book.playing import is_left_open

# Marks that force a direction upon what follows, each as the one that does so within itself only.
_ISOLATES: Final = {"\u202a": "\u2066", "\u202d": "\u2066", "\u202b": "\u2067", "\u202e": "\u2067"}
_OPENING, _ENDING = "\u2066\u2067\u2068", "\u2069"
_FORCING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SPACES: Final = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class PageWords:
    """What a format says of its own; a translation of a book brings its own."""

    end: str = "The end"
    restart: str = "Start again"
    choices: str = "What do you do?"
    untitled: str = "The story goes on"
    codex: str = "Codex"
    see_also: str = "See also"
    picture: str = "Picture"
    sound: str = "Sound"
    refused: str = "That way is closed to you now."
    unwritten: str = "This way is not written yet."
    left_open: str = "No way on from here is written yet."
    needs_script: str = "This page needs JavaScript to be played."
    saved: str = "Your place is kept on this device."
    untranslated: str = "This part is not translated yet."
    turn_to: str = "turn to {number}"
    with_word: str = "If you have the codeword {word}"
    without_word: str = "If you do not have the codeword {word}"
    gain_word: str = "Write down the codeword {word}."
    lose_word: str = "Cross out the codeword {word}."
    and_then: str = " and "


WORDS: Final = PageWords()


def clean(text: str) -> str:
    """Return a text with plain line ends and nothing that no page may hold."""
    return without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """Return a text on one line, its words apart by single spaces."""
    return " ".join(clean(text).split())


def isolated(line: str) -> str:
    """Return a line whose marks of direction turn nothing around it: isolates, all closed."""
    if not _FORCING.search(line):
        return line
    told: list[str] = []
    depth = 0
    for sign in line:
        each = _ISOLATES.get(sign, _ENDING if sign == "\u202c" else sign)
        if each == _ENDING and not depth:
            continue
        depth += (each in _OPENING) - (each == _ENDING)
        told.append(each)
    return "".join(told) + _ENDING * depth


def is_turning(text: str) -> bool:
    """Say whether a text holds marks of direction that are not written as they are."""
    lines = clean(text).split("\n") if _FORCING.search(text) else ()
    return any(isolated(line) != line for line in lines)


def paragraphs(text: str) -> list[list[str]]:
    """Return the paragraphs of a text, each as its lines."""
    found: list[list[str]] = [[]]
    for line in clean(text).split("\n"):
        told = isolated(_SPACES.sub(" ", line).strip())
        if told:
            found[-1].append(told)
        elif found[-1]:
            found.append([])
    return [each for each in found if each]


def told_paragraphs(section: Section, words: PageWords = WORDS) -> list[list[str]]:
    """Return what a section tells its readers: its text, and where it is left open that it is."""
    told = paragraphs(section.text)
    return [*told, [words.left_open]] if is_left_open(section) else told


def without_left_open(text: str) -> str:
    """Return the text of a section that was written as left open, without the words for that."""
    return text.removesuffix(WORDS.left_open).rstrip()


def refusal_of(gateway: Gateway, words: PageWords = WORDS) -> str:
    """Return what a closed gateway says; one without words of its own says so plainly."""
    return isolated(one_line(gateway.refusal)) or words.refused


def gateway_of(book: Book, choice: StoryChoice) -> Gateway | None:
    """Return the gateway a choice passes, if it names one that exists."""
    return book.gateway_by_id.get(choice.gateway) if choice.gateway else None


def label_of(choice: StoryChoice) -> str:
    """Return the words of a choice; one without any is shown as three dots."""
    return isolated(one_line(choice.label)) or "…"
