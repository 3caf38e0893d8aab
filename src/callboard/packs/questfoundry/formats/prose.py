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


def paragraphs(text: str) -> list[list[str]]:
    """Return the paragraphs of a text, each as its lines."""
    found: list[list[str]] = [[]]
    for line in clean(text).split("\n"):
        told = _SPACES.sub(" ", line).strip()
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
    return one_line(gateway.refusal) or words.refused


def gateway_of(book: Book, choice: StoryChoice) -> Gateway | None:
    """Return the gateway a choice passes, if it names one that exists."""
    return book.gateway_by_id.get(choice.gateway) if choice.gateway else None


def label_of(choice: StoryChoice) -> str:
    """Return the words of a choice; one without any is shown as three dots."""
    return one_line(choice.label) or "…"
