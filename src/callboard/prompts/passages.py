r"""A passage: template text split once at its placeholders, each with its line in the file.

Owns the `{{name}}` syntax; `\{{` writes two literal braces. Refuses any other use of `{{`, so that
a typo is an error at load and not a strange prompt later.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.prompts.errors import TemplateInvalid

_BRACES: Final = re.compile(r"\\\{\{|\{\{(?:[ \t]*([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*\}\})?")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A place in a template where a value goes."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class TemplatePassage:
    """Template text ready to be filled in; `path` names the file for error messages."""

    path: str
    pieces: tuple[str | Placeholder, ...]

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The places to fill, in order, repeated names included."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Placeholder))

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be sent."""
        return not self.pieces


@dataclass(frozen=True, slots=True)
class PassageLine:
    """One line of a template file and where it stands there."""

    number: int
    text: str


def make_passage(lines: Sequence[PassageLine], path: str) -> TemplatePassage:
    """Split lines at their placeholders; blank lines at both ends are dropped."""
    kept = _without_blank_ends(lines)
    pieces: list[str | Placeholder] = []
    literal: list[str] = []
    for index, line in enumerate(kept):
        if index:
            literal.append("\n")
        position = 0
        for match in _BRACES.finditer(line.text):
            literal.append(line.text[position : match.start()])
            position = match.end()
            if match[0].startswith("\\"):
                literal.append("{{")
                continue
            if match[1] is None:
                raise _malformed(line, match.start(), path)
            if any(literal):
                pieces.append("".join(literal))
            literal.clear()
            pieces.append(Placeholder(match[1], line.number))
        literal.append(line.text[position:])
    if any(literal):
        pieces.append("".join(literal))
    return TemplatePassage(path, tuple(pieces))


def _without_blank_ends(lines: Sequence[PassageLine]) -> Sequence[PassageLine]:
    first, last = 0, len(lines)
    while first < last and not lines[first].text.strip():
        first += 1
    while last > first and not lines[last - 1].text.strip():
        last -= 1
    return lines[first:last]


def _malformed(line: PassageLine, column: int, path: str) -> TemplateInvalid:
    found = line.text[column : column + 30]
    return TemplateInvalid(
        f"{path}:{line.number}: {found!r} opens a placeholder but names none.",
        fix=r"Write {{name}}, or \{{ for two literal braces.",
        path=path,
        line=line.number,
    )
