"""SugarCube: the markup of its passages as nodes. Reads macros, runs none."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.formats.reading.macros import MARKS, MacroTag, alone, linked
from callboard.packs.questfoundry.formats.reading.nodes import (
    MOST_NESTING,
    Branch,
    Conditional,
    Link,
    Markup,
    Node,
    Places,
    PlainText,
    chain,
    changes_of,
    is_outside,
    scan,
    sources_of,
    split_link,
    tests_of,
)

_CLOSED_BY: Final = {
    "/*": "*/",
    "/%": "%/",
    "<!--": "-->",
    "<%": "%>",
    "{{{": "}}}",
    '"""': '"""',
    "<nowiki>": "</nowiki>",
    "<script": "</script>",
    "<style": "</style>",
}
_QUOTES: Final = re.compile(r"\\.|[\"']|>>|<<", re.DOTALL)
_NAME: Final = re.compile(r"(/?)([A-Za-z][\w\-]*|[=\-])\s*")
# Their inside is a program, not prose.
_CODE: Final = frozenset(("script", "widget", "silently", "for", "switch", "capture"))
_CLAUSES: Final = {"elseif": "if", "else": "if", "case": "switch", "default": "switch"}
_UNREAD: Final = "markup of SugarCube"


_Token = PlainText | Markup | Link | MacroTag


@dataclass
class _OpenMacro:
    """A macro whose end has not come yet, by the parts between its tags."""

    tags: list[MacroTag]
    parts: list[list[Node]] = field(default_factory=lambda: [[]])


def read_sugarcube(text: str) -> list[Node]:
    """Return the nodes of a passage."""
    tokens: list[_Token] = list(scan(text, MARKS, _SugarCubeReader(text).read))
    return _nested(tokens, _pairs(tokens))


class _SugarCubeReader:
    """Reads one mark; every search for its end is made on what was found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends: dict[str, Places] = {}
        self.lowered: str | None = None
        self.quotes = list(_QUOTES.finditer(text)) if "<<" in text else []
        self.quote_starts = [each.start() for each in self.quotes]

    def end_of(self, sign: str, at: int) -> int:
        if sign not in self.ends:
            if self.lowered is None:
                self.lowered = self.text.lower()
                # A few letters grow by being lowered; then their places are not those of the text.
                self.lowered = self.lowered if len(self.lowered) == len(self.text) else self.text
            self.ends[sign] = Places(self.lowered, sign)
        return self.ends[sign].after(at)

    def read(self, found: re.Match[str]) -> tuple[_Token | None, int]:
        start = found.start()
        kind = found.lastgroup
        if kind in ("comment", "quoted"):
            closing = _CLOSED_BY[found[0].lower()]
            end = self.end_of(closing, found.end())
            if end < 0:
                return (Markup(found[0], _UNREAD), found.end())
            return Markup(self.text[start : end + len(closing)], _UNREAD), end + len(closing)
        if kind == "macro":
            return self.macro(start)
        if kind in ("link", "image"):
            return self.link(start, is_image=kind == "image")
        if found[0].startswith("<"):
            end = self.end_of(">", found.end())
            next_tag = self.end_of("<", found.end())
            if end < 0 or 0 <= next_tag < end:
                return None, found.end()
            return Markup(self.text[start : end + 1], "HTML"), end + 1
        return Markup(found[0], _UNREAD), found.end()

    def macro(self, start: int) -> tuple[_Token | None, int]:
        open_quote = ""
        for index in range(bisect_left(self.quote_starts, start + 2), len(self.quotes)):
            mark = self.quotes[index]
            sign = mark[0]
            if sign == open_quote:
                open_quote = ""
            elif open_quote or sign[0] == "\\":
                continue
            elif sign in "\"'":
                open_quote = sign
            elif sign == "<<":
                return None, start + 2
            else:
                source = self.text[start : mark.end()]
                named = _NAME.match(source, 2)
                if named is None:
                    return Markup(source, _UNREAD), mark.end()
                told = source[named.end() : -2].strip()
                return MacroTag(source, named[2], told, bool(named[1])), mark.end()
        return None, start + 2

    def link(self, start: int, *, is_image: bool) -> tuple[_Token | None, int]:
        end = self.end_of("]]", start + 2)
        line = self.end_of("\n", start)
        if end < 0 or 0 <= line < end:
            return None, start + 2
        source = self.text[start : end + 2]
        if is_image:
            return Markup(source, "a picture of SugarCube"), end + 2
        way, _, setter = source[2:-2].partition("][")
        return _link(source, way, setter), end + 2


def _link(source: str, way: str, setter: str) -> Link | Markup:
    label, target = (each.strip() for each in split_link(way))
    target = target.removeprefix("~")
    if not target or is_outside(target) or target[0] in "$_":
        return Markup(source, "a link whose goal only a player knows")
    effects = changes_of(setter) if setter.strip() else ()
    plain = effects is not None and not MARKS.search(label)
    return Link(source, label, target, effects or (), plain)


def _pairs(tokens: Sequence[_Token]) -> dict[int, int]:
    """Return which opening tag is closed by which; what stands alone is not named."""
    waiting: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    order: list[int] = []
    for at, token in enumerate(tokens):
        if not isinstance(token, MacroTag):
            continue
        name = token.name.removeprefix("end") if token.name != "end" else token.name
        is_end = token.is_closing or (token.name.startswith("end") and waiting.get(name))
        if not is_end:
            waiting.setdefault(token.name, []).append(at)
            order.append(at)
        elif starts := waiting.get(name):
            opened = starts.pop()
            # What was opened within and never closed stands alone.
            while order and order[-1] > opened:
                other = order.pop()
                held = waiting[_named(tokens[other])]
                if held and held[-1] == other:
                    held.pop()
            order.pop()
            found[opened] = at
    return found


def _named(token: _Token) -> str:
    return token.name if isinstance(token, MacroTag) else ""


def _nested(tokens: Sequence[_Token], pairs: dict[int, int]) -> list[Node]:
    root: list[Node] = []
    stack: list[tuple[_OpenMacro, int]] = []
    for at, token in enumerate(tokens):
        here = stack[-1][0].parts[-1] if stack else root
        if not isinstance(token, MacroTag):
            here.append(token)
        elif stack and stack[-1][1] == at:
            opened, _ = stack.pop()
            outer = stack[-1][0].parts[-1] if stack else root
            outer += _closed(opened, token.source)
        elif at in pairs and len(stack) < MOST_NESTING:
            stack.append((_OpenMacro([token]), pairs[at]))
        elif stack and _CLAUSES.get(token.name) == stack[-1][0].tags[0].name:
            stack[-1][0].tags.append(token)
            stack[-1][0].parts.append([])
        else:
            here.append(alone(token))
    return root


def _closed(opened: _OpenMacro, closing: str) -> list[Node]:
    first = opened.tags[0]
    if first.name == "if":
        return [_conditional(opened, closing)]
    if first.name in ("link", "button", "linkappend") and len(opened.tags) == 1:
        known = linked(first, opened.parts[0], closing)
        if known is not None:
            return [known]
    if first.name in _CODE:
        whole = "".join(
            tag.source + sources_of(part)
            for tag, part in zip(opened.tags, opened.parts, strict=True)
        )
        return [Markup(whole + closing, f"the macro {first.name}")]
    return [_unread(opened, closing)]


def _unread(opened: _OpenMacro, closing: str) -> Conditional:
    branches = [
        Branch(tag.source, None, tuple(part))
        for tag, part in zip(opened.tags, opened.parts, strict=True)
    ]
    return Conditional(tuple(branches), closing)


def _conditional(opened: _OpenMacro, closing: str) -> Conditional:
    parts = (
        (tag.source, () if tag.name == "else" else tests_of(tag.arguments), part)
        for tag, part in zip(opened.tags, opened.parts, strict=True)
    )
    return chain(parts, closing)
