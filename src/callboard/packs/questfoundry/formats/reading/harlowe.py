"""Harlowe: the markup of its passages as nodes. Reads macros and hooks, runs none."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from callboard.packs.questfoundry.book.model import KeyChange, KeyTest
from callboard.packs.questfoundry.formats.reading.nodes import (
    MOST_NESTING,
    STRING,
    Branch,
    Conditional,
    KeyAssignment,
    Link,
    Markup,
    Node,
    Places,
    PlainText,
    RefusedLink,
    chain,
    changes_of,
    decoded,
    is_outside,
    opposite,
    scan,
    sources_of,
    split_link,
    tests_of,
    unescaped,
)

_MARKS: Final = re.compile(
    r"(?P<comment><!--|<(?i:script|style)\b)|(?P<quoted>`+)|(?P<macro>\((?=[A-Za-z][\w\-]*:))"
    r"|(?P<link>\[\[(?!\[))|(?P<hook>\[)|(?P<end>\])"
    r"|(?P<sign>''|//|\*|~~|\^\^|\\|[{}|]|</?[A-Za-z][A-Za-z0-9\-]*|[$_][A-Za-z_]\w*"
    r"|^[ \t]*#{1,6}|^[ \t]*-{3,}|^[ \t]*(?:0\.)+|^[ \t]*-[ \t]|^[ \t]*=+[|>]|^[ \t]*<=+)",
    re.MULTILINE,
)
_PARTS: Final = re.compile(r"\\.|[\"'()]", re.DOTALL)
_BUDGET: Final = 8
_CLOSED_BY: Final = {"<!--": "-->", "<script": "</script>", "<style": "</style>"}
_UNREAD: Final = "markup of Harlowe"
_GOES: Final = ("link-goto", "linkgoto")
_REVEALS: Final = ("link-reveal", "linkreveal")
_OPENS: Final = ("link", "link-replace", "linkreplace")


@dataclass(frozen=True, slots=True)
class _Macro:
    """A macro as it stands in the text."""

    source: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class _Bracket:
    """The start or the end of a hook."""

    source: str
    is_start: bool


_Token = PlainText | Markup | Link | _Macro | _Bracket


@dataclass
class _OpenHook:
    """A hook whose end has not come yet, and the macro it hangs on."""

    macro: _Macro | None
    nodes: list["Node | _Hooked"] = field(default_factory=list["Node | _Hooked"])


@dataclass(frozen=True, slots=True)
class _Hooked:
    """A macro with its hook, which may belong to what stands before it."""

    macro: _Macro
    children: tuple[Node, ...]


def read_harlowe(text: str) -> list[Node]:
    """Return the nodes of a passage."""
    return _joined(_nested(list(scan(text, _MARKS, _HarloweReader(text).read))))


class _HarloweReader:
    """Reads one mark; what all searches for an end may look at is limited by the text's size."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends: dict[str, Places] = {}
        self.parts = list(_PARTS.finditer(text)) if ":" in text else []
        self.starts = [each.start() for each in self.parts]
        self.budget = _BUDGET * len(self.parts) + 1000

    def end_of(self, sign: str, at: int) -> int:
        if sign not in self.ends:
            self.ends[sign] = Places(self.text, sign)
        return self.ends[sign].after(at)

    def read(self, found: re.Match[str]) -> tuple[_Token | None, int]:
        kind = found.lastgroup
        if kind == "macro":
            return self.macro(found.start())
        if kind == "link":
            return self.link(found.start())
        if kind in ("hook", "end"):
            return _Bracket(found[0], kind == "hook"), found.end()
        if kind in ("comment", "quoted"):
            return self.until(found, _CLOSED_BY.get(found[0].lower(), found[0]))
        if found[0].lstrip().startswith("<") and found[0].lstrip()[1:2] != "=":
            end, other = self.end_of(">", found.end()), self.end_of("<", found.end())
            if end < 0 or 0 <= other < end:
                return None, found.end()
            return Markup(self.text[found.start() : end + 1], "HTML"), end + 1
        return Markup(found[0], _UNREAD), found.end()

    def until(self, found: re.Match[str], closing: str) -> tuple[_Token | None, int]:
        end = self.end_of(closing, found.end())
        if end < 0:
            return Markup(found[0], _UNREAD), found.end()
        return Markup(self.text[found.start() : end + len(closing)], _UNREAD), end + len(closing)

    def macro(self, start: int) -> tuple[_Token | None, int]:
        depth, open_quote = 0, ""
        for index in range(bisect_left(self.starts, start), len(self.parts)):
            self.budget -= 1
            if self.budget < 0:
                break
            sign = self.parts[index][0]
            if sign == open_quote:
                open_quote = ""
            elif open_quote or sign[0] == "\\":
                continue
            elif sign in "\"'":
                open_quote = sign
            else:
                depth += 1 if sign == "(" else -1
                if depth == 0:
                    end = self.parts[index].end()
                    source = self.text[start:end]
                    name, _, told = source[1:-1].partition(":")
                    return _Macro(source, name.lower().replace("_", "-"), told.strip()), end
        return None, start + 1

    def link(self, start: int) -> tuple[_Token | None, int]:
        end, line = self.end_of("]]", start + 2), self.end_of("\n", start)
        if end < 0 or 0 <= line < end:
            return _Bracket("[", is_start=True), start + 1
        source = self.text[start : end + 2]
        label, target = (each.strip() for each in split_link(source[2:-2]))
        if not target or is_outside(target):
            return Markup(source, "a link whose goal only a player knows"), end + 2
        is_plain = not _MARKS.search(label)
        label = decoded(label) if is_plain else label
        return Link(source, label, decoded(target), (), is_plain), end + 2


def _nested(tokens: Sequence[_Token]) -> list["Node | _Hooked"]:
    root = _OpenHook(None)
    stack = [root]
    for at, token in enumerate(tokens):
        here = stack[-1].nodes
        if isinstance(token, _Bracket):
            if token.is_start and len(stack) < MOST_NESTING:
                before = tokens[at - 1] if at else None
                macro = before if isinstance(before, _Macro) else None
                stack.append(_OpenHook(macro))
            elif not token.is_start and len(stack) > 1:
                closed = stack.pop()
                stack[-1].nodes += _closed(closed)
            else:
                here.append(Markup(token.source, _UNREAD))
        elif isinstance(token, _Macro):
            after = tokens[at + 1] if at + 1 < len(tokens) else None
            opens = isinstance(after, _Bracket) and after.is_start and len(stack) < MOST_NESTING
            if not opens:
                here.append(_alone(token))
        else:
            here.append(token)
    # A hook that nobody closes is no hook.
    while len(stack) > 1:
        lost = stack.pop()
        before = [_alone(lost.macro)] if lost.macro else []
        stack[-1].nodes += [*before, Markup("[", _UNREAD), *lost.nodes]
    return root.nodes


def _closed(hook: _OpenHook) -> list["Node | _Hooked"]:
    children = tuple(_joined(hook.nodes))
    if hook.macro is None:
        return [Conditional((Branch("[", None, children),), "]")]
    return [_Hooked(hook.macro, children)]


def _alone(macro: _Macro) -> Node:
    if macro.name == "set" and (told := changes_of(macro.arguments)):
        return KeyAssignment(macro.source, told)
    if macro.name in _GOES:
        words, is_plain = _strings(macro.arguments)
        if words:
            return Link(macro.source, words[0], words[-1], (), is_plain)
    return Markup(macro.source, f"the macro {macro.name}")


def _joined(nodes: Sequence["Node | _Hooked"]) -> list[Node]:
    """Put chains of conditions together and read every other hook for itself."""
    found: list[Node] = []
    at = 0
    while at < len(nodes):
        node = nodes[at]
        at += 1
        if not isinstance(node, _Hooked):
            found.append(node)
            continue
        if node.macro.name not in ("if", "unless"):
            found.append(_hooked(node))
            continue
        hooks, gaps = [node], [""]
        while at < len(nodes):
            other = nodes[at]
            gap = other.source if isinstance(other, PlainText) and not other.text.strip() else ""
            other = nodes[at + 1] if gap and at + 1 < len(nodes) else other
            if not isinstance(other, _Hooked) or other.macro.name not in _ELSE:
                break
            hooks.append(other)
            gaps.append(f"]{gap}")
            at += 2 if gap else 1
        found.append(_conditional(hooks, gaps))
    return found


_ELSE: Final = frozenset(("else", "else-if", "elseif"))


def _conditional(hooks: Sequence[_Hooked], gaps: Sequence[str]) -> Conditional:
    parts: list[tuple[str, tuple[KeyTest, ...] | None, tuple[Node, ...]]] = []
    for each, gap in zip(hooks, gaps, strict=True):
        own = () if each.macro.name == "else" else tests_of(each.macro.arguments)
        own = opposite(own) if each.macro.name == "unless" else own
        parts.append((f"{gap}{each.macro.source}[", own, each.children))
    return chain(parts, "]")


def _hooked(each: _Hooked) -> Node:
    macro, children = each.macro, each.children
    source = f"{macro.source}[{sources_of(children)}]"
    words, is_plain = _strings(macro.arguments)
    if macro.name in _OPENS and len(words) == 1 and is_plain:
        known = _opened(source, words[0], children)
        if known is not None:
            return known
    told = [child.text for child in children if isinstance(child, PlainText)]
    if macro.name in _REVEALS and len(words) == 1 and is_plain and len(told) == len(children):
        return RefusedLink(source, words[0], "".join(told).strip())
    return Conditional((Branch(f"{macro.source}[", None, children),), "]")


def _opened(source: str, label: str, children: Sequence[Node]) -> Link | None:
    effects: list[KeyChange] = []
    target, is_plain = "", True
    for child in children:
        goal = _GOTO.fullmatch(child.text) if isinstance(child, Markup) else None
        if isinstance(child, KeyAssignment):
            effects += child.effects
        elif goal:
            words, _ = _strings(goal[1])
            target = words[0] if words else ""
        elif not (isinstance(child, PlainText) and not child.text.strip()):
            is_plain = False
    if not target:
        return None
    return Link(source, label, target, tuple(effects) if is_plain else (), is_plain)


_GOTO: Final = re.compile(
    r"\((?:go-to|goto):\s*(\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')\s*\)", re.IGNORECASE
)


def _strings(arguments: str) -> tuple[list[str], bool]:
    """Return the strings a macro is given, none if it is given more, and if all is plain."""
    found: list[str] = []
    is_plain, at = True, 0
    while at < len(arguments):
        each = STRING.match(arguments, at)
        if each is None:
            return [], False
        word = unescaped(each[1] if each[1] is not None else each[2])
        is_plain = is_plain and (bool(found) or not _MARKS.search(word))
        found.append(decoded(word))
        at = each.end()
        while at < len(arguments) and arguments[at] in ", \t\n":
            at += 1
    return found, is_plain
