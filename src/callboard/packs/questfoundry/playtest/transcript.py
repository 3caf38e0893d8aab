"""Transcript: what a reader saw and did, in one form whoever the player is.

Players are the book's own meaning, and an Ink engine that is not ours.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from callboard.core.errors import CallboardError
from callboard.packs.questfoundry.book.model import Book, StoryChoice
from callboard.packs.questfoundry.book.playing import (
    ReaderPosition,
    begin,
    is_end,
    offers,
    take,
)
from callboard.packs.questfoundry.formats.prose import (
    WORDS,
    PageWords,
    gateway_of,
    label_of,
    one_line,
    refusal_of,
    told_paragraphs,
)


@dataclass(frozen=True, slots=True)
class Sight:
    """What stands before a reader: new lines, then the labels on offer, none at an end."""

    lines: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A playthrough: what was seen, and between two sights the number of the label taken."""

    sights: tuple[Sight, ...]
    moves: tuple[int, ...]

    def text(self) -> str:
        """Return it for people to read and to compare."""
        told: list[str] = []
        for number, sight in enumerate(self.sights):
            told += sight.lines
            told += [f"  {at}. {label}" for at, label in enumerate(sight.labels, 1)]
            if number < len(self.moves):
                told.append(f"> {self.moves[number] + 1}")
        return "\n".join(told) + "\n"


class Player(Protocol):
    """Something that plays the book: our own model of it, or an interpreter of an export."""

    def begin(self) -> Sight:
        """Start from the beginning, whatever was played before."""
        ...

    def choose(self, number: int) -> Sight:
        """Take one of the labels on offer, counted from zero."""
        ...


def play(player: Player, moves: Sequence[int]) -> Transcript:
    """Play some moves and write down what is seen."""
    sights = [player.begin()]
    sights += [player.choose(move) for move in moves]
    return Transcript(tuple(sights), tuple(moves))


def sight(lines: Iterable[str], labels: Iterable[str]) -> Sight:
    """Return a sight with its words apart by single spaces and without empty lines."""
    told = tuple(line for each in lines if (line := one_line(each)))
    return Sight(told, tuple(map(one_line, labels)))


class ModelPlayer:
    """Plays the book by its own meaning."""

    def __init__(self, book: Book, words: PageWords = WORDS) -> None:
        """Take the book and the words that formats add to it."""
        self.book = book
        self.words = words
        self.position = ReaderPosition("")

    def begin(self) -> Sight:
        """Start from the beginning."""
        self.position = begin(self.book)
        return self._arrived()

    def choose(self, number: int) -> Sight:
        """Take an open way, or try a closed one and be told."""
        offered = offers(self.book, self.position)[number]
        choice = offered.choice
        if not offered.is_open:
            return sight([self._refusal(choice)], self._labels())
        if choice.to not in self.book.by_id:
            return sight([self.words.unwritten], self._labels())
        self.position = take(self.book, self.position, choice.id)
        return self._arrived()

    def _refusal(self, choice: StoryChoice) -> str:
        gateway = gateway_of(self.book, choice)
        return refusal_of(gateway, self.words) if gateway else ""

    def _arrived(self) -> Sight:
        section = self.book.by_id[self.position.section]
        told = told_paragraphs(section, self.words)
        return sight((line for each in told for line in each), self._labels())

    def _labels(self) -> list[str]:
        if is_end(self.book.by_id[self.position.section]):
            return []
        return [label_of(each.choice) for each in offers(self.book, self.position)]


class NoEngine(CallboardError):
    """The interpreter of an export is not installed."""

    code = "quest_no_engine"


class InkPlayer:
    """Plays Ink JSON in the engine `bink`."""

    def __init__(self, story: bytes) -> None:
        """Take the compiled story."""
        try:
            engine: Any = import_module("bink.story")
        except ImportError as error:
            raise NoEngine("The Ink engine is not there", fix="pip install bink") from error
        self.story: Any = engine.Story(story.decode())

    def begin(self) -> Sight:
        """Start from the beginning."""
        self.story.reset_state()
        return self._seen()

    def choose(self, number: int) -> Sight:
        """Take a choice of the engine."""
        self.story.choose_choice_index(number)
        return self._seen()

    def _seen(self) -> Sight:
        text = self.story.continue_maximally() if self.story.can_continue() else ""
        return sight(str(text).split("\n"), [str(each) for each in self.story.choices])
