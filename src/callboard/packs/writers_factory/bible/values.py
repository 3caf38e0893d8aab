"""Values of template fields: cleaned, shaped, refused. Judges no content.

What can be wrong with a Story Bible stands here too, said so that the writer can mend it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.core.canonical import Json, composed
from callboard.core.errors import Conflict, InvalidInput, NotFound


class UnknownTemplate(NotFound):
    """There is no template of that name."""

    code = "unknown_template"


class TemplateRefused(InvalidInput):
    """A field that was to be written does not fit its template."""

    code = "template_invalid"


class ChecksFailed(InvalidInput):
    """What was to be written fails checks, and the writer wanted it written only if it does not."""

    code = "checks_failed"


class TemplateUnreadable(Conflict):
    """The file of a template cannot be read, so nothing is written over it."""

    code = "template_unreadable"


class NothingToAccept(Conflict):
    """There is no failed judgement the writer could accept."""

    code = "nothing_to_accept"


MOST_CHARS: Final = 20_000
MOST_ITEMS: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u0085\u2028\u2029\ufeff]")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]{0,40}")
Value = str | list[str]


class BadValue(ValueError):
    """Why a value cannot stand in a field."""


def clean_text(text: str) -> str:
    """Return a text without control characters and lone surrogates, trimmed."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = _CONTROL.sub(" ", whole)
    spoken = kept.encode("utf-8", "replace").decode("utf-8")
    return composed(spoken, "NFC").strip()


def field_name(name: str) -> str:
    """Return a field's name as templates write it: `Fatal Flaw` is `fatal_flaw`."""
    return re.sub(r"[^a-z0-9]+", "_", clean_text(name).lower()).strip("_")


def is_field_name(name: str) -> bool:
    """Say whether a name can be the key of a field."""
    return _FIELD.fullmatch(name) is not None


def as_text(value: Json) -> str:
    """Return a value as one text, or refuse it."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return _measured("; ".join(as_text(each) for each in cast("Sequence[Json]", value)))
    if isinstance(value, str):
        return _measured(clean_text(value))
    raise BadValue(f"is a {_kind(value)} where a text is expected")


def as_list(value: Json) -> list[str]:
    """Return a value as a list of texts; a text is cut at its lines."""
    if isinstance(value, str):
        value = [_BULLET.sub("", line) for line in clean_text(value).split("\n")]
    if value is None:
        return []
    if isinstance(value, Mapping):
        # Elements of one name come as a list: `<rules><rule>…</rule><rule>…</rule></rules>`.
        value = [
            item
            for each in cast("Mapping[str, Json]", value).values()
            for item in (cast("Sequence[Json]", each) if isinstance(each, list) else (each,))
        ]
    if not isinstance(value, list | tuple):
        raise BadValue(f"is a {_kind(value)} where a list is expected")
    items = cast("Sequence[Json]", value)
    if len(items) > MOST_ITEMS:
        raise BadValue(f"holds {len(items)} entries; {MOST_ITEMS} is the most")
    found: dict[str, str] = {}
    for each in items:
        text = as_text(each)
        if text:
            found.setdefault(text.casefold(), text)
    return list(found.values())


def as_value(value: Json) -> Value:
    """Return a value of a field nothing is known about: a text or a list of texts."""
    return as_list(value) if isinstance(value, list | tuple) else as_text(value)


def _measured(text: str) -> str:
    if len(text) > MOST_CHARS:
        raise BadValue(f"has {len(text)} characters; {MOST_CHARS} is the most")
    return text


def _kind(value: Any) -> str:
    return "mapping" if isinstance(value, Mapping) else type(value).__name__
