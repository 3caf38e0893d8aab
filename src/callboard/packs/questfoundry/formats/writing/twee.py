"""Twee: the book as a Twee 3 file for SugarCube or for Harlowe.

Words are written so that no story format takes them for markup. What an import has kept for the
same story format is written as it was, in its place; in another one it is words like any other.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

from callboard.packs.questfoundry.book.model import (
    Book,
    KeyChange,
    KeyTest,
    Section,
    StoryChoice,
    Verbatim,
)
from callboard.packs.questfoundry.book.playing import is_end, needs
from callboard.packs.questfoundry.formats.naming import ordered, passage_names, variables
from callboard.packs.questfoundry.formats.prose import (
    WORDS,
    clean,
    gateway_of,
    label_of,
    one_line,
    refusal_of,
)
from callboard.packs.questfoundry.formats.reading.fragments import (
    EVERY_KEY,
    section_text,
    understood,
)
from callboard.packs.questfoundry.formats.reading.nodes import Link
from callboard.packs.questfoundry.formats.reading.passages import STORY_DATA, STORY_TITLE, header_of
from callboard.packs.questfoundry.formats.reading.twine import (
    FORMATS,
    HARLOWE,
    KEYS_PASSAGE,
    METADATA,
    SUGARCUBE,
    kind_tags,
    reader_of,
    tests_last,
)

_SIGNS: Final = re.compile(
    r"[<>&$\[\]{}\\`|@*#~^]|''|//|--|==|__|/\*|/%|\"\"\"|_(?=\w)|\?(?=\w)|\((?=[A-Za-z][\w\-]*:)"
    r"|^[ \t]*[!\-+=:0]",
    re.MULTILINE,
)
_TARGET_SIGNS: Final = re.compile(r"[\[\]|<>$_\"\\&~:]|^\s|\s$")
# Two words side by side are no expression, whatever the player tries to make of a label.
_PLAIN_LABEL: Final = re.compile(r"[^\W\d_]+(?:[ ,.!?’…][ ]?[^\W\d_]+)*[.!?…]?")
_OPERATORS: Final = frozenset(
    (
        *("to", "eq", "neq", "is", "isnot", "gt", "gte", "lt", "lte", "and", "or", "not", "def"),
        *("ndef", "new", "typeof", "void", "delete", "in", "of", "instanceof", "await", "yield"),
    )
)


def twee_of(book: Book, dialect: str = SUGARCUBE) -> bytes:
    """Return the book as Twee 3."""
    return _TweeWriter(book, dialect).whole().encode()


def escaped(text: str) -> str:
    """Return words so that neither SugarCube nor Harlowe sees anything but words in them."""
    return _SIGNS.sub(lambda found: "".join(map(_entity, found[0])), text)


class _TweeWriter:
    def __init__(self, book: Book, dialect: str) -> None:
        self.book = book
        self.dialect = dialect
        self.usual = FORMATS[dialect]
        self.names = passage_names(book)
        self.keys = variables(book)
        self.kept: dict[str, list[Verbatim]] = defaultdict(list)
        self.metadata: dict[str, str] = {}
        for each in book.verbatim:
            if each.origin != "ink" and each.section is not None:
                if each.name == METADATA and not each.dialect:
                    self.metadata[each.section] = each.text
                elif each.dialect == dialect:
                    self.kept[each.section].append(each)

    def whole(self) -> str:
        title = one_line(self.book.title)
        title = f" {title}" if title.startswith("::") else title
        parts = [f":: {STORY_TITLE}\n{title}", self.data()]
        parts += [self.passage(each) for each in ordered(self.book)]
        parts += self.first_keys()
        kept = [each for each in self.book.verbatim if each.origin != "ink" and not each.section]
        parts += [each.text for each in kept if each.text.startswith("::")]
        above = [each.text for each in kept if not each.name and not each.text.startswith("::")]
        return "\n\n".join([*above, *parts]) + "\n"

    def data(self) -> str:
        told: dict[str, Any] = {"ifid": self.book.ifid} if self.book.ifid else {}
        rest: dict[str, Any] = {}
        for each in self.book.verbatim:
            if each.name == STORY_DATA and each.section is None and each.text.startswith("{"):
                rest = json.loads(each.text)
        named = str(rest.get("format", self.dialect)).lower()
        if self.dialect == HARLOWE or named in FORMATS:
            rest = rest if rest.get("format") and named == self.dialect else rest | self.usual
        told |= {"start": self.name(self.book.start), **rest}
        return f":: {STORY_DATA}\n{json.dumps(told, indent=2, ensure_ascii=False, sort_keys=True)}"

    def first_keys(self) -> list[str]:
        """Return the passage that Harlowe needs: there a variable is no truth until it is set."""
        if self.dialect != HARLOWE or not self.keys:
            return []
        told = "\n".join(f"(set: ${name} to false)" for name in self.keys.values())
        return [f"{header_of(KEYS_PASSAGE, ('startup',))}\n{told}"]

    def name(self, section: str) -> str:
        return self.names.get(section, section.removeprefix("?"))

    def passage(self, section: Section) -> str:
        tags = (*kind_tags(section), *section.tags)
        header = header_of(self.names[section.id], tags, self.metadata.get(section.id, ""))
        kept = self.kept.get(section.id, [])
        told = [self.effects(section.effects)] if section.effects else []
        text = self.text(section, kept)
        told += [text] if text else []
        if not is_end(section) or kept:
            ways = [self.way(each) for each in self.own(section, kept)]
            told += ["\n".join(ways)] if ways else []
        body = "\n\n".join(told)
        return f"{header}\n{body}" if body else header

    def text(self, section: Section, kept: Sequence[Verbatim]) -> str:
        text = clean(section.text)
        if not kept:
            return escaped(text)
        spans = _spans(text, kept)
        gentle = _with_markup(text, spans, guard=False)
        # Words beside markup may change what it is; then they are written as signs.
        found, marks = section_text(understood(reader_of(self.dialect)(gentle), EVERY_KEY))
        wanted = {each.text: list(each.places) for each in kept}
        if found == text and {name: places for name, (_, places) in marks.items()} == wanted:
            return gentle
        return _with_markup(text, spans, guard=True)

    def own(self, section: Section, kept: Sequence[Verbatim]) -> list[StoryChoice]:
        """Return the choices that do not stand in the text already."""
        told: Counter[tuple[str, str]] = Counter()
        reader = reader_of(self.dialect)
        for each in kept:
            nodes = reader(each.text)
            if len(nodes) == 1 and isinstance(nodes[0], Link):
                told[nodes[0].label, nodes[0].target] += len(each.places) or 1
        own: list[StoryChoice] = []
        for choice in section.choices:
            way = (choice.label, self.name(choice.to))
            if told[way] and not (choice.requires or choice.effects or choice.gateway):
                told[way] -= 1
            elif not is_end(section):
                own.append(choice)
        return own

    def way(self, choice: StoryChoice) -> str:
        gateway = gateway_of(self.book, choice)
        link = self.link(choice)
        wanted = needs(self.book, choice)
        if not wanted:
            return link
        if gateway is None:
            return self.shown(self.condition(wanted), link, "")
        tests = tests_last(wanted, KeyTest(gateway.key, gateway.negated))
        refusal = escaped(refusal_of(gateway, WORDS))
        label = _quoted_label(choice)
        if self.dialect == HARLOWE:
            refused = f"(link-reveal: {label})[ {refusal}]"
        else:
            refused = f"<<linkappend {label}>> {refusal}<</linkappend>>"
        return self.shown(self.condition(tests), link, refused)

    def shown(self, condition: str, link: str, otherwise: str) -> str:
        if self.dialect == HARLOWE:
            return f"(if: {condition})[{link}]" + (f"(else:)[{otherwise}]" if otherwise else "")
        return f"<<if {condition}>>{link}{'<<else>>' if otherwise else ''}{otherwise}<</if>>"

    def condition(self, tests: Iterable[KeyTest]) -> str:
        return " and ".join(
            f"{'not ' if each.negated else ''}${self.keys[each.key]}" for each in tests
        )

    def effects(self, effects: Sequence[KeyChange]) -> str:
        form = "(set: {})" if self.dialect == HARLOWE else "<<set {}>>"
        return "\n".join(form.format(self.change(each)) for each in effects)

    def change(self, effect: KeyChange) -> str:
        return f"${self.keys[effect.key]} to {'true' if effect.op == 'set' else 'false'}"

    def link(self, choice: StoryChoice) -> str:
        target = self.name(choice.to)
        label = label_of(choice)
        is_safe = not _TARGET_SIGNS.search(target)
        if self.dialect == HARLOWE:
            if not choice.effects and is_safe:
                return f"[[{escaped(label)}->{target}]]"
            if not choice.effects:
                return f"(link-goto: {_quoted_label(choice)}, {_quoted(target)})"
            told = "".join(f"(set: {self.change(each)})" for each in choice.effects)
            return f"(link: {_quoted_label(choice)})[{told}(goto: {_quoted(target)})]"
        if is_safe and _is_plain_label(label):
            setter = ", ".join(map(self.change, choice.effects))
            return f"[[{label}->{target}]{f'[{setter}]' if setter else ''}]"
        told = "".join(f"<<set {self.change(each)}>>" for each in choice.effects)
        return f"<<link {_quoted_label(choice)} {_quoted(target)}>>{told}<</link>>"


def _spans(text: str, kept: Sequence[Verbatim]) -> list[tuple[int, int]]:
    """Return where markup stands; in a text that was changed every place where it is found."""
    found: list[tuple[int, int]] = []
    for each in kept:
        size = len(each.text)
        places = list(each.places)
        if not size or any(not text.startswith(each.text, place) for place in places):
            places.clear()
            at = text.find(each.text) if size else -1
            while at >= 0:
                places.append(at)
                at = text.find(each.text, at + size)
        found += [(place, place + size) for place in places]
    return sorted(found)


def _with_markup(text: str, spans: Sequence[tuple[int, int]], *, guard: bool) -> str:
    parts: list[str] = []
    at = 0
    for start, end in [*spans, (len(text), len(text))]:
        if start < at:
            continue
        words = text[at:start]
        if guard:
            parts.append(_guarded(words, is_first=at == 0, is_last=start == len(text)))
        else:
            parts.append(escaped(words))
        parts.append(text[start:end])
        at = end
    return "".join(parts)


def _guarded(words: str, *, is_first: bool, is_last: bool) -> str:
    """Return words whose ends cannot join what stands beside them."""
    if not words:
        return ""
    head = "" if is_first or words[0].isspace() else _entity(words[0])
    rest = words[1:] if head else words
    tail = "" if is_last or not rest or rest[-1].isspace() else _entity(rest[-1])
    return head + escaped(rest[:-1] if tail else rest) + tail


def _entity(sign: str) -> str:
    return f"&#{ord(sign)};" if sign not in " \t\n" else sign


def _is_plain_label(label: str) -> bool:
    if not _PLAIN_LABEL.fullmatch(label):
        return False
    pairs = re.findall(r"(?=(?<!\S)([^\W\d_]+) ([^\W\d_]+))", label)
    return any(not {one.lower(), two.lower()} & _OPERATORS for one, two in pairs)


def _quoted_label(choice: StoryChoice) -> str:
    return f'"{escaped(label_of(choice)).replace(chr(34), "&quot;")}"'


def _quoted(text: str) -> str:
    guarded = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{guarded}"'
