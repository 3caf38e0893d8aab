"""Layout: a recipe whose lists have no headings is sorted into what goes in and what is done.

What stands in bullets, in a table, or begins with an amount goes in, until the first lines that
read as something to do. Two lists that are two ways to measure one dish are not both taken.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.recipes.lines.parsing import parse_line
from callboard.packs.alfred.kitchen.recipes.reading.limits import fact_named, part_named
from callboard.packs.alfred.kitchen.recipes.recipe import IngredientLine
from callboard.packs.alfred.kitchen.recipes.text import one_line, without_emoji

_BULLET: Final = re.compile(r"^\s*[-*+•‣▪◦▢☐□]\s+(?P<text>\S.*)$")
_NUMBERED: Final = re.compile(r"^\s*(?:step\s*)?\d{1,3}\s*[.):]\s+", re.IGNORECASE)
_ROW: Final = re.compile(r"^\s*\|(?P<cells>.*)\|\s*$")
_RULED: Final = re.compile(r"^[\s|:-]+$")
_HEADING: Final = re.compile(r"(?:#{2,6}\s(?P<marked>.+)|\*\*(?P<bold>[^*]+)\*\*:?)")
_AMOUNT: Final = re.compile(r"^\s*(?:[~≈]\s*)?(?:\d|[½¼¾⅓⅔⅛])")
_SLASHED: Final = re.compile(r"(?<=\s)/\s{1,9}(?=\d|[½¼¾⅓⅔]|pinch|dash|a )")
_AND_MORE: Final = re.compile(r"(?:,|\s[&+]|\sand)\s+(?=\d+\s+[^\W\d])")
_SERVES: Final = re.compile(
    r"^\s*[*_(]{0,2}(?:serves|feeds|makes|yields?|servings?|portions?)\b", re.IGNORECASE
)
_FACT: Final = re.compile(r"^\s{0,9}(?:[-*+]\s{0,9})?(?P<key>[^:\d\s][^:\d]{1,39}):")
_LEAST_LISTED: Final = 2
_FOR: Final = re.compile(r"^for (?:the|serving)\b", re.IGNORECASE)
_MOST_WORDS: Final = 12
_MOST_TITLE_WORDS: Final = 5


@dataclass(slots=True)
class _Sorting:
    """Lines while they are sorted."""

    intro: list[str] = field(default_factory=list[str])
    goes_in: list[str] = field(default_factory=list[str])
    done: list[str] = field(default_factory=list[str])


def split_title(text: str) -> tuple[str, list[str]]:
    """Return the head of a text (front matter, first-level heading) and the lines below it."""
    lines = text.strip("\n").split("\n")
    at = 0
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        at = next(n for n, line in enumerate(lines[1:], 1) if line.strip() == "---") + 1
    while at < len(lines) and not lines[at].strip():
        at += 1
    if at < len(lines) and re.match(r"#\s", lines[at]):
        at += 1
    elif at < len(lines) and _is_lower_title(lines[at:]):
        return "\n".join([*lines[:at], lines[at][1:]]), lines[at + 1 :]
    return "\n".join(lines[:at]), lines[at:]


def _is_lower_title(lines: list[str]) -> bool:
    """Say whether a recipe begins with a heading of the second level that names it."""
    has_first = any(re.match(r"#\s", line) for line in lines)
    is_part = part_named(lines[0].strip("# ")) is not None
    return lines[0].startswith("## ") and not has_first and not is_part


def headed(body: list[str]) -> list[str] | None:
    """Return the lines of a recipe with headings over its lists, or None if there are no lists."""
    sorted_lines = _sort(body)
    items = [line[2:] for line in sorted_lines.goes_in if line.startswith("- ")]
    if len(items) < _LEAST_LISTED or not any(parse_line(each).quantity for each in items):
        return None
    return [
        *sorted_lines.intro,
        *("", "## Ingredients", ""),
        *sorted_lines.goes_in,
        *("", "## Directions", ""),
        *sorted_lines.done,
    ]


def _sort(body: list[str]) -> _Sorting:
    found = _Sorting()
    has_bullets = any(_BULLET.match(line) or _ROW.match(line) for line in body)
    for at, line in enumerate(body):
        if found.done:
            found.done.append(line)
        elif _goes_in(line, has_bullets=has_bullets, has_begun=bool(found.goes_in)):
            found.goes_in += _items(line, body[at + 1 : at + 2])
        elif _heads(line, body[at + 1 :], has_bullets=has_bullets):
            found.goes_in += ["", f"### {_title(line)}", ""]
        elif not found.goes_in:
            found.intro.append(_plain_heading(line))
        elif line.strip():
            found.done.append(_NUMBERED.sub("", _plain_heading(line)))
    return found


def _goes_in(line: str, *, has_bullets: bool, has_begun: bool) -> bool:
    """Say whether a line is something that goes in."""
    fact = _FACT.match(without_emoji(line))
    if _SERVES.match(line) or (fact is not None and fact_named(fact["key"].rstrip()) is not None):
        return False
    if has_bullets:
        return bool(_BULLET.match(line) or _ROW.match(line))
    plain = one_line(line)
    if not plain or _heading(line):
        return False
    if _NUMBERED.match(plain):
        # A numbered list of amounts goes in; what is done begins with a word.
        rest = _NUMBERED.sub("", plain)
        is_amount = _AMOUNT.match(rest) is not None and parse_line(rest).quantity is not None
        return is_amount and not rest.endswith(".")
    if _SLASHED.search(plain):
        return True
    is_short = len(plain.split()) <= _MOST_WORDS and not plain.endswith((".", ":"))
    if not is_short or _FOR.match(plain):
        return False
    return bool(_AMOUNT.match(plain)) or has_begun or parse_line(plain).quantity is not None


def _heads(line: str, following: list[str], *, has_bullets: bool) -> bool:
    """Say whether a line heads a list: a short one with things that go in right behind it."""
    if not line.strip() or _AMOUNT.match(line):
        return False
    after = next((each for each in following if each.strip()), "")
    is_list = bool(_BULLET.match(after) or _ROW.match(after)) if has_bullets else False
    if not has_bullets:
        is_marked = _heading(line) is not None or line.rstrip().endswith(":")
        listed = _NUMBERED.sub("", after)
        is_list = _AMOUNT.match(listed) is not None and (
            is_marked or _FOR.match(one_line(line)) is not None
        )
    title = _title(line)
    is_title = len(title.split()) <= _MOST_TITLE_WORDS and not re.search(r"[.!?]|\d", title)
    return is_list and is_title


def _title(line: str) -> str:
    found = _heading(line)
    return one_line((found["marked"] or found["bold"]) if found else line).strip(" :*")


def _plain_heading(line: str) -> str:
    found = _heading(line)
    return line if found is None else (found["marked"] or found["bold"])


def _items(line: str, following: list[str]) -> list[str]:
    """Return what goes in of a line: one thing, or several that stand beside each other."""
    row = _ROW.match(line)
    if row is not None:
        is_head = bool(following) and _RULED.match(following[0]) is not None
        return [] if is_head or _RULED.match(line) else _row(row["cells"])
    bullet = _BULLET.match(line)
    text = one_line(bullet["text"] if bullet else _NUMBERED.sub("", line))
    parts = _SLASHED.split(text)
    if len(parts) == 1 and _AMOUNT.match(text):
        parts = [part for part in _AND_MORE.split(text) if part.strip()]
    return [f"- {part.strip()}" for part in parts]


def _row(cells: str) -> list[str]:
    """Return a row of a table as a line: the first amount, the name, other amounts behind it."""
    told = [one_line(cell) for cell in cells.split("|")]
    told = [cell for cell in told if cell.strip(" –—-")]
    amounts = [cell for cell in told if _AMOUNT.match(cell)]
    names = [cell for cell in told if cell not in amounts]
    if not names:
        return []
    name, *notes = names
    other = f" ({'; '.join(amounts[1:])})" if len(amounts) > 1 else ""
    return [f"- {' '.join([*amounts[:1], name])}{other}{', ' + ', '.join(notes) if notes else ''}"]


_WAYS: Final = re.compile(
    r"\b(?:metric|imperial|us|u\.s\.|american|cups|grams|version|variant|variation|option|alternative|"
    r"alternatively|small batch|large batch|double batch|or)\b",
    re.IGNORECASE,
)
_LEAST_LINES: Final = 3
_SAME: Final = 0.8


def one_list(
    lines: tuple[IngredientLine, ...],
) -> tuple[tuple[IngredientLine, ...], tuple[IngredientLine, ...]]:
    """Return the lines that are cooked, and those of lists that say the same dish once more."""
    by_group: dict[str, list[IngredientLine]] = {}
    for line in lines:
        by_group.setdefault(line.group, []).append(line)
    kept: list[IngredientLine] = []
    aside: set[str] = set()
    for name, group in by_group.items():
        if kept and _says_again(kept, group):
            aside.add(name)
        else:
            kept.extend(group)
    return (
        tuple(line for line in lines if line.group not in aside),
        tuple(line for line in lines if line.group in aside),
    )


def _says_again(kept: list[IngredientLine], group: list[IngredientLine]) -> bool:
    first = {name_key(line.name) for line in kept}
    again = {name_key(line.name) for line in group}
    if len(again) < _LEAST_LINES or not first:
        return False
    shared = len(first & again) / max(len(first), len(again))
    is_way = bool(_WAYS.search(group[0].group)) and bool(_WAYS.search(kept[0].group) or shared)
    return shared >= (_SAME / 2 if is_way else _SAME)


def _heading(line: str) -> re.Match[str] | None:
    return _HEADING.fullmatch(line.strip().rstrip("#").rstrip())
