"""Cells: a weave of Ink taken apart, each stretch between two choices a section of its own.

What follows a choice is a cell, a gather is one, and what has no divert of its own runs on to the
next gather. A choice that only repeats its words and goes on needs no cell.
"""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.packs.questfoundry.book.model import KeyChange, KeyTest, StoryChoice
from callboard.packs.questfoundry.formats.prose import one_line
from callboard.packs.questfoundry.formats.reading.weave import (
    DECLARED,
    ENDS,
    ESCAPE,
    LIVE,
    ONLY_DIVERT,
    SET,
    KnotDraft,
    bracket_end,
    tests_in,
)

ONWARD: Final = "…"
_CHOICE: Final = re.compile(r"([*+](?:[ \t]*[*+])*)[ \t]*(?:\((\w+)\)[ \t]*)?")
_GATHER: Final = re.compile(r"(-(?:[ \t]*-(?!>))*)(?!>)[ \t]*(?:\((\w+)\)[ \t]*)?")
_GUARD: Final = re.compile(r"\{([^{}\n]*)\}[ \t]*")
_TARGET: Final = re.compile(r"[\w.]+")
_DIVERT: Final = re.compile(r"(?<!\\)->[ \t]*([\w.]+)")
# Into a part and back: only a player knows where back is.
_TUNNEL: Final = re.compile(r"(?<!\\)->[ \t]*(?:[\w.]+[ \t]*)?->")
_BRACES: Final = re.compile(r"(?<!\\)[{}]")
_ASIDE: Final = re.compile(r"/\*|(?<![:\\])//[^\n]*|^[ \t]*TODO\b[^\n]*", re.MULTILINE)
# A tag ends with its line, its bracket or a divert.
_TAGS: Final = re.compile(r"(?<![ \t])[ \t]*(?<!\\)#(?!\{)(?:(?!->)[^\]\n])*")
_GLOBAL: Final = re.compile(r"(?:VAR|CONST|LIST|EXTERNAL)\b")


@dataclass
class _Cell:
    """A section being read; `to` is where it leads by a divert of its own."""

    draft: KnotDraft
    level: int
    echo: str = ""
    label: str = ""
    to: str = ""
    # Choices with the cell that follows each; those with none lead to a place by name.
    offers: list[tuple[StoryChoice, "_Cell | None"]] = field(
        default_factory=list["tuple[StoryChoice, _Cell | None]"]
    )
    onward: "_Cell | None" = None
    is_labelled: bool = False
    is_once: bool = False
    returns: bool = False

    @property
    def is_loose(self) -> bool:
        return not (self.to or self.offers or self.onward or self.draft.ends or self.returns)

    @property
    def is_silent(self) -> bool:
        return self.is_loose and not any(self.draft.lines)


def cells_of(
    place: str,
    lines: Sequence[str],
    known: frozenset[str],
    goal: Callable[[str], str],
    taken: Set[str],
) -> list[KnotDraft]:
    """Read the lines of a knot or a stitch; names in `taken` are not given to cells."""
    reader = _CellReader(place, known, goal, taken)
    for line in _without_asides("\n".join(lines)).split("\n"):
        reader.read(line.strip())
    return reader.drafts()


def _without_asides(text: str) -> str:
    """Return lines of Ink without comments; one that nobody closes is words."""
    told: list[str] = []
    start = 0
    is_closed = True
    while found := _ASIDE.search(text, start):
        end = found.end()
        if found[0] == "/*":
            closed = text.find("*/", end) if is_closed else -1
            is_closed = closed >= 0
            if not is_closed:
                told.append(text[start:end])
                start = end
                continue
            end = closed + 2
        told.append(text[start : found.start()])
        start = end
    return "".join([*told, text[start:]])


class _CellReader:
    def __init__(
        self, place: str, known: frozenset[str], goal: Callable[[str], str], taken: Set[str]
    ) -> None:
        self.place = place
        self.known = known
        self.goal = goal
        self.taken = taken
        self.numbers = {"c": 0, "g": 0}
        self.root = _Cell(KnotDraft(place), 0)
        self.cells = [self.root]
        # From the outermost cell to the one that is being told, each deeper than the last.
        self.stack = [self.root]
        self.depth = 0

    @property
    def here(self) -> _Cell:
        return self.stack[-1]

    def strange(self, why: str) -> None:
        self.root.draft.strange = self.root.draft.strange or why

    def read(self, line: str) -> None:
        within = self.depth
        braces = _BRACES.findall(line)
        self.depth = max(0, within + braces.count("{") - braces.count("}"))
        if not line:
            told = self.here.draft.lines
            if told and told[-1]:
                told.append("")
        elif _GLOBAL.match(line):
            # It holds for the whole file wherever it stands.
            return
        elif found := _CHOICE.match(line):
            if within:
                self.strange("choices within a condition")
            self.choice(found, line[found.end() :])
        elif not within and (found := _GATHER.match(line)):
            self.gather(found)
            if rest := line[found.end() :].strip():
                if _CHOICE.match(rest):
                    self.strange("a gather with a choice on its line")
                self.tell(rest)
        else:
            self.tell(line, within=bool(within))

    def named(self, letter: str, label: str | None) -> str:
        name = f"{self.place}.{label}" if label else ""
        while not label and (not name or name in self.taken):
            self.numbers[letter] += 1
            name = f"{self.place}.{letter}{self.numbers[letter]}"
        return name

    def cell(self, letter: str, label: str | None, level: int) -> _Cell:
        made = _Cell(KnotDraft(self.named(letter, label)), level, is_labelled=bool(label))
        self.cells.append(made)
        return made

    def close(self, level: int) -> None:
        """Leave every cell that is as deep as what comes now, or deeper."""
        while len(self.stack) > 1 and self.here.level >= level:
            self.stack.pop()

    def gather(self, found: re.Match[str]) -> None:
        level = found[1].count("-")
        if self.here is self.root and self.root.is_silent and not found[2]:
            return
        made = self.cell("g", found[2], level - 1)
        for each in self.cells[:-1]:
            # A gather takes in what hangs loose at its own depth or deeper, and what stands
            # before it without having asked anything.
            if each.is_loose and (each.level >= level or each is self.here):
                each.onward = made
        self.close(level)
        self.stack.append(made)

    def choice(self, found: re.Match[str], rest: str) -> None:
        level = found[1].count("*") + found[1].count("+")
        self.close(level)
        parent = self.stack[-1]
        if parent.to or parent.onward or parent.draft.ends:
            self.strange("a choice after a divert")
        tests: tuple[KeyTest, ...] = ()
        while guard := _GUARD.match(rest):
            rest = rest[guard.end() :]
            own = tests_in(guard[1], self.known)
            if own is None:
                self.strange("a condition that is no key")
            else:
                tests = (*tests, *own)
        rest = _TAGS.sub("", rest)
        words, target = self.parted(rest)
        label, echo = self.worded(words)
        made = self.cell("c", found[2], level)
        made.returns = bool(_TUNNEL.search(words))
        made.echo = echo if echo == label else ""
        if not label:
            self.strange("a choice without words")
        made.label = label
        made.is_once = "*" in found[1]
        parent.offers.append((StoryChoice("", label or ONWARD, "", tests), made))
        self.stack.append(made)
        if echo:
            made.draft.lines.append(echo)
        if target:
            self.divert(target)

    def parted(self, text: str) -> tuple[str, str]:
        """Part words from the divert they end with."""
        words, arrow, target = text.rpartition("->")
        if not arrow or words.endswith(("-", "\\")) or not _TARGET.fullmatch(target.strip(" \t")):
            return text, ""
        return words.rstrip(" \t"), target.strip(" \t")

    def worded(self, words: str) -> tuple[str, str]:
        """Return the words of a choice, and what is told once it is taken."""
        if LIVE.search(words):
            self.strange(
                "a tunnel" if _TUNNEL.search(words) else "a choice of more than plain words"
            )
            for name in _DIVERT.findall(words):
                self.way(name)
        start = words.find("[")
        end = bracket_end(words)
        if start < 0 or end < start:
            told = one_line(ESCAPE.sub(r"\1", words))
            return told, told
        before, within, after = words[:start], words[start + 1 : end], words[end + 1 :]
        label, echo = (ESCAPE.sub(r"\1", each) for each in (before + within, before + after))
        return one_line(label), one_line(echo)

    def tell(self, line: str, *, within: bool = False) -> None:
        here = self.here
        if _TUNNEL.search(line):
            self.strange("a tunnel")
            here.returns = not within
        if change := SET.fullmatch(line):
            if change[1] in self.known and not within and not here.offers:
                op = "set" if change[2] == "true" else "clear"
                here.draft.changes.append(KeyChange(op, change[1]))
            else:
                self.strange("a variable that is no key")
            return
        if divert := ONLY_DIVERT.fullmatch(line):
            if within:
                self.strange("a part with conditions")
                self.way(divert[1])
            else:
                self.divert(divert[1])
            return
        if line[0] in "~=" or DECLARED.match(line):
            self.strange("more than plain words")
            return
        self.words(line, within=within)

    def words(self, line: str, *, within: bool) -> None:
        here = self.here
        if here.to or here.draft.ends or here.onward or here.offers:
            self.strange("words after a divert or a choice")
        shown = "" if line.startswith("#") else _TAGS.sub("", line)
        told, target = self.parted(shown)
        if within or LIVE.search(told):
            self.strange("more than plain words")
            for name in _DIVERT.findall(shown):
                self.way(name)
            target, told = "", shown
        else:
            told = ESCAPE.sub(r"\1", told)
        if told:
            here.draft.lines.append(told)
        if target:
            self.divert(target)

    def divert(self, name: str) -> None:
        here = self.here
        if here.to or here.draft.ends or here.offers:
            self.strange("words after a divert or a choice")
            self.way(name)
        elif name in ENDS:
            here.draft.ends = True
        else:
            here.to = self.goal(name)

    def way(self, name: str) -> None:
        """Take from what is not understood only where it leads."""
        if name not in ENDS:
            self.here.offers.append((StoryChoice("", ONWARD, self.goal(name)), None))

    def drafts(self) -> list[KnotDraft]:
        """Return the cells as sections; those that say nothing of their own are passed over."""
        for cell in self.cells:
            for choice, follows in cell.offers:
                if follows is None:
                    cell.draft.ways.append(choice)
                    continue
                to, effects = self.resolved(follows)
                made = replace(choice, to=to, effects=effects)
                cell.draft.ways.append(made)
                if follows.is_once:
                    cell.draft.once.add(len(cell.draft.ways))
            if cell.to:
                cell.draft.ways.append(StoryChoice("", ONWARD, cell.to))
            elif cell.onward:
                to, effects = self.resolved(cell.onward)
                cell.draft.ways.append(StoryChoice("", ONWARD, to, effects=effects))
        kept = [each for each in self.cells if not self.is_passed(each)]
        for each in kept:
            if each.draft.ends and not any(each.draft.lines):
                # An end that says nothing says what was chosen, if there is no other way to it.
                each.draft.lines = [each.label] if each.label and not each.is_labelled else []
            each.draft.strange = self.root.draft.strange
            while each.draft.lines and not each.draft.lines[-1]:
                each.draft.lines.pop()
        return [each.draft for each in kept]

    def is_passed(self, cell: _Cell) -> bool:
        """Say whether a cell says nothing, or only the words of its choice again, and goes on."""
        said = [each for each in cell.draft.lines if each]
        is_own = cell is self.root or cell.is_labelled or bool(cell.offers)
        return bool(cell.to or cell.onward) and not is_own and said in ([], [cell.echo])

    def resolved(self, cell: _Cell) -> tuple[str, tuple[KeyChange, ...]]:
        """Return where somebody comes to who goes on to a cell, and what changes on the way."""
        changes: list[KeyChange] = []
        while self.is_passed(cell):
            changes += cell.draft.changes
            if cell.onward is None:
                return cell.to, tuple(changes)
            cell = cell.onward
        return cell.draft.place, tuple(changes)
