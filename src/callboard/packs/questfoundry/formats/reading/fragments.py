"""Fragments: what a passage says, as the text of a section with the markup still in its place."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from callboard.packs.questfoundry.book.model import KeyChange, KeyTest
from callboard.packs.questfoundry.formats.reading.nodes import (
    Branch,
    Conditional,
    KeyAssignment,
    Link,
    Markup,
    Node,
    PlainText,
    RefusedLink,
    source_of,
)

Kind = Literal["plain", "markup", "link", "gone"]
_BULLETS: Final = " \t*#>-•·|–—,.:;()"
_VARIABLE: Final = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
# They look at keys and change none.
_READING: Final = re.compile(
    r"<</?(?:if|elseif|else|print|=|-|nobr|switch|case|default|link|button|back|return|include)\b"
    r"|<<[=\-]|\((?:if|unless|else|else-if|elseif|print|display|link|link-goto|text-style):",
    re.IGNORECASE,
)


class _EveryKey(frozenset[str]):
    """Every key there is."""

    def __contains__(self, key: object) -> bool:
        return True


EVERY_KEY: Final = _EveryKey()


@dataclass(frozen=True, slots=True)
class ReadWay:
    """A link with all that was understood of it; `refusal` makes it one that is always seen."""

    label: str
    target: str
    requires: tuple[KeyTest, ...] = ()
    effects: tuple[KeyChange, ...] = ()
    refusal: str | None = None


@dataclass
class Reading:
    """A passage as it is understood."""

    ways: list[ReadWay] = field(default_factory=list[ReadWay])
    kept_ways: list[ReadWay] = field(default_factory=list[ReadWay])
    effects: list[KeyChange] = field(default_factory=list[KeyChange])
    pieces: list[tuple[Kind, str, str]] = field(default_factory=list[tuple[Kind, str, str]])

    @property
    def all_ways(self) -> list[ReadWay]:
        """The links that stand in the text as they were written, then those that became choices."""
        return [*self.kept_ways, *self.ways]


def understood(nodes: Iterable[Node], unknown_keys: frozenset[str]) -> Reading:
    """Read nodes for what the book has words for.

    Of a key that something not understood may change, nothing is believed.
    """
    reader = _SenseReader(list(nodes), unknown_keys)
    reader.walk()
    return reader.found


def keys_beyond(nodes: Iterable[Node], unknown_keys: frozenset[str]) -> set[str]:
    """Return the keys that a passage changes in ways the book cannot follow."""
    pieces = understood(nodes, unknown_keys).pieces
    told = (text for kind, text, _ in pieces if kind == "markup" and not _READING.match(text))
    return {key for text in told for key in _VARIABLE.findall(text)}


class _SenseReader:
    def __init__(self, nodes: list[Node], unknown_keys: frozenset[str]) -> None:
        self.nodes = nodes
        self.unknown = unknown_keys
        self.found = Reading()
        self.last_change: dict[str, int] = {}
        for at, node in enumerate(nodes):
            if isinstance(node, KeyAssignment):
                self.last_change.update({each.key: at for each in node.effects})

    def walk(self) -> None:
        for at, node in enumerate(self.nodes):
            if isinstance(node, Conditional):
                self.conditional(node, at)
            elif isinstance(node, Link) and self.is_believed(node):
                self.found.ways.append(ReadWay(node.label, node.target, (), node.effects))
                self.piece("link", node.label)
            elif isinstance(node, KeyAssignment) and not self.is_unknown(node.effects):
                self.found.effects += node.effects
                self.piece("gone", "")
            else:
                self.keep(node)

    def piece(self, kind: Kind, text: str, why: str = "") -> None:
        self.found.pieces.append((kind, text, why))

    def is_unknown(self, about: Iterable[KeyTest | KeyChange]) -> bool:
        return any(each.key in self.unknown for each in about)

    def is_believed(self, link: Link) -> bool:
        return link.is_plain and not self.is_unknown(link.effects)

    def conditional(self, node: Conditional, at: int) -> None:
        ways = self.gated(node) or self.guarded(node)
        tests = [test for way in ways or () for test in way.requires]
        late = any(self.last_change.get(test.key, -1) > at for test in tests)
        if not ways or late or self.is_unknown(tests):
            self.keep(node)
            return
        self.found.ways += ways
        self.piece("gone", "")

    def gated(self, node: Conditional) -> list[ReadWay] | None:
        """Read a link, and the same words with a refusal for those who may not follow it."""
        if len(node.branches) != 2:
            return None
        first, second = (_inside(each) for each in node.branches)
        tests = node.branches[0].tests
        if len(first) != 1 or len(second) != 1 or not tests or node.branches[1].opening == "":
            return None
        link, refusal = first[0], second[0]
        if not (
            isinstance(link, Link) and isinstance(refusal, RefusedLink) and self.is_believed(link)
        ):
            return None
        if link.label != refusal.label or not _is_else(node.branches[1]):
            return None
        return [ReadWay(link.label, link.target, tests, link.effects, refusal.text)]

    def guarded(self, node: Conditional) -> list[ReadWay] | None:
        ways: list[ReadWay] = []
        for branch in node.branches:
            for child in _inside(branch):
                if branch.tests is None or not isinstance(child, Link):
                    return None
                if not self.is_believed(child):
                    return None
                ways.append(ReadWay(child.label, child.target, branch.tests, child.effects))
        return ways or None

    def keep(self, node: Node) -> None:
        """Leave a node as it was written, and take from it only where it leads."""
        if isinstance(node, PlainText):
            self.piece("plain", node.text)
        elif isinstance(node, Markup):
            self.piece("markup", node.text, node.why)
        elif isinstance(node, Conditional):
            for branch in node.branches:
                self.piece("markup", branch.opening, "a part with conditions")
                for child in branch.children:
                    self.keep(child)
            self.piece("markup", node.closing, "a part with conditions")
        else:
            if isinstance(node, Link):
                self.found.kept_ways.append(ReadWay(node.label, node.target))
            self.piece("markup", source_of(node), "a link or a change with conditions")


def _inside(branch: Branch) -> list[Node]:
    return [
        each
        for each in branch.children
        if not (isinstance(each, PlainText) and not each.text.strip())
    ]


def _is_else(branch: Branch) -> bool:
    return branch.opening.lstrip("]").strip().lower() in ("<<else>>", "(else:)[")


@dataclass
class SectionText:
    """The text of a section, with its markup and the words of its links where they stand in it.

    `marks` say why each was kept and where, `anchors` where the words of a link are.
    """

    text: str = ""
    marks: dict[str, tuple[str, list[int]]] = field(
        default_factory=dict[str, tuple[str, list[int]]]
    )
    anchors: dict[str, list[int]] = field(default_factory=dict[str, list[int]])


def section_text(reading: Reading) -> SectionText:
    """Return the text of a section as a reading of its passage tells it."""
    found = SectionText()
    parts: list[str] = []
    at = 0
    for number, line in enumerate(_lines(reading)):
        if number:
            parts.append("\n")
            at += 1
        for kind, text, why in line:
            if kind == "markup":
                found.marks.setdefault(text, (why, []))[1].append(at)
            elif kind == "link":
                found.anchors.setdefault(text, []).append(at)
            parts.append(text)
            at += len(text)
    found.text = "".join(parts)
    return found


def _lines(reading: Reading) -> list[list[tuple[Kind, str, str]]]:
    lines: list[list[tuple[Kind, str, str]]] = [[]]
    for kind, text, why in reading.pieces:
        first, *others = text.split("\n") if kind == "plain" else [text]
        lines[-1].append((kind, first, why))
        for each in others:
            lines.append([(kind, each, why)])
    told: list[list[tuple[Kind, str, str]]] = []
    for line in lines:
        kept = _kept(line)
        if kept is None or (not kept and not (told and told[-1])):
            continue
        told.append(kept)
    while told and not told[-1]:
        told.pop()
    return told


def _kept(line: list[tuple[Kind, str, str]]) -> list[tuple[Kind, str, str]] | None:
    """Return what stays of a line: nothing of one that held links only, links as their words."""
    words = "".join(text for kind, text, _ in line if kind == "plain")
    has_links = any(kind in ("link", "gone") for kind, _, _ in line)
    has_marks = any(kind == "markup" and text.strip(_BULLETS) for kind, text, _ in line)
    if has_links and not has_marks and not words.strip(_BULLETS):
        return None
    inline = has_marks or any(each not in _BULLETS for each in words)
    kept: list[tuple[Kind, str, str]] = []
    for kind, text, why in line:
        if text and (kind in ("plain", "markup") or inline):
            kept.append((kind, text, why))
        elif kind == "gone" and kept and kept[-1][0] == "markup":
            # Two marks that were apart must not become one.
            kept.append(("plain", " ", ""))
    return _stripped(kept)


def _stripped(line: list[tuple[Kind, str, str]]) -> list[tuple[Kind, str, str]]:
    """Take the spaces from both ends of a line, as far as they are words."""
    start, end = 0, len(line)
    while start < end and line[start][0] == "plain" and not line[start][1].strip(" \t"):
        start += 1
    while start < end and line[end - 1][0] == "plain" and not line[end - 1][1].strip(" \t"):
        end -= 1
    line = line[start:end]
    if line and line[0][0] == "plain":
        line = [("plain", line[0][1].lstrip(" \t"), ""), *line[1:]]
    if line and line[-1][0] == "plain":
        line = [*line[:-1], ("plain", line[-1][1].rstrip(" \t"), "")]
    return line
