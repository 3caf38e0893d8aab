r"""Passages and variants: template text split once at its placeholders, and its form for each tier.

Owns the `{{name}}` syntax; `\{{` writes two literal braces. Refuses any other use of `{{`, so that
a typo is an error at load and not a strange prompt later. Variants have two notations and one
lookup. Knows no files.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from callboard.core.vocabulary import ModelTier
from callboard.prompts.errors import TemplateInvalid


class TemplateVariant(StrEnum):
    """How much a template asks of its reader, from tiny decisions to a full synthesis."""

    T1 = "t1"
    T3 = "t3"
    T5 = "t5"


Tier = ModelTier | int | str | None
"""What a caller may say: `full`, `t3`, `4`, or nothing."""
_SPELLINGS: Final[dict[TemplateVariant, tuple[str, str]]] = {
    TemplateVariant.T1: ("t1", "minimal"),
    TemplateVariant.T3: ("t3", "medium"),
    TemplateVariant.T5: ("t5", "full"),
}
_BY_SPELLING: Final = {word: v for v, words in _SPELLINGS.items() for word in words}
_ORDERS: Final[dict[TemplateVariant, tuple[TemplateVariant, ...]]] = {
    TemplateVariant.T1: (TemplateVariant.T1, TemplateVariant.T3, TemplateVariant.T5),
    TemplateVariant.T3: (TemplateVariant.T3, TemplateVariant.T1, TemplateVariant.T5),
    TemplateVariant.T5: (TemplateVariant.T5, TemplateVariant.T3, TemplateVariant.T1),
}
_DIGITS: Final = re.compile(r"[0-9]{1,4}")


def variant_for(tier: Tier) -> TemplateVariant:
    """Return the variant a tier asks for; no tier asks for the middle one."""
    if tier is None or tier == "":
        return TemplateVariant.T3
    if isinstance(tier, int):
        return _by_number(tier)
    word = tier.strip().lower()
    known = _BY_SPELLING.get(word)
    if known is not None:
        return known
    if _DIGITS.fullmatch(word):
        return _by_number(int(word))
    raise TemplateInvalid(
        f"Tier {tier!r} is not known.",
        fix="Use full, medium, minimal, t1, t3, t5 or a number from 1.",
        tier=tier,
    )


def fallback_order(variant: TemplateVariant) -> tuple[TemplateVariant, ...]:
    """Return the variants to try for one, closest first."""
    return _ORDERS[variant]


def spellings(variant: TemplateVariant) -> tuple[str, str]:
    """Return the two words a file name or a block may use for a variant."""
    return _SPELLINGS[variant]


def variant_named(word: str) -> TemplateVariant | None:
    """Return the variant a word in a file name or a block stands for."""
    return _BY_SPELLING.get(word.strip().lower())


def _by_number(tier: int) -> TemplateVariant:
    if tier < 1:
        raise TemplateInvalid(
            f"Tier {tier} is not known.", fix="Numeric tiers start at 1.", tier=tier
        )
    if tier <= 2:
        return TemplateVariant.T1
    return TemplateVariant.T3 if tier <= 4 else TemplateVariant.T5


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
