"""Macros: those of SugarCube that a book has words for: a link, a change, a refusal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from callboard.packs.questfoundry.book.model import KeyChange
from callboard.packs.questfoundry.formats.reading.nodes import (
    STRING,
    KeyAssignment,
    Link,
    Markup,
    Node,
    PlainText,
    RefusedLink,
    changes_of,
    decoded,
    sources_of,
    split_link,
    unescaped,
)

MARKS: Final = re.compile(
    r"(?P<comment>/\*|/%|<!--)|(?P<quoted><%|\{\{\{|\"\"\"|<(?i:nowiki)>|<(?i:script|style)\b)"
    r"|(?P<macro><</?[A-Za-z=\-])|(?P<link>\[\[(?!\[))|(?P<image>\[[<>]?[Ii][Mm][Gg]\[)"
    r"|(?P<sign>''|//|--|==|__|\^\^|~~|@@|\\|</?[A-Za-z][A-Za-z0-9\-]*|\$\$|[$_][A-Za-z$_][\w$]*"
    r"|^!{1,6}|^[*#>]+|^\|)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MacroTag:
    """A macro's tag as it stands in the text."""

    source: str
    name: str
    arguments: str
    is_closing: bool


def alone(tag: MacroTag) -> Node:
    """Read a macro without an inside."""
    told = changes_of(tag.arguments) if tag.name in ("set", "unset") else None
    if tag.name == "unset":
        told = tuple(
            KeyChange("clear", each.removeprefix("$"))
            for each in tag.arguments.replace(",", " ").split()
            if each.startswith("$") and each[1:].isidentifier() and each.isascii()
        )
        told = told if len(told) == len(tag.arguments.replace(",", " ").split()) else None
    if told and not tag.is_closing:
        return KeyAssignment(tag.source, told)
    return Markup(tag.source, f"the macro {tag.name}")


def linked(tag: MacroTag, inside: Sequence[Node], closing: str) -> Node | None:
    """Read a macro that makes a link: its label, its target and what it sets."""
    source = tag.source + sources_of(inside) + closing
    label, target, rest = _arguments(tag.arguments)
    if label is None or rest:
        return None
    if tag.name == "linkappend":
        told = "".join(each.text for each in inside if isinstance(each, PlainText))
        simple = all(isinstance(each, PlainText) for each in inside)
        return RefusedLink(source, label, told.strip()) if simple and not target else None
    effects: list[KeyChange] = []
    for each in inside:
        if isinstance(each, KeyAssignment):
            effects += each.effects
        elif isinstance(each, Markup) and (found := _GOTO.fullmatch(each.text)) and not target:
            target = _unquoted(found[1])
        elif not (isinstance(each, PlainText) and not each.text.strip()):
            target = target or _goal(inside)
            return Link(source, label, target, (), is_plain=False) if target else None
    return Link(source, label, target, tuple(effects)) if target else None


_GOTO: Final = re.compile(
    r"<<goto\s+(\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\[\[[^\]]*\]\])\s*>>"
)


def _goal(inside: Sequence[Node]) -> str:
    for each in inside:
        if isinstance(each, Markup) and (found := _GOTO.fullmatch(each.text)):
            return _unquoted(found[1])
    return ""


def _unquoted(text: str) -> str:
    return text[2:-2] if text.startswith("[[") else unescaped(text[1:-1])


def _arguments(told: str) -> tuple[str | None, str, str]:
    """Return label, target and what is left of a link macro's arguments."""
    if told.startswith("[[") and (end := told.find("]]")) > 0:
        label, target = (each.strip() for each in split_link(told[2:end]))
        return (None if MARKS.search(label) else label), target, told[end + 2 :].strip()
    first = STRING.match(told)
    if first is None:
        return None, "", told
    label = unescaped(first[1] if first[1] is not None else first[2])
    rest = told[first.end() :].strip()
    if MARKS.search(label):
        return None, "", rest
    second = STRING.fullmatch(rest)
    if second is None:
        return decoded(label), "", rest
    target = second[1] if second[1] is not None else second[2]
    return decoded(label), unescaped(target), ""
