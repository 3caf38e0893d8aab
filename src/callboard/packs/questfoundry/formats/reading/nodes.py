"""Nodes: what a passage of Twine is made of, whatever story format it was written for.

A story format's own reader makes nodes; what they mean for the book is decided once, elsewhere.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final, TypeVar

from callboard.packs.questfoundry.book.model import KeyChange, KeyTest

Token = TypeVar("Token")
MOST_NESTING: Final = 40
STRING: Final = re.compile(r"\"((?:[^\"\\]|\\.)*+)\"|'((?:[^'\\]|\\.)*+)'", re.DOTALL)
_BACKSLASHED: Final = re.compile(r"\\(.)", re.DOTALL)
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_OUTSIDE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,20}:(?://|[^\s/])")


@dataclass(frozen=True, slots=True)
class PlainText:
    """Words of the story, and how they were written."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Markup:
    """Something the book has no word for, as it was written."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Link:
    """A way to another passage; one that is not plain is kept as it was written too."""

    source: str
    label: str
    target: str
    effects: tuple[KeyChange, ...] = ()
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class KeyAssignment:
    """Keys that are gained or lost by reading the passage."""

    source: str
    effects: tuple[KeyChange, ...]


@dataclass(frozen=True, slots=True)
class RefusedLink:
    """A way that is seen and not open, with what is told to those who try it."""

    source: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Branch:
    """A part that is shown under conditions; None where they are not understood."""

    opening: str
    tests: tuple[KeyTest, ...] | None
    children: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Conditional:
    """Parts of which at most one is shown."""

    branches: tuple[Branch, ...]
    closing: str


Node = PlainText | Markup | Link | KeyAssignment | RefusedLink | Conditional


class Places:
    """Where a sign occurs in a text; asked often, looked for once."""

    def __init__(self, text: str, sign: str) -> None:
        """Find all of them."""
        self.found: list[int] = []
        at = text.find(sign)
        while at >= 0:
            self.found.append(at)
            at = text.find(sign, at + len(sign))

    def after(self, at: int) -> int:
        """Return the first one at or behind a place, -1 if there is none."""
        index = bisect_left(self.found, at)
        return self.found[index] if index < len(self.found) else -1


def scan(
    text: str,
    marks: re.Pattern[str],
    read: Callable[[re.Match[str]], tuple[Token | None, int]],
) -> Iterator[Token | PlainText]:
    """Yield the marks of a text and the plain words between them; None is no mark after all."""
    at = told = 0
    while (found := marks.search(text, at)) is not None:
        token, end = read(found)
        if token is None:
            at = max(end, found.end())
            continue
        if found.start() > told:
            yield plain(text[told : found.start()])
        yield token
        at = told = end
    if told < len(text):
        yield plain(text[told:])


def unescaped(text: str) -> str:
    """Return what is written between quotes, as it is meant."""
    return _BACKSLASHED.sub(r"\1", text)


def decoded(text: str) -> str:
    """Return a text with its entities as the signs they stand for."""
    return _ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text


def plain(source: str) -> PlainText:
    """Return what is written as plain words."""
    return PlainText(decoded(source), source)


def chain(
    parts: Iterable[tuple[str, tuple[KeyTest, ...] | None, Iterable[Node]]], closing: str
) -> Conditional:
    """Return parts that are asked in turn: what a part asks, and that none before it was shown.

    Where one before it asks for more than one key, nobody can say when it was not shown.
    """
    branches: list[Branch] = []
    before: tuple[KeyTest, ...] | None = ()
    for opening, own, children in parts:
        whole = None if own is None or before is None else (*before, *own)
        branches.append(Branch(opening, whole, tuple(children)))
        refused = opposite(own)
        before = (*before, *refused) if before is not None and refused else None
    return Conditional(tuple(branches), closing)


def opposite(tests: tuple[KeyTest, ...] | None) -> tuple[KeyTest, ...] | None:
    """Return what holds where some tests do not; of more than one that is no test."""
    if tests is None or len(tests) != 1:
        return None
    return (KeyTest(tests[0].key, not tests[0].negated),)


def tests_last(tests: Iterable[KeyTest], own: KeyTest) -> list[KeyTest]:
    """Return tests with a gateway's own one at the end, where a reader looks for it."""
    return [*(each for each in tests if each != own), own]


def source_of(node: Node) -> str:
    """Return a node as it was written."""
    if isinstance(node, Markup):
        return node.text
    if isinstance(node, Conditional):
        told = [each.opening + sources_of(each.children) for each in node.branches]
        return "".join(told) + node.closing
    return node.source


def sources_of(nodes: Iterable[Node]) -> str:
    """Return some nodes as they were written."""
    return "".join(map(source_of, nodes))


def split_link(inside: str) -> tuple[str, str]:
    """Return label and target of what stands between the brackets of a link.

    Of several arrows the last to the right counts, or the first to the left; then a stroke.
    """
    right, left = inside.rfind("->"), inside.find("<-")
    if right >= 0:
        return inside[:right], inside[right + 2 :]
    if left >= 0:
        return inside[left + 2 :], inside[:left]
    label, stroke, target = inside.partition("|")
    return (label, target) if stroke else (inside, inside)


def is_outside(target: str) -> bool:
    """Say whether a link leads out of the story."""
    return _OUTSIDE.match(target) is not None


def tests_of(condition: str) -> tuple[KeyTest, ...] | None:
    """Read a condition: keys that are held or not, all of them; None if it says more."""
    tests: list[KeyTest] = []
    for part in _JOINT.split(condition.strip()):
        found = _TEST.fullmatch(part.strip())
        if found is None:
            return None
        negated = bool(found["no"]) is not (found["value"] == "false")
        tests.append(KeyTest(found["key"], negated))
    return tuple(tests)


def changes_of(told: str) -> tuple[KeyChange, ...] | None:
    """Read what is set: keys to true or false, nothing else."""
    changes: list[KeyChange] = []
    for part in _LISTED.split(told.strip().rstrip(";")):
        found = _CHANGE.fullmatch(part.strip())
        if found is None:
            return None
        changes.append(KeyChange("set" if found["value"] == "true" else "clear", found["key"]))
    return tuple(changes)


_JOINT: Final = re.compile(r" and |&&")
_TEST: Final = re.compile(
    r"(?P<no>not |!)? *\$(?P<key>[A-Za-z_]\w*)(?: *(?:is|eq|===?) *(?P<value>true|false))?",
    re.ASCII,
)
_LISTED: Final = re.compile(r"[,;]")
_CHANGE: Final = re.compile(r"\$(?P<key>[A-Za-z_]\w*) *(?:to|=) *(?P<value>true|false)", re.ASCII)
