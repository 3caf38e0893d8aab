"""Twine: a Twee 3 file or a page of Twine 2 as a book.

What is understood becomes sections and choices. The rest stays where it stands, is listed in the
book and is written out again as it was; none of it is ever run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from callboard.core.canonical import canonical_json
from callboard.packs.questfoundry.book.model import (
    ANCHOR,
    METADATA,
    SOURCE,
    Book,
    Gateway,
    Section,
    SectionKind,
    StoryChoice,
    Verbatim,
    is_look,
)
from callboard.packs.questfoundry.formats.naming import SPECIAL, slugs
from callboard.packs.questfoundry.formats.prose import one_line, without_left_open
from callboard.packs.questfoundry.formats.reading.dialects import FORMATS, dialect_of, reader_of
from callboard.packs.questfoundry.formats.reading.fragments import (
    EVERY_KEY,
    Reading,
    ReadWay,
    keys_beyond,
    section_text,
    understood,
)
from callboard.packs.questfoundry.formats.reading.passages import (
    STORY_DATA,
    STORY_TITLE,
    PassageFile,
    TwinePassage,
    story_data,
    twee_passages,
    twine_passages,
)

KEYS_PASSAGE: Final = "Book keys"
_OWN_TAGS: Final = frozenset(
    ("script", "stylesheet", "widget", "init", "startup", "header", "footer", "Twine.image")
)
_KIND_TAGS: Final = {"hub": SectionKind.HUB, "gateway": SectionKind.GATEWAY}
_KEYSTONE: Final = "keystone"
_ENDING: Final = "ending"
# Nobody has written how it goes on.
_LEFT_OPEN: Final = "unfinished"
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SETS_ONLY: Final = re.compile(r"(?:\(set: \$\w+ to false\)\s*)*+")
# A book needs few rounds until it is known which keys it cannot follow.
_MOST_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class ReadStory:
    """A book out of somebody's file, and what its author should know of the reading.

    `shown` is what readers of the book see in another way than those of the story did.
    """

    book: Book
    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


def read_twee(text: str) -> ReadStory:
    """Read a Twee 3 file."""
    return _Arrival(twee_passages(text), "twee").story()


def read_twine(text: str) -> ReadStory:
    """Read a page that Twine 2 has published."""
    return _Arrival(twine_passages(text), "twine").story()


def reread(sources: Iterable[str], dialect: str) -> Book:
    """Read passages again as they stood in their file, for a story format that is known."""
    return _Arrival(twee_passages("".join(sources)), "twee", dialect).story().book


class _Arrival:
    """One file on its way to be a book."""

    def __init__(
        self, file: PassageFile, origin: Literal["twee", "twine"], dialect: str = ""
    ) -> None:
        self.file = file
        self.origin: Literal["twee", "twine"] = origin
        self.notes: list[str] = list(file.notes)
        self.facts: dict[str, Any] = dict(file.facts)
        self.title = str(self.facts.pop("name", ""))
        self.sections: list[TwinePassage] = []
        # Why a passage of the file is no section; without a reason it is read all the same.
        self.others: dict[int, str] = {}
        self.sort()
        text = "\n".join(each.text for each in self.sections)
        told, note = dialect_of(str(self.facts.get("format", "")), text)
        self.dialect = dialect or told
        self.notes += [note] if note else []
        self.ids = slugs(each.name for each in self.sections)
        self.taken = set(self.ids)
        self.by_name = {each.name: slug for each, slug in zip(self.sections, self.ids, strict=True)}

    def sort(self) -> None:
        """Part the passages of the story from those that are something else."""
        seen: set[str] = set()
        for at, passage in enumerate(self.file.passages):
            if passage.name == STORY_DATA:
                self.others[at] = self.take_data(passage)
            elif passage.name == STORY_TITLE and not self.title:
                self.title, self.others[at] = one_line(passage.text), ""
            elif passage.name == KEYS_PASSAGE and _SETS_ONLY.fullmatch(passage.text.strip()):
                self.others[at] = ""
            elif passage.name in SPECIAL or _OWN_TAGS & set(passage.tags):
                self.others[at] = "no part of the story that is read"
            elif passage.name in seen or not passage.name:
                self.notes.append(f"There is more than one passage {passage.name!r}")
                self.others[at] = "another passage has this name"
            else:
                seen.add(passage.name)
                self.sections.append(passage)

    def take_data(self, passage: TwinePassage) -> str:
        told = story_data(passage.text)
        if told is None:
            self.notes.append("StoryData is not JSON; it is kept as it is")
            return "StoryData that cannot be read"
        if "ifid" in self.facts or "start" in self.facts:
            return "a second StoryData"
        self.facts.update(told)
        return ""

    def as_it_stood(self) -> Iterator[Verbatim]:
        """Yield the whole file in its order: passages that were read, and the others."""
        before, slugs = self.file.before, iter(self.ids)
        if before.strip("\ufeff \t\r\n"):
            yield Verbatim("", self.origin, before, "above the first passage")
        elif before:
            yield self.source(before, None)
        for at, passage in enumerate(self.file.passages):
            if why := self.others.get(at):
                yield Verbatim(passage.name, self.origin, passage.source, why)
            else:
                yield self.source(passage.source, None if at in self.others else next(slugs))

    def source(self, text: str, section: str | None) -> Verbatim:
        return Verbatim(SOURCE, self.origin, text, "as it stood", section, self.dialect)

    def story(self) -> ReadStory:
        readings = self.read()
        sections: list[Section] = []
        gateways: list[Gateway] = []
        pieces: list[Verbatim] = []
        for passage, slug, reading in zip(self.sections, self.ids, readings, strict=True):
            told = section_text(reading)
            choices, gates = self.choices(slug, reading.all_ways)
            gateways += gates
            sections.append(self.section(passage, slug, told.text, choices, reading))
            if passage.metadata:
                pieces.append(Verbatim(METADATA, self.origin, passage.metadata, "of the map", slug))
            pieces += [
                Verbatim(passage.name, self.origin, mark, why, slug, self.dialect, tuple(places))
                for mark, (why, places) in told.marks.items()
            ]
            pieces += [
                Verbatim(ANCHOR, self.origin, words, "within a sentence", slug, "", tuple(places))
                for words, places in told.anchors.items()
            ]
        start = self.start()
        book = Book(
            title=self.title,
            start=start,
            sections=tuple(sections),
            ifid=str(self.facts.pop("ifid", "")),
            gateways=tuple(gateways),
            verbatim=(*self.data(), *pieces, *self.as_it_stood()),
        )
        return ReadStory(book, tuple(self.notes), tuple(self.shown(pieces)))

    def shown(self, pieces: Iterable[Verbatim]) -> Iterator[str]:
        links = sum(len(each.places) for each in pieces if each.is_anchor)
        if links:
            yield (
                f"Links within sentences: {links}. Their words stay there; as links they come back"
                " there in Twee, elsewhere they stand below the text"
            )
        if self.sections:
            yield "The names of passages are the headings that readers see"

    def read(self) -> list[Reading]:
        """Read all passages until it is known which keys cannot be followed."""
        reader = reader_of(self.dialect)
        nodes = [reader(each.text) for each in self.sections]
        whole = (self.file.passages[at].source for at, why in self.others.items() if why)
        told = "\n".join((self.file.before, *whole))
        unknown = frozenset(_WORD.findall(told))
        for _ in range(_MOST_ROUNDS):
            more = unknown.union(*(keys_beyond(each, unknown) for each in nodes))
            if more == unknown:
                return [understood(each, unknown) for each in nodes]
            unknown = more
        return [understood(each, EVERY_KEY) for each in nodes]

    def choices(
        self, section: str, ways: Sequence[ReadWay]
    ) -> tuple[tuple[StoryChoice, ...], list[Gateway]]:
        choices: list[StoryChoice] = []
        gateways: list[Gateway] = []
        for number, way in enumerate(ways, 1):
            name = f"{section}.{number}"
            requires, gateway = way.requires, None
            if way.refusal is not None:
                gateway, last = f"gate.{name}", requires[-1]
                requires = requires[:-1]
                gateways.append(
                    Gateway(gateway, section, last.key, last.negated, refusal=one_line(way.refusal))
                )
            choices.append(
                StoryChoice(name, way.label, self.goal(way.target), requires, way.effects, gateway)
            )
        return tuple(choices), gateways

    def goal(self, name: str) -> str:
        """Return the section a link leads to; one that is missing is never taken for another."""
        if name in self.by_name:
            return self.by_name[name]
        return f"?{name}" if name in self.taken or name.startswith("?") else name

    def start(self) -> str:
        named, lost = self.facts.pop("start", None), self.facts.pop("startnode", None)
        if isinstance(named, str) and named:
            if named not in self.by_name:
                self.notes.append(f"The story starts at {named!r}, which is not there")
            return self.goal(named)
        first = self.sections[0].name if self.sections else "Start"
        first = "Start" if "Start" in self.by_name else first
        if lost is not None or first != "Start":
            told = "Nothing says where the story starts"
            told = told if lost is None else f"The story starts at passage {lost}, not in the page"
            self.notes.append(f"{told}; it is taken to be {first!r}")
        return self.goal(first)

    def data(self) -> list[Verbatim]:
        """Return what StoryData says beyond what the book holds."""
        rest = {name: value for name, value in self.facts.items() if name != "ifid"}
        usual = FORMATS.get(self.dialect)
        if usual and all(rest.get(name) == value for name, value in usual.items()):
            rest = {name: value for name, value in rest.items() if name not in usual}
        if not rest:
            return []
        why = "settings of the story"
        return [Verbatim(STORY_DATA, self.origin, canonical_json(rest), why)]

    def section(
        self,
        passage: TwinePassage,
        slug: str,
        text: str,
        choices: tuple[StoryChoice, ...],
        reading: Reading,
    ) -> Section:
        kinds = [_KIND_TAGS[each] for each in passage.tags if each in _KIND_TAGS]
        signs = "<(" if self.dialect in FORMATS else "<({["
        runs = any(
            kind == "markup" and text[:1] in signs and not is_look(text)
            for kind, text, _ in reading.pieces
        )
        is_open = not choices and _LEFT_OPEN in passage.tags
        is_end = not choices and not is_open and (_ENDING in passage.tags or not runs)
        kind = SectionKind.TERMINAL if is_end else kinds[0] if kinds else SectionKind.NORMAL
        # A tag that did not decide anything is the author's own.
        own = {_KEYSTONE, *(name for name, each in _KIND_TAGS.items() if each is kind)}
        own |= {_ENDING} if is_end else {_LEFT_OPEN} if is_open else set()
        return Section(
            slug,
            passage.name,
            without_left_open(text) if is_open else text,
            kind,
            _KEYSTONE in passage.tags,
            choices,
            tuple(reading.effects),
            tuple(each for each in passage.tags if each not in own),
        )


def kind_tags(section: Section, *, is_open: bool) -> tuple[str, ...]:
    """Return the tags that tell in Twee what a section is for."""
    told = [_LEFT_OPEN] if is_open else []
    told += [name for name, kind in _KIND_TAGS.items() if kind is section.kind]
    told += [_ENDING] if section.kind is SectionKind.TERMINAL else []
    return (*told, *([_KEYSTONE] if section.keystone else []))
