"""Blocks: parts of a text, and the items of its lists."""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.packs.alfred.kitchen.recipes.reading.limits import (
    LONGEST_BLOCK,
    is_bare_heading,
    part_named,
)
from callboard.packs.alfred.kitchen.recipes.text import guarded, one_line, plain_text

INTRO: Final = "description"
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})(?=\s|$)")
_CLOSING: Final = re.compile(r"(?:^|\s)#+$")
_UNDERLINE: Final = re.compile(r"^ {0,3}(=+|-{2,})\s*$")
_RULE: Final = re.compile(r"^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")


@dataclass(slots=True)
class TextBlock:
    """The lines under one heading."""

    part: str
    group: str = ""
    lines: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class RecipeParts:
    """A file in parts; `title` is its first-level heading."""

    title: str
    blocks: tuple[TextBlock, ...]

    def of(self, part: str) -> list[TextBlock]:
        """Return the blocks of a part, in order."""
        return [block for block in self.blocks if block.part == part]


def split_parts(text: str) -> RecipeParts:
    """Return a text in the parts of a recipe."""
    lines = _marked(text.split("\n"))
    section_level = min(
        (
            level
            for level, title in lines
            if level and part_named(title) in ("ingredients", "steps")
        ),
        default=2,
    )
    title = ""
    blocks = [TextBlock(INTRO)]
    for level, line in lines:
        if not level:
            blocks[-1].lines.append(line)
            continue
        named = part_named(line)
        if level < section_level and not (named and level > 1):
            title = title or plain_text(line)
        elif level == section_level and named is not None:
            blocks.append(TextBlock(named, _group_of(line, named)))
        else:
            blocks.append(_inner(blocks[-1], plain_text(line)))
    return RecipeParts(title, tuple(blocks))


def _inner(current: TextBlock, title: str) -> TextBlock:
    """Return the block under a heading that opens no part: a group of the part it is in."""
    if current.part in ("ingredients", "steps"):
        return TextBlock(current.part, title)
    return TextBlock(current.part, "", [title, ""] if title else [])


def _group_of(heading: str, part: str) -> str:
    """Return `the dough` of `Ingredients for the dough`; a bare name of a part groups nothing."""
    plain = plain_text(heading).strip(" :")
    if part not in ("ingredients", "steps") or len(plain.split()) == 1:
        return ""
    return plain


def _marked(lines: list[str]) -> list[tuple[int, str]]:
    """Return each line with its heading level, 0 for what is no heading."""
    marked: list[tuple[int, str]] = []
    for line in lines:
        heading = _HEADING.match(line)
        shown = guarded(line)
        if heading is not None:
            title = line[heading.end() :].strip()
            marked.append((len(heading[1]), _CLOSING.sub("", title).strip()))
        elif _UNDERLINE.match(line) and _may_be_title(marked):
            marked[-1] = (1 if "=" in line else 2, marked[-1][1].strip())
        elif _RULE.match(line):
            marked.append((0, ""))
        elif is_bare_heading(shown):
            marked.append((2, line.strip().strip("*_")))
        else:
            marked.append((0, line))
    return marked


def _may_be_title(marked: list[tuple[int, str]]) -> bool:
    if not marked or marked[-1][0] or not marked[-1][1].strip():
        return False
    before = marked[-2][1].strip() if len(marked) > 1 else ""
    is_item = re.match(r"\s*(?:[-*+]|\d+[.)])\s", marked[-1][1]) is not None
    return not is_item and (not before or bool(marked[-2][0]))


_ITEM: Final = re.compile(r"^(\s*)(?:[-*+•‣▪◦]|\d{1,3}[.)])(?:\s+(.*))?$")
_MARKED: Final = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])(?:\s+(.*))?$")
_ROW: Final = re.compile(r"^\s*\|(.*)\|\s*$")
_RULED: Final = re.compile(r"^[\s|:-]+$")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_TAB: Final = 4


@dataclass(frozen=True, slots=True)
class TextItem:
    """One entry of a block; `indent` counts blanks, and is -1 for a plain line."""

    text: str
    indent: int = -1
    # Whether a blank line or a list item stands before a plain line.
    opens: bool = True

    @property
    def is_listed(self) -> bool:
        """Whether the item has a bullet or a number."""
        return self.indent >= 0


def items_of(lines: list[str]) -> list[TextItem]:
    """Return list items with their further lines joined, and plain lines one by one."""
    found: list[TextItem] = []
    is_open = is_running = False
    for line in lines:
        expanded = line.expandtabs(_TAB)
        if not expanded.strip() or _FENCE.match(expanded):
            is_open = is_running = False
            continue
        row = _ROW.match(expanded)
        if row is not None:
            if not _RULED.match(expanded):
                found.append(TextItem(one_line(" ".join(row[1].split("|"))), 0))
            continue
        item = _ITEM.match(expanded)
        if item is not None:
            if (item[2] or "").strip():
                found.append(TextItem(one_line(item[2]), len(item[1])))
                is_open, is_running = True, False
        elif (
            is_open and found and (expanded.startswith(" ") or not expanded.rstrip().endswith(":"))
        ):
            # What is cut off below is not joined first: ten thousand lines cost ten thousand.
            if len(found[-1].text) <= LONGEST_BLOCK:
                found[-1] = TextItem(f"{found[-1].text} {one_line(expanded)}", found[-1].indent)
        else:
            found.append(TextItem(one_line(expanded), opens=not is_running))
            is_open, is_running = False, True
    return [replace(item, text=item.text[:LONGEST_BLOCK]) for item in found if item.text]


def paragraphs_of(lines: list[str]) -> list[str]:
    """Return the paragraphs of a block as plain text, each one line; bullets stand alone."""
    found: list[str] = []
    is_open = False
    for line in lines:
        if not line.strip() or _FENCE.match(line):
            is_open = False
            continue
        item = _MARKED.match(line.expandtabs(_TAB))
        if item is not None:
            found.append(one_line(item[1] or ""))
        elif is_open and found:
            if len(found[-1]) <= LONGEST_BLOCK:
                found[-1] = f"{found[-1]} {one_line(line)}"
        else:
            found.append(one_line(line))
        is_open = True
    return [plain for plain in (plain_text(text[:LONGEST_BLOCK]) for text in found) if plain]
