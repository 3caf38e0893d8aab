"""Knots: the parts of an Ink source, and what a book can make of each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.packs.questfoundry.book.model import (
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.prose import without_left_open
from callboard.packs.questfoundry.formats.reading.cells import cells_of
from callboard.packs.questfoundry.formats.reading.weave import ONLY_DIVERT, KnotDraft, draft_of

_KNOT: Final = re.compile(r"={2,}+[ \t]*+(?:(function)\b[ \t]*+)?(\w++)([^\n]*)")
_LABEL: Final = re.compile(r"[-*+][-*+ \t]*\((\w+)\)")
ONCE_ENDING: Final = "_taken"
_NO_NAME: Final = re.compile(r"\W")
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
        # What the knots themselves name; a cell must be called by none of these.
        self.written: set[str] = set()
        for knot in knots:
            self._add(knot)
        self.known |= self.written

    def _add(self, knot: Knot) -> None:
        here, part, is_empty = knot.name, knot.name, True
        self.written.add(here)
        for line in knot.lines[1 if _KNOT.match("".join(knot.lines[:1]).strip()) else 0 :]:
            told = line.strip()
            stitch = _STITCH.fullmatch(told) if told.startswith("=") else None
            if stitch is not None:
                part = f"{knot.name}.{stitch[1]}"
                # The first stitch of a knot that says nothing itself is where the knot begins.
                here = knot.name if is_empty else part
                self._alias(part, here)
                self.written.add(here)
            elif label := _LABEL.match(told):
                self.written.add(f"{here}.{label[1]}")
                for name in (f"{knot.name}.{label[1]}", f"{part}.{label[1]}"):
                    self._alias(name, f"{here}.{label[1]}")
            is_empty = is_empty and stitch is None and (not told or told.startswith("//"))

    def _alias(self, name: str, place: str) -> None:
        if name != place:
            self.labels.setdefault(name, place)

    def goal(self, name: str, knot: str) -> str:
        """Return the section a divert within a knot leads to; a label lies within its section."""
        own = f"{knot}.{name}"
        if own in self.known:
            return own
        return name if name in self.known else self.labels.get(own, self.labels.get(name, name))


def drafts_of(knot: Knot, known: frozenset[str], names: KnotNames) -> list[KnotDraft]:
    """Read a knot as one section if it is that, else as the cells of its weave."""
    whole = whole_drafts_of(knot, known, names)
    if not any(each.strange for each in whole):
        return whole
    header = _KNOT.match(knot.lines[0].strip()) if knot.lines else None
    parts = _parts(knot, knot.lines[1:] if header else knot.lines)
    if len(parts) > 1 and not any(each.strip() for each in parts[0][1]):
        parts = [(knot.name, parts[1][1]), *parts[2:]]
    drafts: list[KnotDraft] = []
    for number, (name, lines) in enumerate(parts):
        if name not in (each for each, _ in parts[:number]):
            drafts += cells_of(
                name, lines, known, lambda each: names.goal(each, knot.name), names.written
            )
    if header and header[3].strip(" \t="):
        drafts[0].strange = drafts[0].strange or "parameters"
    return drafts


def whole_drafts_of(knot: Knot, known: frozenset[str], names: KnotNames) -> list[KnotDraft]:
    """Read a knot with no look into its weave: itself, and every stitch that is a section."""
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


def ringed(sections: Iterable[Section]) -> frozenset[str]:
    """Return the sections that a reader may come back to."""
    import rustworkx

    ways = {each.id: [choice.to for choice in each.choices] for each in sections}
    number = {name: at for at, name in enumerate(ways)}
    edges = [(number[one], number[to]) for one in ways for to in ways[one] if to in number]
    graph: Any = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(ways))
    graph.add_edges_from_no_data(edges)
    turning = {one for one, other in edges if one == other}
    groups: Iterable[list[int]] = rustworkx.strongly_connected_components(graph)
    return frozenset(
        graph[each] for group in groups if len(group) > 1 or group[0] in turning for each in group
    )


def offered_once(section: Section, once: Iterable[int], rings: frozenset[str]) -> Section:
    """Close choices that are offered once behind whoever took them, where anybody comes back."""
    if section.id not in rings or not once:
        return section
    numbers = set(once)
    return replace(
        section,
        choices=tuple(
            _once(each) if number in numbers else each
            for number, each in enumerate(section.choices, 1)
        ),
    )


def _once(choice: StoryChoice) -> StoryChoice:
    key = f"{_NO_NAME.sub('_', choice.id)}{ONCE_ENDING}"
    return replace(
        choice,
        requires=(*choice.requires, KeyTest(key, negated=True)),
        effects=(*choice.effects, KeyChange("set", key)),
    )


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
    text = "\n".join(draft.lines)
    if not choices and draft.kind and draft.kind is not SectionKind.TERMINAL:
        text = without_left_open(text)
    section = Section(
        draft.place,
        draft.heading,
        text,
        draft.kind or usual,
        draft.keystone,
        tuple(choices),
        tuple(draft.changes),
        tuple(draft.tags),
    )
    return section, gateways
