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
from callboard.packs.questfoundry.formats.reading.weave import ONLY_DIVERT, KnotDraft, draft_of

_KNOT: Final = re.compile(r"={2,}+[ \t]*+(?:(function)\b[ \t]*+)?(\w++)([^\n]*)")
_LABEL: Final = re.compile(r"[-*+][-*+ \t]*\((\w+)\)")
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
        self.labels: dict[str, str] = {}
        for knot in knots:
            self._add(knot)

    def _add(self, knot: Knot) -> None:
        here = knot.name
        self.known.add(here)
        for line in knot.lines[1 if _KNOT.match("".join(knot.lines[:1]).strip()) else 0 :]:
            told = line.strip()
            stitch = _STITCH.fullmatch(told) if told.startswith("=") else None
            if stitch is not None:
                here = f"{knot.name}.{stitch[1]}"
                self.known.add(here)
            elif label := _LABEL.match(told):
                for name in (f"{knot.name}.{label[1]}", f"{here}.{label[1]}"):
                    self.labels.setdefault(name, here)

    def goal(self, name: str, knot: str) -> str:
        """Return the section a divert within a knot leads to; a label lies within its section."""
        own = f"{knot}.{name}"
        if own in self.known:
            return own
        return name if name in self.known else self.labels.get(own, self.labels.get(name, name))


def drafts_of(knot: Knot, known: frozenset[str], names: KnotNames) -> list[KnotDraft]:
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
        drafts[0].place = knot.name
    return list({each.place: each for each in (*drafts, *reversed(drafts))}.values())


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
    draft: KnotDraft, known: frozenset[str], *, keep_gates: bool
) -> tuple[Section, list[Gateway]]:
    """Return the section of a draft, and the gateways of its choices."""
    gateways: list[Gateway] = []
    choices: list[StoryChoice] = []
    for number, choice in enumerate(draft.ways, 1):
        name = f"{draft.place}.{number}"
        requires = tuple(each for each in choice.requires if each.key in known)
        gateway = None
        if choice.gateway is not None and keep_gates:
            gateway, last = f"gate.{name}", requires[-1]
            requires = requires[:-1]
            gateways.append(
                Gateway(gateway, draft.place, last.key, last.negated, refusal=choice.gateway)
            )
        choices.append(replace(choice, id=name, requires=requires, gateway=gateway))
    is_end = not choices and (draft.ends or not draft.strange)
    usual = SectionKind.TERMINAL if is_end else SectionKind.NORMAL
    section = Section(
        draft.place,
        draft.heading,
        "\n".join(draft.lines),
        draft.kind or usual,
        draft.keystone,
        tuple(choices),
        tuple(draft.changes),
        tuple(draft.tags),
    )
    return section, gateways
