"""Expressions: the regular expressions writers put into their sheets, made safe to run.

A subset: literals, classes, groups, alternatives and bounded repetition. What could take
exponential time is refused with a reason; an open-ended repetition gets an end.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from callboard.core.errors import InvalidInput
from callboard.core.words import shorten

_MOST_CHARS: Final = 200
# How far an open-ended repetition reaches: over a word, or over a phrase, never over a page.
_WORD_REACH: Final = 24
_PHRASE_REACH: Final = 60
_MOST_COUNT: Final = 400
# How many ways of matching may be tried from one place in the text.
_MOST_WORK: Final = 5_000
_COUNT: Final = re.compile(r"\{(\d{1,3})(,(\d{0,3}))?\}")
_OPENINGS: Final = ("(?:", "(")
# Has a beginning, an end, and places within and between words: whatever matches no letter shows.
_SAMPLE: Final = "ab c"


class UnsafeExpression(InvalidInput):
    """A regular expression that cannot be used, and why."""

    code = "unsafe_expression"


@lru_cache(maxsize=1_000)
def compile_safely(source: str) -> re.Pattern[str]:
    """Return an expression that ends soon on any text, or refuse it; case is ignored."""
    if not source.strip():
        raise _refusal(source, "it is empty")
    if len(source) > _MOST_CHARS:
        raise _refusal(source, f"it is longer than {_MOST_CHARS} characters")
    reader = _ExpressionReader(source)
    piece = reader.alternatives()
    if reader.at < len(source):
        raise _refusal(source, f"the ')' at character {reader.at + 1} closes nothing")
    if piece.work > _MOST_WORK:
        raise _refusal(source, "it repeats too much at once")
    try:
        compiled = re.compile(piece.text, re.IGNORECASE)
    except re.error as error:
        raise _refusal(source, str(error)) from error
    if any(not hit[0] for hit in compiled.finditer(_SAMPLE)):
        raise _refusal(source, "it matches nothing at all, and so everywhere")
    return compiled


@dataclass(frozen=True, slots=True)
class _ExpressionPiece:
    """A part of an expression: its safe text, and in how many ways it can match."""

    text: str
    work: int = 1


class _ExpressionReader:
    """Reads an expression from left to right; `at` is the next character."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def alternatives(self, depth: int = 0) -> _ExpressionPiece:
        if depth > 5:
            raise _refusal(self.source, "its groups are nested too deeply")
        branches = [self.sequence(depth)]
        while self.source.startswith("|", self.at):
            self.at += 1
            branches.append(self.sequence(depth))
        return _ExpressionPiece(
            "|".join(each.text for each in branches), sum(b.work for b in branches)
        )

    def sequence(self, depth: int) -> _ExpressionPiece:
        parts: list[str] = []
        work = 1
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            atom = self.repeated(self.atom(depth))
            parts.append(atom.text)
            work = min(work * atom.work, _MOST_WORK + 1)
        return _ExpressionPiece("".join(parts), work)

    def atom(self, depth: int) -> _ExpressionPiece:
        char = self.source[self.at]
        if char == "(":
            return self.group(depth)
        if char == "[":
            return self.character_class()
        if char == "\\":
            return self.escape()
        if char in "*+?":
            raise _refusal(self.source, f"the '{char}' at character {self.at + 1} repeats nothing")
        self.at += 1
        return _ExpressionPiece(char)

    def group(self, depth: int) -> _ExpressionPiece:
        opening = next(each for each in _OPENINGS if self.source.startswith(each, self.at))
        self.at += len(opening)
        if self.source.startswith("?", self.at):
            raise _refusal(self.source, "look-around, names and flags are not offered")
        inside = self.alternatives(depth + 1)
        if not self.source.startswith(")", self.at):
            raise _refusal(self.source, "a '(' is never closed")
        self.at += 1
        return _ExpressionPiece(f"(?:{inside.text})", inside.work)

    def character_class(self) -> _ExpressionPiece:
        start = self.at
        at = start + 1
        if self.source.startswith("^", at):
            at += 1
        at += 1  # A bracket that comes first is a member.
        while at < len(self.source) and self.source[at] != "]":
            at += 2 if self.source[at] == "\\" else 1
        if at >= len(self.source):
            raise _refusal(self.source, "a '[' is never closed")
        self.at = at + 1
        # Doubled brackets would be read as set operations by a later Python.
        body = self.source[start + 1 : at].replace("[", r"\[")
        return _ExpressionPiece(f"[{body}]")

    def escape(self) -> _ExpressionPiece:
        escaped = self.source[self.at : self.at + 2]
        if len(escaped) < 2 or escaped[1].isdigit():
            raise _refusal(self.source, "a '\\' must be followed by a letter or a mark")
        self.at += 2
        return _ExpressionPiece(escaped)

    def repeated(self, atom: _ExpressionPiece) -> _ExpressionPiece:
        is_wide = atom.text == "." or atom.text.startswith("[^")
        low, high, length = self.bounds(_PHRASE_REACH if is_wide else _WORD_REACH)
        if not length:
            return atom
        self.at += length
        if self.source[self.at : self.at + 1] in ("*", "+", "{"):
            raise _refusal(self.source, "a repetition is repeated")
        lazy = "?" if self.source.startswith("?", self.at) else ""
        self.at += len(lazy)
        if high > 1 and atom.work > 1:
            raise _refusal(self.source, "it repeats a group that itself repeats or has choices")
        return _ExpressionPiece(f"{atom.text}{{{low},{high}}}{lazy}", atom.work * (high - low + 1))

    def bounds(self, reach: int) -> tuple[int, int, int]:
        """Return least, most and how long the mark is; no length where nothing is repeated."""
        char = self.source[self.at : self.at + 1]
        if char in ("*", "+"):
            return (0 if char == "*" else 1), reach, 1
        if char == "?":
            return 0, 1, 1
        count = _COUNT.match(self.source, self.at) if char == "{" else None
        if count is None:
            return 1, 1, 0
        low = int(count[1])
        high = low if count[2] is None else int(count[3] or low + reach)
        if high < low or high > _MOST_COUNT:
            raise _refusal(self.source, f"{count[0]} is no usable repetition")
        return low, high, len(count[0])


def _refusal(source: str, why: str) -> UnsafeExpression:
    shown = shorten(source, 60, on_top=True)
    return UnsafeExpression(
        f"The expression {shown!r} cannot be used: {why}",
        fix="Write the words themselves, with \\w+ for any one word and | between alternatives.",
        expression=source[:_MOST_CHARS],
    )
