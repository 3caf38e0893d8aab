"""Printed: a book that cannot keep state for its reader, as Markdown, EPUB and paper show it.

A condition is told by the words of its gateway or by a codeword somebody has reviewed. One that has
neither is not told at all: the choice is printed without it, and named among the losses.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.book.model import Book, KeyChange, Section, StoryChoice
from callboard.packs.questfoundry.book.playing import is_end, needs
from callboard.packs.questfoundry.formats.naming import ordered
from callboard.packs.questfoundry.formats.prose import (
    PageWords,
    gateway_of,
    isolated,
    label_of,
    one_line,
    told_paragraphs,
)

_SENTENCE_ENDS: Final = (".", "!", "?", "…", ":", ".”", "!”", "?”", '."', '!"', '?"')


@dataclass(frozen=True, slots=True)
class PrintedChoice:
    """A choice with what a reader must know before and write down after; `to` may not exist."""

    condition: str
    label: str
    notes: tuple[str, ...]
    to: str

    @property
    def lead(self) -> str:
        """What stands before its label: a sentence as it is, anything else with a colon."""
        is_sentence = self.condition.endswith(_SENTENCE_ENDS)
        return f"{self.condition}{' ' if is_sentence else ': '}" if self.condition else ""


@dataclass(frozen=True, slots=True)
class PrintedSection:
    """A section with everything a reader of paper needs."""

    id: str
    title: str
    notes: tuple[str, ...]
    paragraphs: list[list[str]]
    choices: tuple[PrintedChoice, ...]
    end: str | None
    plates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Printing:
    """A book made ready for a page."""

    book: Book
    words: PageWords
    codewords: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        """Keep the codewords that may be printed."""
        reviewed = {
            each.key: one_line(each.printed)
            for each in self.book.codewords
            if each.reviewed and one_line(each.printed)
        }
        object.__setattr__(self, "codewords", reviewed)

    def sections(self) -> list[PrintedSection]:
        """Return all sections in the book's order."""
        endings = {each.section: one_line(each.title) for each in self.book.endings}
        plates: dict[str, list[str]] = {}
        for picture in self.book.pictures:
            told = one_line(picture.caption or picture.alt or picture.subject)
            plates.setdefault(picture.section, []).append(f"[{self.words.picture}: {told}]")
        for cue in self.book.cues:
            told = one_line(cue.caption or cue.description)
            plates.setdefault(cue.section, []).append(f"[{self.words.sound}: {told}]")
        return [
            self._section(each, endings.get(each.id, ""), plates.get(each.id, ()))
            for each in ordered(self.book)
        ]

    def untold(self) -> list[str]:
        """Return the ids of choices that are printed without one of their conditions."""
        return [
            choice.id
            for section in ordered(self.book)
            for choice in section.choices
            if any(
                test.key not in self.codewords and not self._is_told_by_gateway(choice, test.key)
                for test in needs(self.book, choice)
            )
        ]

    def _section(self, section: Section, ending: str, plates: Iterable[str]) -> PrintedSection:
        end = (f"{self.words.end}: {ending}" if ending else self.words.end) + "."
        return PrintedSection(
            section.id,
            one_line(section.title),
            tuple(self._notes(section.effects)),
            told_paragraphs(section, self.words),
            () if is_end(section) else tuple(self._choice(each) for each in section.choices),
            end if is_end(section) else None,
            tuple(plates),
        )

    def _choice(self, choice: StoryChoice) -> PrintedChoice:
        gateway = gateway_of(self.book, choice)
        phrase = isolated(one_line(gateway.phrase)) if gateway else ""
        told = [
            (self.words.without_word if test.negated else self.words.with_word).format(word=word)
            for test in needs(self.book, choice)
            if (word := self.codewords.get(test.key))
        ]
        if phrase.endswith(_SENTENCE_ENDS):
            # A sentence of the story stands before what is asked, not within it.
            condition = " ".join(part for part in (phrase, self.words.and_then.join(told)) if part)
        else:
            condition = self.words.and_then.join([phrase, *told] if phrase else told)
        return PrintedChoice(
            condition,
            label_of(choice),
            tuple(self._notes(choice.effects)),
            choice.to,
        )

    def _notes(self, effects: Iterable[KeyChange]) -> Iterable[str]:
        for effect in effects:
            if word := self.codewords.get(effect.key):
                told = self.words.gain_word if effect.op == "set" else self.words.lose_word
                yield told.format(word=word)

    def _is_told_by_gateway(self, choice: StoryChoice, key: str) -> bool:
        gateway = gateway_of(self.book, choice)
        return gateway is not None and gateway.key == key and bool(one_line(gateway.phrase))
