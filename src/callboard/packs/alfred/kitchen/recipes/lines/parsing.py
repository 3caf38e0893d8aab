"""One ingredient line read whole: amount, name, preparation, and how sure that is.

The line itself is always kept. What cannot be told is flagged; nothing is made up.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.packs.alfred.kitchen.recipes.lines.amounts import (
    LineAmount,
    read_amount,
    read_whole_amount,
)
from callboard.packs.alfred.kitchen.recipes.lines.doubts import (
    MOST_READ,
    find_doubts,
    is_nameless,
    is_participle,
    is_preparation,
    plain_line,
    split_brackets,
    split_commas,
    split_sentences,
    take_optional,
)
from callboard.packs.alfred.kitchen.recipes.lines.lexicon import find_unit, words
from callboard.packs.alfred.kitchen.recipes.lines.names import (
    is_aside,
    is_several,
    names_alternative,
    read_name,
    read_taken,
)
from callboard.packs.alfred.kitchen.recipes.recipe import (
    IngredientLine,
    LineFlag,
    confidence_of,
)

LONGEST: Final = 500
# Nobody writes as many; what stands in the others is kept as it is.
_MOST_BRACKETS: Final = 12
_LONGEST_NAME: Final = 160
_WORDS_OF_PROSE: Final = 9
_WORDS_OF_A_NAME: Final = 4
_WORDS_OF_A_TITLE: Final = 6
_LARGEST_BARE: Final = 50
_ADDED: Final = re.compile(r"plus\s+(?:about\s+)?\d", re.IGNORECASE)
_LED_OPTIONAL: Final = re.compile(r"^optionally\b[\s:,]*", re.IGNORECASE)
_GRADED: Final = frozenset(["soft", "firm", "hard", "dry", "hot", "lean", "rare", "spicy", "grain"])
_EXAMPLES: Final = re.compile(r"e\.?g|such as|like|including|i\.?e", re.IGNORECASE)
_COUNTED: Final = frozenset(["bowl", "clove", "slice", "can", "glass", "piece", "leaf", "sprig"])
_TRAILING: Final = re.compile(r"(?<=[^\d\s/.,-])[\s:]+(?=[~≈<]?[\d.])")
_HEADED: Final = re.compile(
    r"(?:for|to make)\s+(?:the\s+)?[^\d,]{2,60}|[^\d,:]{2,60}:", re.IGNORECASE
)
# Without a colon only `For the sauce` heads a part.
_FOR_THE: Final = re.compile(r"(?:for|to make)\s+the\s+[^\d,:;().]{2,40}", re.IGNORECASE)


def section_title(raw: str) -> str | None:
    """Return the title if a line of an ingredient list heads a part of it, or None."""
    text = re.sub(r"^#+\s*", "", plain_line(raw)).strip()
    is_headed = text.endswith(":") and _HEADED.fullmatch(text.rstrip(":") + ":") is not None
    if not is_headed and _FOR_THE.fullmatch(text) is None:
        return None
    title = text.rstrip(": ")
    if len(title.split()) > _WORDS_OF_A_TITLE:
        return None
    return title[:_LONGEST_NAME] or None


def parse_line(raw: str, group: str = "") -> IngredientLine:
    """Read one ingredient line."""
    text = plain_line(raw)
    reading = _LineReading(raw, group)
    if len(text) > LONGEST or len(raw) > MOST_READ:
        reading.flags.append(LineFlag.TOO_LONG)
        text = text[:LONGEST]
    reading.read(text)
    line = reading.line()
    flags = tuple(dict.fromkeys((*line.flags, *find_doubts(line, text))))
    return replace(line, flags=flags, confidence=confidence_of(flags))


@dataclass(slots=True)
class _LineReading:
    """A line while it is read."""

    raw: str
    group: str
    amount: LineAmount | None = None
    name: str = ""
    size: str | None = None
    unit: str | None = None
    preparation: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    alternatives: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    flags: list[LineFlag] = field(default_factory=list[LineFlag])
    optional: bool = False
    # What follows `such as` goes on being examples.
    has_examples: bool = False

    def read(self, text: str) -> None:
        main, brackets = split_brackets(text)
        main, is_led = _LED_OPTIONAL.subn("", main)
        main, self.optional = take_optional(main)
        self.optional = self.optional or bool(is_led)
        main = main.strip(" ,;:").removesuffix(".")
        self._take_amount(main)
        rest = self.amount.rest if self.amount is not None else main
        rest = self._without_taken(rest)
        rest, said = split_sentences(rest)
        if said:
            self.notes.append(said)
        for part in brackets[:_MOST_BRACKETS]:
            self._take_bracket(part)
        if brackets[_MOST_BRACKETS:]:
            self.notes.extend(brackets[_MOST_BRACKETS:])
            self.flags.append(LineFlag.TOO_LONG)
        self._take_parts(self._without_colon(rest))
        self._judge(text)

    def _take_amount(self, main: str) -> None:
        amount = read_amount(main)
        if amount is not None and (amount.rest or amount.quantity is not None):
            self._hold(amount)

    def _hold(self, amount: LineAmount) -> None:
        self.amount = amount
        self.unit = amount.unit_name
        self.size = amount.size
        self.notes.extend(amount.notes)
        self.flags.extend(amount.flags)

    def _without_taken(self, rest: str) -> str:
        taken = read_taken(rest)
        if taken is None:
            return rest
        what, source = taken
        amount = read_amount(source)
        if amount is None or amount.unit is not None:
            return rest
        if self.amount is not None:
            self.notes.append(f"from {source}")
            return f"{what} of {amount.rest}"
        self.preparation.append(what)
        self._hold(amount)
        return amount.rest

    def _without_colon(self, rest: str) -> str:
        """Read `pasta: 800g`, and keep what else a colon brings as a note."""
        name, colon, behind = rest.partition(":")
        if not colon or not name.strip():
            return rest
        behind = behind.strip()
        if self.amount is None:
            amount = read_whole_amount(behind)
            if amount is not None:
                self._hold(amount)
                return name
        self.notes.append(behind)
        if "," in behind or is_several(behind):
            self.flags.append(LineFlag.SEVERAL)
        return name

    def _take_bracket(self, part: str) -> None:
        part, is_optional = take_optional(part)
        self.optional = self.optional or is_optional
        if not part:
            return
        amount = read_amount(part)
        whole = amount is not None and amount.quantity is not None and not amount.rest.strip(" .")
        if amount is not None and whole and self.amount is None:
            self._hold(amount)
        elif whole and self._is_container() and self.size is None:
            self.size = part
        elif names_alternative(part) is not None:
            self.alternatives.append(names_alternative(part) or "")
        elif is_preparation(part) and not part[0].isdigit():
            self.preparation.append(part)
        else:
            self.notes.append(part)
            if _ADDED.match(part):
                self.flags.append(LineFlag.SUM)

    def _is_container(self) -> bool:
        held = self.amount
        return held is not None and held.unit is not None and held.unit.is_container

    def _take_parts(self, rest: str) -> None:
        parts = split_commas(rest)
        while len(parts) > 1 and is_nameless(parts[0]):
            parts[:2] = [f"{parts[0]}, {parts[1]}"]
        head = parts[0] if parts else ""
        for part in parts[1:]:
            self._take_part(part)
        if self.amount is None:
            head = self._take_trailing(head)
        self._take_name(head)

    def _take_part(self, part: str) -> None:
        part, is_optional = take_optional(part)
        self.optional = self.optional or is_optional
        if not part:
            return
        amount = read_whole_amount(part) if self.amount is None else None
        alternative = names_alternative(part)
        if amount is not None:
            self._hold(amount)
        elif alternative is not None:
            self.alternatives.append(alternative)
        elif is_preparation(part) or is_participle(part) or self._goes_on(part):
            self.preparation.append(part)
        elif _ADDED.match(part):
            self.notes.append(part)
            self.flags.append(LineFlag.SUM)
        elif is_aside(part) or self.has_examples or re.match(r"[\d~]", part):
            self.notes.append(part)
            self.has_examples = self.has_examples or _EXAMPLES.match(part) is not None
        else:
            self._take_unread(part)

    def _goes_on(self, part: str) -> bool:
        """Say whether a part goes on with what is done: `sliced into long, thin strips`."""
        return bool(self.preparation) and all(
            word.casefold() in words("adverbs") for word in part.split()
        )

    def _take_unread(self, part: str) -> None:
        """Keep a part nobody can place; a short one may be an ingredient and stays in sight."""
        is_short = len(part.split()) <= _WORDS_OF_A_NAME and not _is_prose(part)
        (self.unread if is_short else self.notes).append(part)
        self.flags.append(LineFlag.SEVERAL if self.amount is None else LineFlag.UNREAD_PART)

    def _take_trailing(self, head: str) -> str:
        """Read `Butter Melted 2 tbsp`: the amount behind the name."""
        for found in _TRAILING.finditer(head):
            amount = read_amount(head[found.end() :])
            if amount is None or amount.quantity is None:
                continue
            left = amount.rest.strip(" .")
            if left and (" " in left or amount.unit is not None):
                continue
            if not left and amount.unit is None and amount.quantity > _LARGEST_BARE:
                self.flags.append(LineFlag.AMBIGUOUS_NUMBER)
                continue
            self._hold(amount)
            if left:
                self.unit = left
                self.flags.append(LineFlag.UNKNOWN_UNIT)
            return head[: found.start()]
        return head

    def _take_name(self, head: str) -> None:
        has_unit = self.unit is not None
        name = read_name(_without_sizes(self, head), has_unit=has_unit)
        self.name = ", ".join(part for part in (name.text, *self.unread) if part)
        if name.unit is not None:
            self.unit = name.unit.name
        self.preparation[:0] = name.preparation
        self.notes.extend(name.notes)
        self.alternatives.extend(name.alternatives)
        if name.is_several:
            self.flags.append(LineFlag.SEVERAL)
        if name.is_unclear:
            self.flags.append(LineFlag.UNREAD_PART)

    def _judge(self, text: str) -> None:
        held = self.amount
        if any("per person" in note.casefold() for note in self.notes):
            self.flags.append(LineFlag.PER_PERSON)
        if not self.name and held is not None and held.unit is not None and self.unit is not None:
            self.name, self.unit = _spelled_unit(text) or self.unit, None
            self.flags.append(LineFlag.UNIT_AS_NAME)
        if held is not None and _may_be_range(held, self.name):
            self.flags.append(LineFlag.AMBIGUOUS_NUMBER)
        if held is not None and held.unit is None and re.match(r"each\b", self.name, re.I):
            self.flags.append(LineFlag.SEVERAL)
        if not self.name:
            self.name = text[:_LONGEST_NAME].strip()
            self.flags.append(LineFlag.NO_NAME)
        if _is_prose(self.name) or (
            held is None and _is_prose(split_sentences(split_brackets(text)[0])[0])
        ):
            self.flags.append(LineFlag.PROSE)

    def line(self) -> IngredientLine:
        """Return what was read."""
        flags = tuple(dict.fromkeys(self.flags))
        held = self.amount or LineAmount("")
        return IngredientLine(
            raw=self.raw,
            name=self.name[:_LONGEST_NAME],
            quantity=held.quantity,
            quantity_high=held.quantity_high,
            unit=self.unit,
            size=self.size,
            preparation=_joined(self.preparation),
            note=_joined(self.notes),
            optional=self.optional,
            alternatives=tuple(dict.fromkeys(other for other in self.alternatives if other)),
            confidence=confidence_of(flags),
            flags=flags,
            group=self.group,
        )


def _without_sizes(reading: _LineReading, head: str) -> str:
    """Take sizes off the front of a name: `large onion`, `whole duck`."""
    rest = head
    found: list[str] = []
    while True:
        word, _, behind = rest.strip().partition(" ")
        first = word.casefold()
        second = behind.split()[0].casefold() if behind.split() else ""
        if not second or f"{first} {second}" in words("products"):
            break
        if first == "medium" and second in _GRADED:
            break
        is_whole = first == "whole" and second not in ("wheat", "grain", "milk", "meal", "cloves")
        is_whole = is_whole and reading.unit is None
        parts = first.split("/")
        if not is_whole and not all(part in words("sizes") for part in parts):
            break
        found.append(first)
        rest = behind
        if second in ("sized", "size"):
            rest = behind.partition(" ")[2]
    if found:
        reading.size = ", ".join(part for part in (reading.size, " ".join(found)) if part)
    return rest


def _may_be_range(held: LineAmount, name: str) -> bool:
    """Say whether a fraction of things rather means a range: `3/4 lemons`."""
    if held.unit is not None and held.unit.name not in _COUNTED:
        return False
    return held.is_odd or (held.is_slashed and (held.unit is not None or name.endswith("s")))


def _is_prose(text: str) -> bool:
    found = [word.casefold() for word in re.findall(r"[^\W\d_][\w'’]*", text)]
    return len(found) > _WORDS_OF_PROSE or (
        len(found) > 2 and any(word in words("sentence") for word in found)
    )


def _spelled_unit(text: str) -> str | None:
    """Return the word in a line that was read as its unit, as it is written."""
    found = re.findall(r"[^\W\d_][\w'’-]*", split_brackets(text)[0])
    return next((word for word in reversed(found) if find_unit(word) is not None), None)


def _joined(parts: list[str]) -> str | None:
    return "; ".join(dict.fromkeys(part for part in parts if part)) or None
