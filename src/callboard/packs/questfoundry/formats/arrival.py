"""Arrival: somebody's file becomes a book, or a new version of the book it was made of."""

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from callboard.core.codec import Coded
from callboard.core.errors import InvalidInput
from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    StoryChoice,
)
from callboard.packs.questfoundry.book.playing import is_end
from callboard.packs.questfoundry.formats.naming import (
    ink_variables,
    knots,
    ordered,
    passage_names,
    variables,
)
from callboard.packs.questfoundry.formats.prose import label_of, one_line, paragraphs
from callboard.packs.questfoundry.formats.reading.ink import read_ink
from callboard.packs.questfoundry.formats.reading.twine import ReadStory, read_twee, read_twine

StoryFile = Literal["twee", "twine", "ink", "book"]
_UNUSED: Final = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
MOST_BYTES: Final = 50_000_000
_PAGE: Final = re.compile(r"<tw-storydata\b", re.IGNORECASE)
_TWINE_1: Final = re.compile(
    r"<div\b[^>]*\b(?:id=[\"']?(?:storeArea|store-area)\b|tiddler=)", re.IGNORECASE
)
_HEADER: Final = re.compile(r"^::", re.MULTILINE)
_INK: Final = re.compile(r"^[ \t]*(?:={2,}[ \t]*\w|->[ \t]*\w|[*+][ \t]|VAR\b)", re.MULTILINE)


@dataclass(frozen=True)
class BookDiff(Coded):
    """What an edited file changes in a book, by the ids of sections."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved_start: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not (self.added or self.changed or self.removed or self.moved_start)


def kind_of_file(text: str, name: str = "") -> StoryFile:
    """Say what a file is; its name counts only where it has nothing but words."""
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return "book"
    if _PAGE.search(text):
        return "twine"
    header, ink = _HEADER.search(text), _INK.search(text)
    if header and not (ink and ink.start() < header.start()):
        return "twee"
    if ink or (name.lower().endswith(".ink") and text.strip()):
        return "ink"
    told = "no story of Twee, Twine or Ink, and no book of QuestFoundry"
    fix = "Give a .twee file, a page published by Twine 2, an .ink file or a book's JSON."
    if _TWINE_1.search(text):
        told = "a page of Twine 1, which keeps its passages in another way"
        fix = "Open it in Twine 2 and publish it, or give the Twee source that Twine 1 exports."
    raise InvalidInput(f"The file is {told}", fix=fix)


def read_story(data: bytes, kind: StoryFile | None = None) -> ReadStory:
    """Read a story file of any kind; nothing in it is run."""
    if len(data) > MOST_BYTES:
        raise InvalidInput(
            f"The file has {len(data):,} bytes", fix=f"A story has at most {MOST_BYTES:,} bytes."
        )
    text, notes = text_of(data)
    match kind or kind_of_file(text):
        case "twine":
            story = read_twine(text)
        case "twee":
            story = read_twee(text)
        case "ink":
            story = read_ink(text)
        case "book":
            story = ReadStory(_read_book(text))
    return replace(story, notes=(*notes, *story.notes))


def text_of(data: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and what its author should know of how it was read."""
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        told = f"The file is no UTF-8 from byte {error.start} on; it is read as Windows-1252"
        return data.decode("latin-1" if _UNUSED.search(data) else "cp1252"), [told]


def _read_book(text: str) -> Book:
    try:
        data: Any = json.loads(text.lstrip("\ufeff"))
        return Book.from_json(data)
    except (ValueError, TypeError, RecursionError) as error:
        told = str(error).splitlines()
        raise InvalidInput(
            f"The file is no book of QuestFoundry: {'; '.join(told[:3])}",
            fix="Give the JSON of a whole book: title, start and sections.",
        ) from None


def merge(book: Book, story: ReadStory, kind: StoryFile) -> tuple[Book, BookDiff]:
    """Return the book with what an edited export of it says, and what that changes.

    A section nobody touched stays as it is in every field, also those the file cannot hold.
    """
    return _Merger(book, story.book, kind).merged()


class _Merger:
    """Matches the sections of a file with those of a book: by name, then by their words."""

    def __init__(self, book: Book, read: Book, kind: StoryFile) -> None:
        self.book = book
        self.read = read
        is_ink = kind == "ink"
        self.names = knots(book) if is_ink else passage_names(book)
        self.keys = {
            name: key for key, name in (ink_variables(book) if is_ink else variables(book)).items()
        }
        ids = {name: each for each, name in self.names.items()}
        self.ids: dict[str, str] = {}
        fresh: list[Section] = []
        for section in ordered(read):
            own = ids.get(section.id if is_ink else section.title)
            if is_ink and section.id in book.by_id:
                own = section.id
            if own is None:
                fresh.append(section)
            else:
                self.ids[section.id] = own
        self._match_words(fresh)

    def _match_words(self, fresh: list[Section]) -> None:
        """A passage with another name and the same words is the same section."""
        taken = set(self.ids.values())
        words: dict[str, list[str]] = {}
        for section in ordered(self.book):
            if section.id not in taken and section.text.strip():
                words.setdefault(_words(section), []).append(section.id)
        for section in fresh:
            alike = words.get(_words(section), [])
            if len(alike) == 1:
                self.ids[section.id] = alike.pop()
                continue
            name, number = section.id, 2
            while name in self.book.by_id or name in taken:
                name, number = f"{section.id}-{number}", number + 1
            taken.add(name)
            self.ids[section.id] = name

    def merged(self) -> tuple[Book, BookDiff]:
        """Put the book together: untouched sections as they were, the others as the file says."""
        gateways = {each.id: each for each in self.book.gateways}
        sections: list[Section] = []
        added: list[str] = []
        changed: list[str] = []
        for section in ordered(self.read):
            told = self._translated(section)
            old = self.book.by_id.get(told.id)
            if old is None:
                added.append(told.id)
                sections.append(self._with_gateways(told, None, gateways))
            elif self._is_same(old, told):
                sections.append(old)
            else:
                changed.append(told.id)
                sections.append(self._with_gateways(told, old, gateways))
        kept = {each.id for each in sections}
        removed = tuple(each.id for each in ordered(self.book) if each.id not in kept)
        start = self.ids.get(self.read.start, self.read.start)
        used = {choice.gateway for each in sections for choice in each.choices}
        book = replace(
            self.book,
            start=start,
            sections=tuple(self._in_order(sections)),
            gateways=tuple(each for each in gateways.values() if each.id in used),
            verbatim=tuple(
                replace(each, section=self.ids.get(each.section or "", each.section))
                for each in self.read.verbatim
            ),
        )
        moved = start != self.book.start
        return book, BookDiff(tuple(added), tuple(changed), removed, moved)

    def _in_order(self, sections: list[Section]) -> list[Section]:
        places = {each.id: number for number, each in enumerate(ordered(self.book))}
        return sorted(sections, key=lambda each: places.get(each.id, len(places)))

    def _translated(self, section: Section) -> Section:
        """Return a section of the file with the book's own ids and keys."""
        choices = tuple(
            replace(
                each,
                to=self.ids.get(each.to, each.to),
                requires=tuple(replace(test, key=self._key(test.key)) for test in each.requires),
                effects=self._changes(each.effects),
            )
            for each in section.choices
        )
        return replace(
            section,
            id=self.ids[section.id],
            choices=choices,
            effects=self._changes(section.effects),
        )

    def _changes(self, effects: tuple[KeyChange, ...]) -> tuple[KeyChange, ...]:
        return tuple(replace(each, key=self._key(each.key)) for each in effects)

    def _key(self, name: str) -> str:
        return self.keys.get(name, name)

    def _is_same(self, old: Section, told: Section) -> bool:
        if _words(old) != _words(told) or old.effects != told.effects:
            return False
        if self.names[old.id] != told.title and one_line(old.title) != told.title:
            return False
        ways = () if is_end(old) else old.choices
        ours = [self._shape(self.book, each) for each in ways]
        theirs = [self._shape(self.read, each, is_read=True) for each in told.choices]
        return ours == theirs

    def _shape(self, book: Book, choice: StoryChoice, *, is_read: bool = False) -> object:
        gateway = book.gateway_by_id.get(choice.gateway or "")
        tests = set(choice.requires)
        if gateway is not None:
            key = self._key(gateway.key) if is_read else gateway.key
            tests.add(KeyTest(key, gateway.negated))
        to = choice.to.removeprefix("?")
        return (label_of(choice), to, tests, choice.effects, gateway is not None)

    def _with_gateways(
        self, told: Section, old: Section | None, gateways: dict[str, Gateway]
    ) -> Section:
        """Give a changed section what the file does not say: ids of choices, kind and gateways."""
        known = {(label_of(each), each.to): each for each in (old.choices if old else ())}
        by_goal = {each.to: each for each in (old.choices if old else ())}
        used: set[str] = set()
        choices: list[StoryChoice] = []
        for number, choice in enumerate(told.choices, 1):
            match = known.get((label_of(choice), choice.to)) or by_goal.get(choice.to)
            name = match.id if match and match.id not in used else f"{told.id}.{number}"
            while name in used:
                name += "x"
            used.add(name)
            choices.append(self._gated(replace(choice, id=name), told.id, match, gateways))
        if old is None:
            return replace(told, choices=tuple(choices))
        title = old.title if self.names[old.id] == told.title else told.title
        kind = told.kind if bool(told.choices) != bool(old.choices) else old.kind
        return replace(
            told,
            title=title,
            kind=kind,
            keystone=old.keystone or told.keystone,
            choices=tuple(choices),
        )

    def _gated(
        self,
        choice: StoryChoice,
        section: str,
        match: StoryChoice | None,
        gateways: dict[str, Gateway],
    ) -> StoryChoice:
        read = self.read.gateway_by_id.get(choice.gateway or "")
        if read is None:
            return choice
        own = replace(read, at=section, key=self._key(read.key))
        old = gateways.get(match.gateway or "") if match else None
        if old is not None and (old.key, old.negated) == (own.key, own.negated):
            gateways[old.id] = replace(old, refusal=own.refusal)
            requires = match.requires if match else choice.requires
            same = set(requires) | {KeyTest(own.key, own.negated)}
            told = set(choice.requires) | {KeyTest(own.key, own.negated)}
            return replace(
                choice, gateway=old.id, requires=requires if same == told else choice.requires
            )
        name = f"gate.{choice.id}"
        gateways[name] = replace(own, id=name)
        return replace(choice, gateway=name)


def _words(section: Section) -> str:
    return "\n\n".join("\n".join(lines) for lines in paragraphs(section.text))
