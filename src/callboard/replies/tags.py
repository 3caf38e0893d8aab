"""Read one tag at a given place, quotes and all. Knows nothing of nesting."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_ATTRIBUTE: Final = re.compile(r"[^\s=<>\"'/]+")
_BARE_VALUE: Final = re.compile(r"[^\s<>\"'=`/]+")
_MAX_TAG_CHARS: Final = 4096


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag as written; `end` is the offset just behind it."""

    name: str
    attributes: Mapping[str, str]
    self_closing: bool
    end: int


def read_tag(text: str, start: int) -> Tag | None:
    """Return the opening tag at `start`, or None if what stands there is not one."""
    name = _NAME.match(text, start + 1)
    if name is None:
        return None
    attributes: dict[str, str] = {}
    position, limit = name.end(), min(len(text), start + _MAX_TAG_CHARS)
    while position < limit:
        after_space = _skip_space(text, position)
        if text.startswith(">", after_space):
            return Tag(name[0], attributes, False, after_space + 1)
        if text.startswith("/>", after_space):
            return Tag(name[0], attributes, True, after_space + 2)
        if after_space == position:
            return None
        attribute = _ATTRIBUTE.match(text, after_space)
        if attribute is None:
            return None
        value, position = _read_value(text, attribute.end(), limit)
        if value is None:
            return None
        attributes.setdefault(attribute[0].lower(), value)
    return None


def read_closing_tag(text: str, start: int) -> tuple[str, int] | None:
    """Return name and end of the closing tag at `start`, or None."""
    name = _NAME.match(text, start + 2)
    if name is None:
        return None
    end = _skip_space(text, name.end())
    return (name[0], end + 1) if text.startswith(">", end) else None


def decode_entities(text: str) -> str:
    """Return text with its HTML entities replaced; an absurd one leaves the text as it is."""
    if "&" not in text:
        return text
    try:
        return unescape(text)
    except (ValueError, OverflowError):
        return text


def _read_value(text: str, position: int, limit: int) -> tuple[str | None, int]:
    equals = _skip_space(text, position)
    if not text.startswith("=", equals):
        return "", position
    start = _skip_space(text, equals + 1)
    quote = text[start : start + 1]
    if quote and quote in "\"'":
        end = text.find(quote, start + 1, limit)
        if end < 0:
            return None, limit
        return decode_entities(text[start + 1 : end]), end + 1
    bare = _BARE_VALUE.match(text, start)
    return (bare[0], bare.end()) if bare else (None, limit)


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
