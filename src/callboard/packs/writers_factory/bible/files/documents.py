"""A template as a file of the writer: structured fields above, readable text below.

The readable part is made from the fields and stands between two marks. Whatever the writer adds
outside of them, or changes within, is kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from callboard.core.canonical import Json, digest_bytes
from callboard.packs.writers_factory.bible.files.frontmatter import (
    FrontProblem,
    read_front,
    write_front,
)
from callboard.packs.writers_factory.bible.provenance import source_name
from callboard.packs.writers_factory.bible.shapes import (
    MIDPOINT,
    MIDPOINT_FIELD,
    RESERVED,
    RULES_FIELD,
    SHAPES,
    beat_points,
    shaped,
    spread,
)
from callboard.packs.writers_factory.bible.values import BadValue, Value
from callboard.packs.writers_factory.model import TemplateName

_OPEN: Final = "<!-- made from the fields above; write your own text below the closing mark"
_CLOSE: Final = "<!-- your own text below -->"
_MADE: Final = re.compile(
    re.escape(_OPEN) + r" \(([0-9a-f]{12})\) -->\n(.*?)\n" + re.escape(_CLOSE) + r"\n?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class BibleFileProblem:
    """What is wrong with a template's file; without a field the file as a whole is unreadable."""

    path: str
    message: str
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        """Render with the place to look at."""
        place = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Document:
    """A template file as it was read."""

    name: TemplateName
    path: str
    fields: Mapping[str, Value] = field(default_factory=dict[str, Value])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    # Values this template has no use for; they are written back as they are.
    extras: Mapping[str, Json] = field(default_factory=dict[str, Json])
    own_text: str = ""
    problems: tuple[BibleFileProblem, ...] = ()
    sha256: str | None = None
    # Files with Windows line ends keep them.
    has_crlf: bool = False


def read_document(name: TemplateName, path: str, data: bytes) -> Document:
    """Take a template file apart, however broken it is."""
    sha256 = digest_bytes(data)
    try:
        front = read_front(data)
    except FrontProblem as error:
        problem = BibleFileProblem(path, error.message, error.line)
        return Document(name, path, problems=(problem,), sha256=sha256)
    document = Document(
        name,
        path,
        own_text=_own_text(front.body),
        sha256=sha256,
        has_crlf=b"\r\n" in data,
    )
    return _with_values(document, front.values, front.lines)


def write_document(document: Document) -> str:
    """Return the text of a template's file."""
    values: dict[str, Json] = {"template": document.name.value}
    values |= dict(sorted(document.fields.items(), key=lambda item: _rank(document.name, item[0])))
    values |= document.extras
    known = {each: told for each, told in document.sources.items() if each in document.fields}
    if known:
        values["sources"] = known
    # A field cannot forge the marks: a comment in it is no comment in the page.
    made = readable(document.name, document.fields).replace("<!--", "<! --")
    mark = f"{_OPEN} ({_digest(made)}) -->"
    own = f"\n{document.own_text}\n" if document.own_text else ""
    text = write_front(values, f"\n{mark}\n{made}\n{_CLOSE}\n{own}")
    return text.replace("\n", "\r\n") if document.has_crlf else text


def _with_values(
    document: Document, values: Mapping[str, Json], lines: Mapping[str, int]
) -> Document:
    known: dict[str, Value] = {}
    extras: dict[str, Json] = {}
    problems: list[BibleFileProblem] = []
    for key, raw in values.items():
        parts = spread(document.name, {key: raw})
        for field_key, value in parts.items():
            if field_key in RESERVED:
                continue
            told = _told(document, field_key, value, known)
            if isinstance(told, str | list):
                known[field_key] = told
            elif told is None and len(parts) == 1:
                extras[key] = raw
            elif told is None:
                # The rest of a list of beats has become fields and must not be told twice.
                extras[field_key] = value
            else:
                problems.append(replace(told, line=lines.get(key)))
    held = {name: value for name, value in known.items() if value}
    sources = _sources(values.get("sources"))
    return replace(document, fields=held, extras=extras, problems=tuple(problems), sources=sources)


def _told(
    document: Document, key: str, value: Json, known: Mapping[str, Value]
) -> Value | BibleFileProblem | None:
    """Return a field's value, or what is wrong with it, or None for what is no field here."""
    shape = SHAPES[document.name]
    if known.get(key):
        return BibleFileProblem(document.path, f"gives {key} a second time", field=key)
    try:
        return shaped(document.name, key, value)
    except BadValue as error:
        if key in shape.required or key in ("name", "midpoint_type"):
            return BibleFileProblem(document.path, f"{key} {error}", field=key)
        return None


def _sources(value: Json) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    told = cast("Mapping[str, Json]", value)
    return {str(key): source_name(each) for key, each in told.items() if isinstance(each, str)}


def _own_text(body: str) -> str:
    def keep(hit: re.Match[str]) -> str:
        # A part the writer changed is theirs now.
        return "" if _digest(hit[2]) == hit[1] else f"{hit[2]}\n"

    return _MADE.sub(keep, body).strip("\n")


def _digest(text: str) -> str:
    return digest_bytes(text.encode("utf-8"))[:12]


def _rank(name: TemplateName, key: str) -> tuple[int, int]:
    required = SHAPES[name].required
    if key == "name":
        return (0, 0)
    if key in required:
        return (1, required.index(key))
    return (2, 0)


def readable(name: TemplateName, fields: Mapping[str, Value]) -> str:
    """Return a template as a page for people."""
    match name:
        case TemplateName.PROTAGONIST:
            return _headed(str(fields.get("name") or "Protagonist"), fields, skip=("name",))
        case TemplateName.BEAT_SHEET:
            return _beats(fields)
        case TemplateName.THEME:
            return _headed("Theme", fields)
        case TemplateName.WORLD_RULES:
            return _rules(fields)


def _headed(title: str, fields: Mapping[str, Value], skip: tuple[str, ...] = ()) -> str:
    parts = [f"# {_line(title)}"]
    for key, value in fields.items():
        if key not in skip:
            parts.append(f"## {_words(key)}\n\n{_text(value)}")
    return "\n\n".join(parts)


def _beats(fields: Mapping[str, Value]) -> str:
    parts = ["# Beat Sheet"]
    for point in beat_points():
        content = fields.get(point.field)
        if not content:
            continue
        kind = fields.get(MIDPOINT_FIELD) if point.number == MIDPOINT else None
        told = f"*{_words(str(kind))}*\n\n" if kind else ""
        parts.append(f"## {point.title}\n\n{told}{_text(content)}")
    return "\n\n".join(parts)


def _rules(fields: Mapping[str, Value]) -> str:
    rules = fields.get(RULES_FIELD) or []
    listed = rules if isinstance(rules, list) else [rules]
    lines = [f"{number}. {_line(rule)}" for number, rule in enumerate(listed, start=1)]
    others = {key: value for key, value in fields.items() if key != RULES_FIELD}
    page = _headed("World Rules", others)
    return "\n\n".join([page, "\n".join(lines)]) if lines else page


def _text(value: Value) -> str:
    return value if isinstance(value, str) else "\n".join(f"- {_line(each)}" for each in value)


def _words(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _line(text: str) -> str:
    return " ".join(text.split())
