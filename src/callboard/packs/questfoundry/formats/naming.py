"""Naming: what sections and keys are called in a format, which allows less than a book does.

Names depend on the book alone, so an edited file can be matched with the book it was made of.
"""

import re
from collections.abc import Iterable
from typing import Final

from callboard.packs.questfoundry.book.model import Book, Section
from callboard.packs.questfoundry.formats.prose import one_line

# Passages that are no part of the story, in any of the formats of Twine.
SPECIAL: Final = frozenset(
    (
        *("StoryTitle", "StoryData", "StoryInit", "StoryAuthor", "StoryBanner", "StoryCaption"),
        *("StoryDisplayTitle", "StoryInterface", "StoryMenu", "StorySettings", "StoryShare"),
        *("StorySubtitle", "StoryIncludes", "PassageDone", "PassageHeader", "PassageFooter"),
        *("PassageReady", "Story JavaScript", "Story Stylesheet", "UserScript", "UserStylesheet"),
        *("StoryStyleSheet", "StoryStylesheet", "StoryScript"),
    )
)
_INK_WORDS: Final = frozenset(
    (
        *("true", "false", "not", "and", "or", "mod", "has", "hasnt", "return", "else", "temp"),
        *("VAR", "CONST", "LIST", "INCLUDE", "EXTERNAL", "TODO", "END", "DONE", "function", "ref"),
        *("if", "choices", "global", "stopping", "shuffle", "cycle", "once", "seq"),
        *("CHOICE_COUNT", "TURNS", "TURNS_SINCE", "RANDOM", "SEED_RANDOM", "POW", "INT", "FLOOR"),
        *("CEILING", "FLOAT", "MIN", "MAX", "READ_COUNT", "LIST_COUNT", "LIST_ALL", "LIST_MIN"),
        *("LIST_MAX", "LIST_INVERT", "LIST_RANDOM", "LIST_RANGE", "LIST_VALUE"),
    )
)
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER: Final = re.compile(r"[^A-Za-z0-9]+")


def ordered(book: Book) -> list[Section]:
    """Return the sections in the book's order; of two with one id the first counts."""
    return list({each.id: each for each in (*book.sections, *reversed(book.sections))}.values())


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return an identifier for each name, its own where it can be one; none of those taken."""
    wanted = list(dict.fromkeys(names))
    used = _Taken(taken)
    found = {name: name for name in wanted if _PLAIN.fullmatch(name) and name not in used.names}
    used.names |= found.keys()
    for name in wanted:
        if name not in found:
            stem = _OTHER.sub("_", name).strip("_") or "k"
            found[name] = used.free(f"k_{stem}" if stem[0].isdigit() else stem, "_")
    return {name: found[name] for name in wanted}


def slugs(names: Iterable[str]) -> list[str]:
    """Return a short plain name for each of some names, in their order and no two alike."""
    used = _Taken()
    return [used.free(_OTHER.sub("-", name).strip("-").lower() or "p", "-") for name in names]


def anchors(book: Book) -> dict[str, str]:
    """Return the anchor of each section."""
    ids = [each.id for each in ordered(book)]
    return {each: f"s-{slug}" for each, slug in zip(ids, slugs(ids), strict=True)}


def passage_names(book: Book) -> dict[str, str]:
    """Return the name of each section's passage: its title, where no other has it."""
    used = _Taken(SPECIAL)
    names: dict[str, str] = {}
    for section in book.sections:
        if section.id not in names:
            told = one_line(section.title) or one_line(section.id) or "Passage"
            names[section.id] = used.free(told, " ")
    return names


def variables(book: Book) -> dict[str, str]:
    """Return the variable of each key in a Twine story."""
    return identifiers(book.keys)


def knots(book: Book) -> dict[str, str]:
    """Return the knot of each section in Ink."""
    return identifiers((each.id for each in ordered(book)), _INK_WORDS)


def ink_variables(book: Book) -> dict[str, str]:
    """Return the variable of each key in Ink, where a knot and a variable are never alike."""
    return identifiers(book.keys, {*_INK_WORDS, *knots(book).values()})


class _Taken:
    """Names that are given, and where to go on counting for each stem."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = set(names)
        self.next: dict[str, int] = {}

    def free(self, stem: str, joint: str) -> str:
        """Take a name nobody has: the stem, or the stem with a number."""
        name, number = stem, self.next.get(stem, 2)
        while name in self.names:
            name, number = f"{stem}{joint}{number}", number + 1
        self.next[stem] = number
        self.names.add(name)
        return name
