"""Twee: sections as passages of Twee 3 for SugarCube or for Harlowe; of other formats only links.

Words are written so that no story format takes them for markup. What an import has kept for the
same story format is written as it was, in its place; in another one it is words like any other.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from callboard.packs.questfoundry.book.model import (
    Book,
    KeyChange,
    KeyTest,
    Section,
    StoryChoice,
    Verbatim,
)
from callboard.packs.questfoundry.book.playing import is_end, is_left_open, needs
from callboard.packs.questfoundry.formats.naming import passage_names, variables
from callboard.packs.questfoundry.formats.prose import (
    WORDS,
    clean,
    gateway_of,
    isolated,
    label_of,
    refusal_of,
)
from callboard.packs.questfoundry.formats.reading.dialects import (
    FORMATS,
    HARLOWE,
    SUGARCUBE,
    reader_of,
)
from callboard.packs.questfoundry.formats.reading.fragments import (
    EVERY_KEY,
    section_text,
    understood,
)
from callboard.packs.questfoundry.formats.reading.nodes import Link, tests_last
from callboard.packs.questfoundry.formats.reading.passages import header_of, twee_passages
from callboard.packs.questfoundry.formats.reading.twine import (
    METADATA,
    kind_tags,
)

# Where something stands in a text that is not words, and how it is written there.
_Span = tuple[int, int, str]
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


def escaped(text: str) -> str:
    """Return words so that neither SugarCube nor Harlowe sees anything but words in them."""
    return _SIGNS.sub(lambda found: "".join(map(_entity, found[0])), text)


class TweeWriter:
    """Writes a book for one story format, passage by passage."""

    def __init__(self, book: Book, dialect: str) -> None:
        """Take the book, and sort what an import has kept by its sections."""
        self.book = book
        self.dialect = dialect
        self.names = passage_names(book)
        self.keys = variables(book)
        self.kept: dict[str, list[Verbatim]] = defaultdict(list)
        self.anchors: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.metadata: dict[str, str] = {}
        for each in book.verbatim:
            if each.origin != "ink" and each.section is not None:
                if each.is_source:
                    self._take_name(each.section, each.text)
                elif each.is_anchor:
                    self.anchors[each.section] += [(at, each.text) for at in each.places]
                elif each.name == METADATA and not each.dialect:
                    self.metadata[each.section] = each.text
                elif each.dialect == dialect:
                    self.kept[each.section].append(each)

    def _take_name(self, section: str, source: str) -> None:
        """Let links to a section that is no more lead where they led."""
        if section not in self.names:
            self.names[section] = twee_passages(source).passages[0].name

    def name(self, section: str) -> str:
        """Return what a link to a section is given."""
        return self.names.get(section, section.removeprefix("?"))

    def passage(self, section: Section) -> str:
        """Return a section as its passage."""
        kept = self.kept.get(section.id, [])
        # Code that was not read may lead on.
        is_open = is_left_open(section) and not any(each.is_code for each in kept)
        tags = (*kind_tags(section, is_open=is_open), *section.tags)
        header = header_of(self.names[section.id], tags, self.metadata.get(section.id, ""))
        effects = self._effects(section.effects)
        told = [effects] if effects else []
        own = self._own(section, kept) if not is_end(section) or kept else []
        inline = self._inline(section, own)
        text = self._text(section, kept, inline)
        told += [each for each in (text, WORDS.left_open if is_open else "") if each]
        ways = [self._way(each) for each in own[len(inline) :]]
        told += ["\n".join(ways)] if ways else []
        body = "\n\n".join(told)
        return f"{header}\n{body}" if body else header

    def _inline(self, section: Section, own: Sequence[StoryChoice]) -> list[_Span]:
        """Return where choices stand within sentences: the first ones, in their order."""
        text, at = clean(section.text), 0
        places = self.anchors.get(section.id, ())
        found: list[_Span] = []
        for choice in own:
            label = choice.label
            known = [place for place, words in places if words == label]
            place = next(
                (each for each in known if each >= at and text.startswith(label, each)), -1
            )
            if place < 0 and known and text.count(label) == 1:
                # Somebody has changed the text around it.
                place = text.find(label)
            if place < at or not label or needs(self.book, choice) or label != label_of(choice):
                break
            at = place + len(label)
            found.append((place, at, self._link(choice)))
        return found

    def _text(self, section: Section, kept: Sequence[Verbatim], inline: Sequence[_Span]) -> str:
        text = clean(section.text)
        if not kept and not inline:
            return escaped("\n".join(map(isolated, text.split("\n"))))
        spans = _spans(text, kept)
        gentle = _with_markup(text, [*spans, *inline], guard=False)
        # Words beside markup may change what it is; then they are written as signs.
        found = section_text(understood(reader_of(self.dialect)(gentle), EVERY_KEY))
        wanted: dict[str, list[int]] = {}
        for start, _, written in sorted(spans):
            wanted.setdefault(written, []).append(start)
        links = sum(map(len, found.anchors.values()))
        marks = {name: places for name, (_, places) in found.marks.items()}
        if found.text == text and marks == wanted and links == len(inline):
            return gentle
        return _with_markup(text, [*spans, *inline], guard=True)

    def _own(self, section: Section, kept: Sequence[Verbatim]) -> list[StoryChoice]:
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

    def _way(self, choice: StoryChoice) -> str:
        gateway = gateway_of(self.book, choice)
        link = self._link(choice)
        wanted = needs(self.book, choice)
        if not wanted:
            return link
        if gateway is None:
            return self._shown(self._condition(wanted), link, "")
        tests = tests_last(wanted, KeyTest(gateway.key, gateway.negated))
        refusal = escaped(refusal_of(gateway, WORDS))
        label = _quoted_label(choice)
        if self.dialect == HARLOWE:
            refused = f"(link-reveal: {label})[ {refusal}]"
        else:
            refused = f"<<linkappend {label}>> {refusal}<</linkappend>>"
        return self._shown(self._condition(tests), link, refused)

    def _shown(self, condition: str, link: str, otherwise: str) -> str:
        if self.dialect == HARLOWE:
            return f"(if: {condition})[{link}]" + (f"(else:)[{otherwise}]" if otherwise else "")
        if self.dialect != SUGARCUBE:
            # Nobody here writes programs for it: the way is open, and told among the losses.
            return link
        return f"<<if {condition}>>{link}{'<<else>>' if otherwise else ''}{otherwise}<</if>>"

    def _condition(self, tests: Iterable[KeyTest]) -> str:
        return " and ".join(
            f"{'not ' if each.negated else ''}${self.keys[each.key]}" for each in tests
        )

    def _effects(self, effects: Sequence[KeyChange]) -> str:
        if self.dialect not in FORMATS:
            return ""
        form = "(set: {})" if self.dialect == HARLOWE else "<<set {}>>"
        return "\n".join(form.format(self._change(each)) for each in effects)

    def _change(self, effect: KeyChange) -> str:
        return f"${self.keys[effect.key]} to {'true' if effect.op == 'set' else 'false'}"

    def _link(self, choice: StoryChoice) -> str:
        target = self.name(choice.to)
        label = label_of(choice)
        is_safe = not _TARGET_SIGNS.search(target)
        if self.dialect not in FORMATS:
            return f"[[{escaped(label)}->{target}]]"
        if self.dialect == HARLOWE:
            if not choice.effects and is_safe:
                return f"[[{escaped(label)}->{target}]]"
            if not choice.effects:
                return f"(link-goto: {_quoted_label(choice)}, {_quoted(target)})"
            told = "".join(f"(set: {self._change(each)})" for each in choice.effects)
            return f"(link: {_quoted_label(choice)})[{told}(goto: {_quoted(target)})]"
        if is_safe and _is_plain_label(label):
            setter = ", ".join(map(self._change, choice.effects))
            return f"[[{label}->{target}]{f'[{setter}]' if setter else ''}]"
        told = "".join(f"<<set {self._change(each)}>>" for each in choice.effects)
        return f"<<link {_quoted_label(choice)} {_quoted(target)}>>{told}<</link>>"


def _spans(text: str, kept: Sequence[Verbatim]) -> list[_Span]:
    """Return where markup stands; in a text that was changed every place where it is found."""
    found: list[_Span] = []
    for each in kept:
        size = len(each.text)
        places = list(each.places)
        if not size or any(not text.startswith(each.text, place) for place in places):
            places.clear()
            at = text.find(each.text) if size else -1
            while at >= 0:
                places.append(at)
                at = text.find(each.text, at + size)
        found += [(place, place + size, each.text) for place in places]
    return found


def _with_markup(text: str, spans: Sequence[_Span], *, guard: bool) -> str:
    parts: list[str] = []
    at = 0
    for start, end, written in [*sorted(spans), (len(text), len(text), "")]:
        if start < at:
            continue
        words = text[at:start]
        if guard:
            parts.append(_guarded(words, is_first=at == 0, is_last=start == len(text)))
        else:
            parts.append(escaped(words))
        parts.append(written)
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
