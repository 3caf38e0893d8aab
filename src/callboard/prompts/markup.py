"""Markup in a prompt: untrusted text as the escaped content of one element, state as XML.

Built from plain data; always well-formed.

Mappings become elements, lists repeat the element they stand under, keys starting with `@` become
attributes, `#text` is an element's own text, None is left out. Refuses names XML would not take
and data it would have to guess about.

Trusted text is inserted as it is. Fenced text cannot close its element, forge another tag or an
entity; a quotation mark or a Markdown `>` stays readable.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final, cast
from xml.etree import ElementTree

from callboard.core.vocabulary import Content, Trust
from callboard.prompts.errors import StateInvalid

FENCE_TAG: Final = "data"
_REPLACEMENT: Final = "\ufffd"
_ILLEGAL: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def legal_text(text: str) -> str:
    """Return text that XML 1.0 can hold: line ends unified, illegal characters replaced."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ILLEGAL.sub(_REPLACEMENT, text)


def fence(content: Content) -> str:
    """Return content as it may stand in a prompt: trusted as is, untrusted fenced and escaped."""
    if content.trust is Trust.TRUSTED:
        return content.text
    origin = _escape_attribute(legal_text(content.origin))
    text = _escape(legal_text(content.text))
    return f'<{FENCE_TAG} origin="{origin}" trust="untrusted">\n{text}\n</{FENCE_TAG}>'


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("]]>", "]]&gt;")


def _escape_attribute(text: str) -> str:
    escaped = _escape(text).replace(">", "&gt;").replace('"', "&quot;")
    return escaped.replace("\n", "&#10;").replace("\t", "&#9;")


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MAX_DEPTH: Final = 50
_TEXT_KEY: Final = "#text"
_ITEM: Final = "item"


def build_state(root: str, data: Any) -> str:
    """Return data as an indented XML element named `root`."""
    element = ElementTree.Element(_checked(root, root))
    _fill(element, data, root, 0)
    ElementTree.indent(element)
    return ElementTree.tostring(element, encoding="unicode")


def state_content(root: str, data: Any) -> Content:
    """Return state ready for a prompt: its structure is ours and every value in it is escaped."""
    return Content(build_state(root, data), f"state:{root}", Trust.TRUSTED)


def _fill(element: ElementTree.Element, data: Any, path: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise StateInvalid(
            f"State is nested deeper than {_MAX_DEPTH} levels at {path[:200]}.",
            fix="Flatten the data; a value that contains itself can never be shown.",
        )
    children = _children(data, path)
    if children is None:
        element.text = _scalar(data, path)
        return
    for key, value in children:
        if value is None:
            continue
        if key == _TEXT_KEY:
            element.text = _scalar(value, f"{path}.{key}")
        elif key.startswith("@"):
            element.set(_checked(key[1:], path), _scalar(value, f"{path}.{key}"))
        else:
            _append(element, key, value, path, depth)


def _append(parent: ElementTree.Element, key: str, value: Any, path: str, depth: int) -> None:
    name = _checked(key, path)
    for each in cast("Sequence[Any]", value) if _is_list(value) else (value,):
        if each is not None:
            child = ElementTree.SubElement(parent, name)
            _fill(child, each, f"{path}.{name}", depth + 1)


def _children(data: Any, path: str) -> list[tuple[str, Any]] | None:
    if is_dataclass(data) and not isinstance(data, type):
        return [(field.name, getattr(data, field.name)) for field in fields(data)]
    if isinstance(data, Mapping):
        pairs = list(cast("Mapping[Any, Any]", data).items())
        for key, _ in pairs:
            if not isinstance(key, str):
                raise StateInvalid(f"State key {key!r} at {path} is not text.", path=path)
        return cast("list[tuple[str, Any]]", pairs)
    if _is_list(data):
        return [(_ITEM, each) for each in cast("Sequence[Any]", data)]
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _scalar(value: Any, path: str) -> str:
    if isinstance(value, Enum):
        value = value.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return legal_text(value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    raise StateInvalid(
        f"State at {path} is a {type(value).__name__}, which has no text form.",
        fix="Give text, a finite number, a boolean, a mapping, a list or a dataclass.",
        path=path,
    )


def _checked(name: str, path: str) -> str:
    if not _NAME.fullmatch(name) or name.lower().startswith("xml"):
        raise StateInvalid(
            f"{name[:80]!r} at {path[:200]} cannot name an element.",
            fix="Use letters, digits, '_' and '-', starting with a letter; not 'xml…'.",
            name=name[:80],
        )
    return name
