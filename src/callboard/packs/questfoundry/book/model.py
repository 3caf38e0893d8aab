"""Book: sections, choices, gateways and endings, the one shape that all of the studio reads.

A book is plain data. It knows no file format, no artifact and no verdict; it may be wrong in every
way a draft can be, so whoever reads it checks what it relies on.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal

from callboard.core.codec import Coded

SHAPE: Final = 1
# Names under which something of a passage of Twine is kept: what it says of its place on the map,
# all of it as it stood in its file, and the words of a link that stood within a sentence.
METADATA: Final = "metadata"
SOURCE: Final = "source"
ANCHOR: Final = "anchor"
# Marks and tags that only say how something looks.
_LOOK: Final = re.compile(
    r"""\W+|</?(?!script|iframe|object|embed)[A-Za-z][\w-]*(?:\s+(?:class|style|src|alt|width|height|title)="[^"]*")*\s*/?>"""
)
# The dialect of a knot of Ink whose weave was understood.
WEAVE: Final = "weave"


class SectionKind(StrEnum):
    """What a section is for in the shape of a book."""

    NORMAL = "normal"
    HUB = "hub"
    GATEWAY = "gateway"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True)
class KeyTest:
    """A key that must be held, or must not be."""

    key: str
    negated: bool = False

    def holds(self, keys: frozenset[str]) -> bool:
        """Say whether a reader who holds these keys meets it."""
        return (self.key in keys) is not self.negated


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key gained or lost."""

    op: Literal["set", "clear"]
    key: str


@dataclass(frozen=True, slots=True)
class StoryChoice:
    """A way on. Without a gateway it is not seen while its conditions are not met.

    With one it is seen always, and refused in the words of the gateway.
    """

    id: str
    label: str
    to: str
    requires: tuple[KeyTest, ...] = ()
    effects: tuple[KeyChange, ...] = ()
    gateway: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A numbered part of the book: text, then choices, or an end.

    The effects of a section happen whenever somebody enters it, before its choices are offered.
    """

    id: str
    title: str = ""
    text: str = ""
    kind: SectionKind = SectionKind.NORMAL
    keystone: bool = False
    choices: tuple[StoryChoice, ...] = ()
    effects: tuple[KeyChange, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gateway:
    """A door in the story: what opens it, told in words of the story's world."""

    id: str
    at: str
    key: str
    negated: bool = False
    phrase: str = ""
    refusal: str = ""
    granted_at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Return:
    """A declared loop: entered here, back there, and what is different then."""

    entry: str
    back_to: str
    difference: str = ""


@dataclass(frozen=True, slots=True)
class EndingTitle:
    """How a terminal section is called in lists of endings."""

    section: str
    title: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Codeword:
    """The word that stands for a key on paper; only a reviewed one is printed."""

    key: str
    printed: str
    reviewed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A planned image: what it shows, and what stands for it until somebody draws it."""

    id: str
    section: str
    subject: str
    caption: str = ""
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Cue:
    """A planned sound, with the words for those who do not hear it."""

    id: str
    section: str
    description: str
    caption: str = ""
    intensity: Literal["low", "medium", "high"] = "low"
    safety_note: str = ""


@dataclass(frozen=True, slots=True)
class CodexEntry:
    """An entry of the encyclopedia that readers may see."""

    slug: str
    title: str
    overview: str
    usage: str = ""
    context: str = ""
    see_also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProseStyle:
    """What the prose promises; an empty field promises nothing."""

    pov: Literal["", "first", "second", "third"] = ""
    tense: Literal["", "past", "present"] = ""
    banned: tuple[str, ...] = ()
    motifs: tuple[str, ...] = ()
    most_label_words: int = 12
    highest_grade: float | None = None
    idiolects: tuple[str, ...] = ()


CanonKind = Literal[
    "fact", "event", "answer", "constraint", "knowledge", "mystery", "summary", "codex"
]


@dataclass(frozen=True, slots=True)
class CanonStatement:
    """One thing that is true in the world of a book, whether or not readers may know it.

    `since` is from when it holds: the id of an event, or words. Of a mystery it is when to look at
    it again. Events of one `chain` are in the order of their numbers; chains say nothing of each
    other but by the events they share.
    """

    id: str
    kind: CanonKind
    # Whom or what it is about, as it was named; of an event its id.
    about: str
    text: str
    attribute: str = ""
    since: str = ""
    chain: int = 0
    order: int = 0
    is_secret: bool = True


def is_look(text: str) -> bool:
    """Say whether markup only changes how words look: it leads nowhere and changes nothing."""
    return _LOOK.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Something of an imported file that was not understood: kept, never run, written out again.

    Where it stands in a section's text tell `places`, in characters; `dialect` is its story format.
    """

    name: str
    origin: Literal["twee", "twine", "ink"]
    text: str
    why: str = ""
    section: str | None = None
    dialect: str = ""
    places: tuple[int, ...] = ()

    @property
    def is_source(self) -> bool:
        """Whether it is a passage as it stood in its file, which is read besides."""
        is_whole = self.name == SOURCE and not self.places
        return is_whole and self.origin != "ink" and bool(self.dialect)

    @property
    def is_anchor(self) -> bool:
        """Whether it only says where in a text the words of a choice stand."""
        return self.name == ANCHOR and not self.dialect and bool(self.places)

    @property
    def is_form(self) -> bool:
        """Whether it is kept for its form alone: all it says is in the book."""
        return self.is_source or self.is_anchor or (self.origin, self.dialect) == ("ink", WEAVE)

    @property
    def is_code(self) -> bool:
        """Whether it may change something or lead somewhere: no form, place on a map or look."""
        is_map = self.origin != "ink" and self.name == METADATA and self.text.startswith("{")
        return not (self.is_form or is_map or is_look(self.text))


@dataclass(frozen=True)
class Book(Coded):
    """A branching book, whole."""

    title: str
    start: str
    sections: tuple[Section, ...]
    ifid: str = ""
    author: str = ""
    language: str = "en"
    gateways: tuple[Gateway, ...] = ()
    returns: tuple[Return, ...] = ()
    endings: tuple[EndingTitle, ...] = ()
    codewords: tuple[Codeword, ...] = ()
    pictures: tuple[Picture, ...] = ()
    cues: tuple[Cue, ...] = ()
    codex: tuple[CodexEntry, ...] = ()
    style: ProseStyle = field(default_factory=ProseStyle)
    spoilers: tuple[str, ...] = ()
    canon: tuple[CanonStatement, ...] = ()
    verbatim: tuple[Verbatim, ...] = ()
    shape: int = SHAPE

    @cached_property
    def by_id(self) -> dict[str, Section]:
        """Sections by their ids; of two with one id the first counts."""
        return {each.id: each for each in reversed(self.sections)}

    @cached_property
    def gateway_by_id(self) -> dict[str, Gateway]:
        """Gateways by their ids; of two with one id the first counts."""
        return {each.id: each for each in reversed(self.gateways)}

    @cached_property
    def unread(self) -> frozenset[str]:
        """The sections that hold code which nobody here understood."""
        kept = {each.section for each in self.verbatim if each.section and each.is_code}
        # Of a knot of Ink all cells are in doubt; they are named after it.
        cells = [each.id for each in self.sections if each.id.partition(".")[0] in kept]
        return frozenset((*kept, *cells))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Every key that anything sets, clears or asks for, sorted."""
        found: set[str] = set()
        for section in self.sections:
            if section.effects:
                found.update(effect.key for effect in section.effects)
            for choice in section.choices:
                # Most choices ask for nothing and change nothing.
                if choice.requires or choice.effects:
                    found.update(each.key for each in (*choice.requires, *choice.effects))
        found.update(gateway.key for gateway in self.gateways)
        return tuple(sorted(found))
