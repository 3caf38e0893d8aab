"""Ink: a source file as a book.

A knot within the few things a book has words for becomes a section, a weave one for each stretch
between two choices. Of any other knot the sections tell what it says and where it leads. The source
of both is kept and written out again as it was.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from callboard.packs.questfoundry.book.model import WEAVE, Book, Gateway, Section, Verbatim
from callboard.packs.questfoundry.formats.prose import clean
from callboard.packs.questfoundry.formats.reading.knots import (
    Knot,
    KnotNames,
    drafts_of,
    knots_of,
    offered_once,
    ringed,
    section_of,
    trimmed,
    whole_drafts_of,
)
from callboard.packs.questfoundry.formats.reading.twine import ReadStory
from callboard.packs.questfoundry.formats.reading.weave import (
    DECLARED,
    ENDS,
    ESCAPE,
    LIVE,
    ONLY_DIVERT,
    SET,
    TAG,
)

PREAMBLE: Final = "preamble"
TAGS: Final = ("title", "author", "ifid")
_OPENING: Final = "opening"
_ANY_SET: Final = re.compile(r"(?<!\w)(\w++)[ \t]*+(?:=(?!=)|\+\+|--|\+=|-=)")
_VAR: Final = re.compile(r"VAR[ \t]+(\w+)[ \t]*=[ \t]*(.*)")


def read_ink(text: str) -> ReadStory:
    """Read an Ink source file."""
    knots = list(knots_of(clean(text.removeprefix("\ufeff"))))
    opening, *others = knots
    known = _keys(knots)
    names = {each.name for each in others}
    sections: list[Section] = []
    gateways: list[Gateway] = []
    kept: list[Verbatim] = []
    functions: list[Verbatim] = []
    once: dict[str, set[int]] = {}
    facts, above, start, first = _preamble(opening, names)
    seen: set[str] = set()
    if first is not None:
        others = [first, *others]
    firsts = {each.name: each for each in reversed(others) if not each.is_function}
    places = KnotNames(firsts.values())
    start = places.goal(start, "")
    for knot in others:
        if knot.is_function or knot.name in seen:
            why = "a function" if knot.is_function else "another knot has this name"
            functions.append(Verbatim(knot.name, "ink", knot.source, why))
            continue
        seen.add(knot.name)
        drafts = drafts_of(knot, known, places)
        strange = next((each.strange for each in drafts if each.strange), "")
        for draft in drafts:
            section, gates = section_of(draft, known, keep_gates=not strange)
            sections.append(section)
            once[section.id] = draft.once
            gateways += gates
        is_bare = any(each.ways and not any(each.lines) for each in drafts)
        is_woven = is_bare or len(drafts) > 1 or not is_whole(knot, known, places)
        if (strange or is_woven) and drafts:
            dialect = "" if strange else WEAVE
            why = strange or "a weave, which is written out as it stands"
            kept.append(Verbatim(knot.name, "ink", knot.source, why, drafts[0].place, dialect))
    rings = ringed(sections)
    sections = [offered_once(each, once[each.id], rings) for each in sections]
    book = Book(
        title=facts.get("title", ""),
        start=start or (sections[0].id if sections else ""),
        sections=tuple(sections),
        ifid=facts.get("ifid", ""),
        author=facts.get("author", ""),
        gateways=tuple(gateways),
    )
    dropped = {f"VAR {key} = false" for key in book.keys}
    rest = "\n".join(line for line in above if " ".join(line.split()) not in dropped).strip("\n")
    lead = [Verbatim(PREAMBLE, "ink", rest, "not of the story itself")] if rest.strip() else []
    return ReadStory(replace(book, verbatim=(*lead, *kept, *functions)))


def names_in(sources: Iterable[str], ids: Iterable[str]) -> KnotNames:
    """Return what a divert may name in knots that were kept, and in a book besides them."""
    return KnotNames((_only_knot(each) for each in sources), ids)


def sections_of_knot(
    source: str, known: frozenset[str], names: KnotNames, rings: frozenset[str]
) -> list[list[Section]]:
    """Return the sections that the source of one knot tells of: as an import makes them now.

    Then as one made them that looked into no weave; books keep what they were brought in as.
    """
    knot = _only_knot(source)
    return [
        [
            offered_once(section_of(each, known, keep_gates=False)[0], each.once, rings)
            for each in drafts
        ]
        for drafts in (drafts_of(knot, known, names), whole_drafts_of(knot, known, names))
    ]


def is_whole(knot: Knot, known: frozenset[str], names: KnotNames) -> bool:
    """Say whether a knot is one section, written as the book itself writes it."""
    return not any(each.strange for each in whole_drafts_of(knot, known, names))


def _only_knot(source: str) -> Knot:
    opening, *others = knots_of(source)
    return others[0] if others else replace(opening, name=_OPENING)


def known_keys(book: Book) -> frozenset[str]:
    """Return the variables that an import of this book took for keys."""
    kept = [each.text for each in book.verbatim if each.origin == "ink"]
    declared = [f"VAR {key} = false" for key in book.keys]
    return _keys(knots_of("\n".join([*declared, *kept])))


def _keys(knots: Iterable[Knot]) -> frozenset[str]:
    """Return the variables that are keys: false at first, then set to true or false only."""
    keys: set[str] = set()
    others: set[str] = set()
    for line in (line.strip() for knot in knots for line in knot.lines):
        declared = _VAR.fullmatch(line)
        if declared is not None:
            (keys if declared[2].strip() == "false" else others).add(declared[1])
        elif "~" in line and (line[0] == "~" or "{" in line) and not SET.fullmatch(line):
            others.update(found[1] for found in _ANY_SET.finditer(line))
    return frozenset(keys - others)


def _preamble(opening: Knot, names: set[str]) -> tuple[dict[str, str], list[str], str, Knot | None]:
    """Return what is told of the book, lines to keep, the start, and words before any knot."""
    facts: dict[str, str] = {}
    above: list[str] = []
    start = ""
    for at, raw in enumerate(opening.lines):
        line = raw.strip()
        tag = TAG.fullmatch(line) if line.startswith("#") else None
        divert = ONLY_DIVERT.fullmatch(line)
        if tag is not None and tag[1] in TAGS and tag[1] not in facts and not LIVE.search(tag[2]):
            facts[tag[1]] = ESCAPE.sub(r"\1", tag[2])
        elif divert and divert[1] not in ENDS and not _goes_on(opening.lines[at + 1 :]):
            start = divert[1]
        elif not line or line.startswith("#") or _is_aside(line):
            above.append(raw)
        else:
            body = trimmed(opening.lines[at:])
            return facts, above, _OPENING, Knot(_OPENING, body)
    return facts, above, start, None


def _is_aside(line: str) -> bool:
    """Say whether a line is for the compiler or for authors."""
    is_remark = line.startswith(("//", "TODO")) or (
        line[:2] == "/*" and line.find("*/") == len(line) - 2
    )
    return is_remark or DECLARED.match(line) is not None


def _goes_on(lines: Sequence[str]) -> bool:
    return any(each.strip() and not _is_aside(each.strip()) for each in lines)
