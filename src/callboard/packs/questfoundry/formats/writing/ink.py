"""Ink: the book as Ink source, and as the JSON that an Ink engine plays.

The JSON is written by us for the few things a book needs, so no compiler is asked. A knot that an
import has kept is written as it was, as long as its sections in the book are what it says.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from callboard.core.canonical import compact_json
from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.book.playing import is_end, needs
from callboard.packs.questfoundry.formats.naming import ink_variables, knots, ordered
from callboard.packs.questfoundry.formats.prose import (
    PageWords,
    gateway_of,
    label_of,
    one_line,
    refusal_of,
    told_paragraphs,
)
from callboard.packs.questfoundry.formats.reading.ink import (
    PREAMBLE,
    TAGS,
    known_keys,
    names_in,
    sections_of_knot,
)
from callboard.packs.questfoundry.formats.reading.knots import ONCE_ENDING, ringed
from callboard.packs.questfoundry.formats.reading.nodes import tests_last

_INK_VERSION: Final = 21
_SIGNS: Final = re.compile(
    r"[\\{}|#~]|(?<=/)[/*]|-(?=>)|<(?=[->])"
    r"|^(?:[*+=<\-]|(?:TODO|VAR|CONST|LIST|INCLUDE|EXTERNAL)\b)"
)
_LABEL_SIGNS: Final = re.compile(r"[\\{}|#~\[\]]|(?<=/)[/*]|-(?=>)|<(?=[->])")
# Flags of a choice: it has a condition; its words are shown before it is taken only; it has none.
_CONDITION, _CHOICE_ONLY, _DEFAULT = 1, 4, 8


def ink_of(book: Book, words: PageWords) -> bytes:
    """Return the book as Ink source."""
    return _SourceWriter(book, words).whole().encode()


def ink_json_of(book: Book, words: PageWords) -> bytes:
    """Return the book compiled, as an Ink engine reads it."""
    return _StoryCompiler(book, words).whole().encode()


def escaped(line: str) -> str:
    """Return a line of words as Ink that says them."""
    return _SIGNS.sub(lambda found: f"\\{found[0]}", line)


class _InkWriter:
    """What both forms of Ink need to know of a book."""

    def __init__(self, book: Book, words: PageWords) -> None:
        self.book = book
        self.words = words
        self.knots = knots(book)
        self.keys = ink_variables(book)

    def tests(self, choice: StoryChoice) -> tuple[KeyTest, ...]:
        gateway = gateway_of(self.book, choice)
        wanted = needs(self.book, choice)
        if gateway is None:
            return wanted
        return tuple(tests_last(wanted, KeyTest(gateway.key, gateway.negated)))

    def may_offer_nothing(self, section: Section) -> bool:
        return all(needs(self.book, each) and not self.gate(each) for each in section.choices)

    def gate(self, choice: StoryChoice) -> Gateway | None:
        return gateway_of(self.book, choice)


class _SourceWriter(_InkWriter):
    def __init__(self, book: Book, words: PageWords) -> None:
        super().__init__(book, words)
        self.paths = dict(self.knots)
        self.covered: dict[str, str] = {}
        kept = [each for each in book.verbatim if each.origin == "ink" and each.section is not None]
        known = known_keys(book)
        names = names_in((each.text for each in kept), book.by_id)
        rings = ringed(book.sections)
        for each in kept:
            readings = sections_of_knot(each.text, known, names, rings)
            derived = next((each for each in readings if _are_same(book, each)), list[Section]())
            self.covered |= {section.id: "" for section in derived}
            self.paths |= {section.id: section.id for section in derived}
            if derived:
                self.covered[derived[0].id] = each.text
        spoken = {
            key for each in book.sections if each.id not in self.covered for key in _keys(each)
        }
        # A key that only stands for choices which Ink itself offers once is not told to it.
        self.declared = [
            name
            for key, name in self.keys.items()
            if key in spoken or not key.endswith(ONCE_ENDING)
        ]

    def whole(self) -> str:
        top = [
            f"# {name}: {escaped(one_line(value))}"
            for name, value in zip(
                TAGS, (self.book.title, self.book.author, self.book.ifid), strict=True
            )
            if one_line(value)
        ]
        declared = [f"VAR {name} = false" for name in self.declared]
        above = [each.text for each in self.book.verbatim if each.name == PREAMBLE]
        parts = ["\n".join(each) for each in (top, declared) if each]
        opening = self.covered.get(self.book.start, "")
        if opening and not opening.lstrip().startswith("=="):
            parts += [*above, opening]
        else:
            parts += [*above, *([f"-> {self.path(self.book.start)}"] if self.book.start else [])]
        for section in ordered(self.book):
            if section.id not in self.covered:
                parts.append(self.knot(section))
            elif self.covered[section.id].lstrip().startswith("=="):
                parts.append(self.covered[section.id])
        parts += [
            each.text
            for each in self.book.verbatim
            if each.origin == "ink" and each.section is None and each.name != PREAMBLE
        ]
        return "\n\n".join(parts) + "\n"

    def path(self, section: str) -> str:
        return self.paths.get(section, section)

    def knot(self, section: Section) -> str:
        name = self.knots[section.id]
        lines = [f"=== {name} ==="]
        lines += [f"# title: {escaped(one_line(section.title))}"] if one_line(section.title) else []
        is_usual = section.kind is (SectionKind.NORMAL if section.choices else SectionKind.TERMINAL)
        lines += [] if is_usual else [f"# kind: {section.kind.value}"]
        lines += ["# keystone"] if section.keystone else []
        lines += [f"# tag: {escaped(one_line(each))}" for each in section.tags if one_line(each)]
        lines += [self.change(each) for each in section.effects]
        for number, paragraph in enumerate(told_paragraphs(section, self.words)):
            lines += [""] if number else []
            lines += [escaped(line) for line in paragraph]
        if is_end(section) or not section.choices:
            return "\n".join([*lines, "-> END"])
        if any(self.gate(each) for each in section.choices):
            lines += ["-> choices", "= choices"]
        for choice in section.choices:
            lines += self.way(choice, name)
        lines += ["+ -> END"] if self.may_offer_nothing(section) else []
        return "\n".join(lines)

    def way(self, choice: StoryChoice, knot: str) -> list[str]:
        gateway, tests = self.gate(choice), self.tests(choice)
        label = _LABEL_SIGNS.sub(lambda found: f"\\{found[0]}", label_of(choice))
        told = "".join(f"{{{self.test(each)}}} " for each in tests)
        lines = [f"+ {told}[{label}]", *(f"    {self.change(each)}" for each in choice.effects)]
        lines.append(f"    -> {self.path(choice.to)}")
        if gateway is not None:
            refusal = escaped(refusal_of(gateway, self.words))
            lines += [
                f"+ {{{self.opposite(tests)}}} [{label}]",
                f"    {refusal}",
                f"    -> {knot}.choices",
            ]
        return lines

    def test(self, test: KeyTest) -> str:
        return f"{'not ' if test.negated else ''}{self.keys[test.key]}"

    def opposite(self, tests: Sequence[KeyTest]) -> str:
        # One name between brackets would be a list.
        if len(tests) == 1:
            return self.test(KeyTest(tests[0].key, not tests[0].negated))
        return f"not ({' && '.join(map(self.test, tests))})"

    def change(self, effect: KeyChange) -> str:
        return f"~ {self.keys[effect.key]} = {'true' if effect.op == 'set' else 'false'}"


def _keys(section: Section) -> Iterable[str]:
    yield from (each.key for each in section.effects)
    for choice in section.choices:
        yield from (each.key for each in choice.requires)
        yield from (each.key for each in choice.effects)


def _are_same(book: Book, derived: Sequence[Section]) -> bool:
    return bool(derived) and all(book.by_id.get(each.id) == each for each in derived)


class _StoryCompiler(_InkWriter):
    def whole(self) -> str:
        named: dict[str, Any] = {
            self.knots[each.id]: self.knot(each) for each in ordered(self.book)
        }
        declared: list[Any] = ["ev"]
        for name in self.keys.values():
            declared += [False, {"VAR=": name}]
        named["global decl"] = [*declared, "/ev", "end", None]
        first = {"->": self.knots[self.book.start]}
        root = [[first, ["done", {"#n": "g-0"}], None], "done", named]
        return compact_json({"inkVersion": _INK_VERSION, "root": root, "listDefs": {}})

    def knot(self, section: Section) -> list[Any]:
        told: list[Any] = self.changes(section.effects)
        for line in (line for each in told_paragraphs(section, self.words) for line in each):
            told += [f"^{line}", "\n"]
        if is_end(section) or not section.choices:
            return [*told, "end", None]
        name = self.knots[section.id]
        offered: list[Any] = []
        bodies: dict[str, Any] = {}

        def offer(label: str | None, condition: list[Any], body: list[Any]) -> None:
            at = f"c-{len(bodies)}"
            flags = (_CONDITION if condition else 0) | (_CHOICE_ONLY if label else _DEFAULT)
            if label is not None:
                offered.extend(["ev", "str", f"^{label}", "/str", *condition, "/ev"])
            offered.append({"*": f".^.{at}", "flg": flags})
            bodies[at] = ["\n", *body, None]

        for choice in section.choices:
            self.way(choice, f"{name}.choices", offer)
        if self.may_offer_nothing(section):
            offer(None, [], ["end"])
        return [*told, {"->": f"{name}.choices"}, {"choices": [[*offered, bodies], None]}]

    def way(
        self,
        choice: StoryChoice,
        here: str,
        offer: Callable[[str | None, list[Any], list[Any]], None],
    ) -> None:
        gateway, condition = self.gate(choice), self.condition(self.tests(choice))
        label = label_of(choice)
        if choice.to in self.knots:
            body = [*self.changes(choice.effects), {"->": self.knots[choice.to]}]
        else:
            body = [f"^{self.words.unwritten}", "\n", {"->": here}]
        offer(label, condition, body)
        if gateway is not None:
            refusal = refusal_of(gateway, self.words)
            offer(label, [*condition, "!"], [f"^{refusal}", "\n", {"->": here}])

    def condition(self, tests: Sequence[KeyTest]) -> list[Any]:
        told: list[Any] = []
        for number, test in enumerate(tests):
            told += [{"VAR?": self.keys[test.key]}, *(["!"] if test.negated else [])]
            told += ["&&"] if number else []
        return told

    def changes(self, effects: Iterable[KeyChange]) -> list[Any]:
        told: list[Any] = []
        for each in effects:
            assigned: Mapping[str, Any] = {"VAR=": self.keys[each.key], "re": True}
            told += ["ev", each.op == "set", "/ev", assigned]
        return told
