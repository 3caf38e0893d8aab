"""The items of a block: its bullets, its numbered steps, its paragraphs."""

import re
from dataclasses import dataclass, replace
from typing import Final

from callboard.packs.alfred.kitchen.recipes.reading.limits import LONGEST_BLOCK
from callboard.packs.alfred.kitchen.recipes.text import one_line, plain_text

_ITEM: Final = re.compile(r"^(\s*)(?:[-*+•‣▪◦]|\d{1,3}[.)])(?:\s+(.*))?$")
_MARKED: Final = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])(?:\s+(.*))?$")
_ROW: Final = re.compile(r"^\s*\|(.*)\|\s*$")
_RULED: Final = re.compile(r"^[\s|:-]+$")
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_TAB: Final = 4


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a block; `indent` counts blanks, and is -1 for a plain line."""

    text: str
    indent: int = -1
    # Whether a blank line or a list item stands before a plain line.
    opens: bool = True

    @property
    def is_listed(self) -> bool:
        """Whether the item has a bullet or a number."""
        return self.indent >= 0


def items_of(lines: list[str]) -> list[Item]:
    """Return list items with their further lines joined, and plain lines one by one."""
    found: list[Item] = []
    is_open = is_running = False
    for line in lines:
        expanded = line.expandtabs(_TAB)
        if not expanded.strip() or _FENCE.match(expanded):
            is_open = is_running = False
            continue
        row = _ROW.match(expanded)
        if row is not None:
            if not _RULED.match(expanded):
                found.append(Item(one_line(" ".join(row[1].split("|"))), 0))
            continue
        item = _ITEM.match(expanded)
        if item is not None:
            if (item[2] or "").strip():
                found.append(Item(one_line(item[2]), len(item[1])))
                is_open, is_running = True, False
        elif (
            is_open and found and (expanded.startswith(" ") or not expanded.rstrip().endswith(":"))
        ):
            # What is cut off below is not joined first: ten thousand lines cost ten thousand.
            if len(found[-1].text) <= LONGEST_BLOCK:
                found[-1] = Item(f"{found[-1].text} {one_line(expanded)}", found[-1].indent)
        else:
            found.append(Item(one_line(expanded), opens=not is_running))
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
