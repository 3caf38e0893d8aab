"""Knots: the parts of an Ink source, and what a book can make of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from callboard.packs.questfoundry.book.model import (
    Gateway,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.reading.weave import ONLY_DIVERT, Draft, draft_of

_KNOT: Final = re.compile(r"={2,}[ \t]*(function\b)?[ \t]*(\w+)([^\n]*)")
_STITCH: Final = re.compile(r"=[ \t]*(\w+)[ \t]*(\([^\n]*)?")


@dataclass(frozen=True, slots=True)
class Knot:
    """A knot as it stands in the file; the opening of a file has no name."""

    name: str
    lines: tuple[str, ...]
    is_function: bool = False

    @property
    def source(self) -> str:
        """The knot as it was written."""
        return "\n".join(self.lines)


def knots_of(text: str) -> Iterator[Knot]:
    """Part a file at its knots; first comes what stands above them, maybe nothing."""
    lines: list[str] = []
    name, is_function = "", False
    for line in text.split("\n"):
        found = _KNOT.match(line.strip()) if line.lstrip().startswith("==") else None
        if found is not None:
            yield Knot(name, trimmed(lines), is_function)
            lines, name, is_function = [], found[2], bool(found[1])
        lines.append(line)
    yield Knot(name, trimmed(lines), is_function)


def trimmed(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines without the empty ones at their end."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return tuple(lines[:end])


class KnotNames:
    """What a divert may name, from where it stands."""

    def __init__(self, knots: Iterable[Knot], ids: Iterable[str] = ()) -> None:
        """Take the knots of a file, and names that are known besides."""
        self.known = set(ids)
        for knot in knots:
            stitches = [
                found[1]
                for line in knot.lines[1:]
                if (found := _STITCH.fullmatch(line.strip())) and not line.strip().startswith("==")
            ]
            self.known.add(knot.name)
            self.known.update(f"{knot.name}.{each}" for each in stitches)

    def goal(self, name: str, knot: str) -> str:
        """Return the section a divert within a knot leads to."""
        own = f"{knot}.{name}"
        return own if own in self.known else name


def drafts_of(knot: Knot, known: frozenset[str], names: KnotNames) -> list[Draft]:
    """Read a knot: itself, and every stitch that is a section of its own."""
    header = _KNOT.match(knot.lines[0].strip()) if knot.lines else None
    parts = _parts(knot, knot.lines[1:] if header else knot.lines)
    first = [each for each in parts[0][1] if each.strip()]

    def goal(name: str) -> str:
        return names.goal(name, knot.name)

    if len(parts) == 2 and parts[1][0] == f"{knot.name}.choices" and first:
        last = ONLY_DIVERT.fullmatch(first[-1].strip())
        if last and last[1] in ("choices", f"{knot.name}.choices"):
            lines = parts[0][1]
            while not ONLY_DIVERT.fullmatch(lines[-1].strip()):
                lines.pop()
            return [draft_of(knot.name, [*lines[:-1], *parts[1][1]], known, goal, knot.name)]
    strange = ""
    if len(parts) > 1:
        strange = "stitches"
        parts = parts if first else parts[1:]
    elif (header and header[3].strip(" \t=")) or not header:
        strange = "parameters" if header else "words above the first knot"
    drafts = [draft_of(name, lines, known, goal, knot.name) for name, lines in parts]
    if strange and not drafts[0].strange:
        drafts[0].strange = strange
    if strange == "stitches" and not first:
        drafts[0].id = knot.name
    return list({each.id: each for each in (*drafts, *reversed(drafts))}.values())


def _parts(knot: Knot, body: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Part a knot at its stitches."""
    parts: list[tuple[str, list[str]]] = [(knot.name, [])]
    for line in body:
        found = _STITCH.fullmatch(line.strip()) if line.lstrip().startswith("=") else None
        if found is not None:
            parts.append((f"{knot.name}.{found[1]}", []))
        else:
            parts[-1][1].append(line)
    return parts


def section_of(
    draft: Draft, known: frozenset[str], *, keep_gates: bool
) -> tuple[Section, list[Gateway]]:
    """Return the section of a draft, and the gateways of its choices."""
    gateways: list[Gateway] = []
    choices: list[StoryChoice] = []
    for number, choice in enumerate(draft.choices, 1):
        name = f"{draft.id}.{number}"
        requires = tuple(each for each in choice.requires if each.key in known)
        gateway = None
        if choice.gateway is not None and keep_gates:
            gateway, last = f"gate.{name}", requires[-1]
            requires = requires[:-1]
            gateways.append(
                Gateway(gateway, draft.id, last.key, last.negated, refusal=choice.gateway)
            )
        choices.append(replace(choice, id=name, requires=requires, gateway=gateway))
    is_end = not choices and (draft.ends or not draft.strange)
    usual = SectionKind.TERMINAL if is_end else SectionKind.NORMAL
    section = Section(
        draft.id,
        draft.title,
        "\n".join(draft.text),
        draft.kind or usual,
        draft.keystone,
        tuple(choices),
        tuple(draft.effects),
        tuple(draft.tags),
    )
    return section, gateways
