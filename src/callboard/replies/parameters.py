"""Read the body of an action: child elements to values. A malformed body gives a reason instead."""

import re
from dataclasses import dataclass, field
from typing import Final, cast

from callboard.core.canonical import Json
from callboard.replies.code import decode_entities, read_closing_tag, read_tag
from callboard.replies.json_text import read_json

_MARK: Final = re.compile(r"<!\[CDATA\[|<!--|</(?=[A-Za-z_])|<(?=[A-Za-z_])")
_CDATA_START: Final = "<![CDATA["
_CDATA_END: Final = "]]>"
_NAMED_PARAMETER: Final = frozenset({"param", "parameter"})
_KEY_VALUE: Final = re.compile(r"[-*]?\s*\**([A-Za-z_][A-Za-z0-9_ -]{0,60}?)\**\s*:\**\s+(.*)")
_HEADING: Final = re.compile(r"#{1,6}\s+(\S.*)")
_MAX_DEPTH: Final = 16


@dataclass(frozen=True, slots=True)
class Malformed:
    """Why a body could not be read."""

    reason: str


@dataclass(slots=True)
class _Element:
    key: str
    name: str
    body_start: int
    children: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    pieces: list[str] = field(default_factory=list[str])
    is_mixed: bool = False


def read_parameters(body: str) -> dict[str, Json] | Malformed:
    """Return the parameters of an action body: its elements, or a JSON object, or plain text."""
    if not body.strip():
        return {}
    read = _ParameterReader(body).read()
    if isinstance(read, Malformed) or read:
        return read
    text = decode_entities(_without_cdata_marks(body)).strip()
    return (read_object(text) if text.startswith("{") else None) or {"content": text}


def read_object(text: str) -> dict[str, Json] | None:
    """Return an object written as JSON or as Markdown with headings or `key: value` lines."""
    if text.startswith("{"):
        try:
            value = read_json(text)
        except ValueError:
            return None
        return cast("dict[str, Json]", value) if isinstance(value, dict) else None
    return _read_headings(text) or _read_key_values(text)


def _read_key_values(text: str) -> dict[str, Json] | None:
    values: dict[str, Json] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        match = _KEY_VALUE.fullmatch(line.strip())
        if match is None:
            return None
        values[_key(match[1])] = match[2].strip()
    return values or None


def _read_headings(text: str) -> dict[str, Json] | None:
    values: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        match = _HEADING.fullmatch(line.strip())
        if match is not None:
            current = values.setdefault(_key(match[1].rstrip("# ")), [])
        elif current is not None:
            current.append(line)
        elif line.strip():
            return None
    return {key: "\n".join(lines).strip() for key, lines in values.items()} or None


def _key(words: str) -> str:
    return re.sub(r"[\s-]+", "_", words.strip().lower())


class _ParameterReader:
    def __init__(self, body: str) -> None:
        self._body = body
        self._root = _Element("", "", 0)
        self._stack = [self._root]
        self._open_names: dict[str, int] = {}
        self._last_cdata_end = body.rfind(_CDATA_END)
        self._last_comment_end = body.rfind("-->")

    def read(self) -> dict[str, Json] | Malformed:
        position = 0
        while (match := _MARK.search(self._body, position)) is not None:
            self._text(self._body[position : match.start()])
            taken = self._take(match[0], match.start())
            if isinstance(taken, Malformed):
                return taken
            position = taken
        self._text(self._body[position:])
        if len(self._stack) > 1:
            return Malformed(f"<{self._stack[1].name}> is never closed")
        return _merged(self._root.children)

    def _take(self, mark: str, start: int) -> int | Malformed:
        if mark == _CDATA_START and self._last_cdata_end > start:
            end = self._body.index(_CDATA_END, start)
            self._stack[-1].pieces.append(self._body[start + len(mark) : end])
            return end + 3
        if mark == "<!--" and self._last_comment_end >= start + len(mark):
            return self._body.index("-->", start + len(mark)) + 3
        if mark == "</":
            return self._take_closing(start)
        return self._take_opening(start) if mark == "<" else self._literal(start, len(mark))

    def _take_opening(self, start: int) -> int | Malformed:
        tag = read_tag(self._body, start)
        if tag is None:
            return self._literal(start, 1)
        named = tag.name.lower() in _NAMED_PARAMETER
        key = tag.attributes.get("name", tag.name) if named else tag.name
        if tag.self_closing:
            self._stack[-1].children.append((key, ""))
            return tag.end
        if len(self._stack) > _MAX_DEPTH:
            return Malformed(f"elements are nested deeper than {_MAX_DEPTH} levels")
        self._stack.append(_Element(key, tag.name.lower(), tag.end))
        self._open_names[tag.name.lower()] = self._open_names.get(tag.name.lower(), 0) + 1
        return tag.end

    def _take_closing(self, start: int) -> int | Malformed:
        closing = read_closing_tag(self._body, start)
        if closing is None:
            return self._literal(start, 2)
        name = closing[0].lower()
        if not self._open_names.get(name):
            if len(self._stack) == 1:
                return Malformed(f"</{closing[0]}> closes nothing")
            return self._literal(start, closing[1] - start)
        while self._pop().name != name:
            # What was opened in between and never closed is part of the enclosing text.
            self._stack[-1].children.pop()
            self._stack[-1].is_mixed = True
            if len(self._stack) == 1:
                return Malformed(f"</{closing[0]}> crosses another element")
        self._settle(start)
        return closing[1]

    def _pop(self) -> _Element:
        element = self._stack.pop()
        self._open_names[element.name] -= 1
        self._popped = element
        self._stack[-1].children.append((element.key, None))
        return element

    def _settle(self, end: int) -> None:
        parent = self._stack[-1]
        parent.children[-1] = (self._popped.key, self._value(self._popped, end))

    def _value(self, element: _Element, end: int) -> Json:
        has_text = element.is_mixed or any(piece.strip() for piece in element.pieces)
        if element.children and not has_text:
            return _merged(element.children)
        if element.children or element.is_mixed:
            raw = self._body[element.body_start : end]
            return decode_entities(_without_cdata_marks(raw)).strip()
        return _leaf("".join(element.pieces).strip())

    def _text(self, text: str) -> None:
        if text:
            self._stack[-1].pieces.append(decode_entities(text))

    def _literal(self, start: int, length: int) -> int:
        self._text(self._body[start : start + length])
        return start + length


def _without_cdata_marks(text: str) -> str:
    kept: list[str] = []
    position = 0
    while (start := text.find(_CDATA_START, position)) >= 0:
        end = text.find(_CDATA_END, start)
        if end < 0:
            break
        kept += (text[position:start], text[start + len(_CDATA_START) : end])
        position = end + len(_CDATA_END)
    return "".join([*kept, text[position:]])


def _leaf(text: str) -> Json:
    if text.startswith("[") and text.endswith("]"):
        try:
            return read_json(text)
        except ValueError:
            return text
    return text


def _merged(children: list[tuple[str, Json]]) -> dict[str, Json]:
    grouped: dict[str, list[Json]] = {}
    for key, value in children:
        grouped.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in grouped.items()}
