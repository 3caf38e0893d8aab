"""Read one Markdown template: front matter, tier blocks, micro parts. Finds no files itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from callboard.core.parsing import FileProblem, parse_yaml
from callboard.prompts.errors import TemplateInvalid
from callboard.prompts.passages import (
    PassageLine,
    Placeholder,
    TemplatePassage,
    TemplateVariant,
    fallback_order,
    make_passage,
    variant_named,
)

_MARKER: Final = re.compile(
    r"<!--[ \t]*+(/?tier|micro)\b[ \t]*+:?+[ \t]*+((?:[^>\n]*[^> \t\n])?)[ \t]*-->"
)
_MARKER_START: Final = re.compile(r"<!--[ \t]*/?(?:tier|micro)\b")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_KNOWN_KEYS: Final = ("label", "description", "slots")


@dataclass(frozen=True, slots=True)
class TemplateHeader:
    """What a template file says about itself."""

    label: str = ""
    description: str = ""
    slots: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class TemplatePart:
    """One micro prompt of a template that is asked in several small steps."""

    name: str
    body: TemplatePassage


@dataclass(frozen=True, slots=True)
class TemplateOrigin:
    """Where a template came from; `variant` is None for a file that serves every tier."""

    layer: str
    path: str
    variant: TemplateVariant | None

    def __str__(self) -> str:
        """Render as the origin of content."""
        return f"{self.layer}:{self.path}"


@dataclass(frozen=True, slots=True)
class Template:
    """A template as it reads for one tier.

    `parts` is empty unless the file marks micro parts; text before the first mark opens each part.
    """

    name: str
    origin: TemplateOrigin
    body: TemplatePassage
    parts: tuple[TemplatePart, ...] = ()
    front: TemplateHeader = TemplateHeader()

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """Every place to fill, in order."""
        return self.body.placeholders

    def narrowed_to(self, name: str) -> "Template":
        """Return the template of one micro part."""
        for part in self.parts:
            if part.name == name:
                return replace(self, body=part.body, parts=())
        known = ", ".join(part.name for part in self.parts) or "none"
        raise TemplateInvalid(
            f"{self.origin} has no micro part {name!r}.", fix=f"Its parts: {known}.", part=name
        )


@dataclass(frozen=True, slots=True)
class _TierLine:
    line: PassageLine
    variants: frozenset[TemplateVariant] | None  # None: this line belongs to every tier


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template file as read, before a tier is chosen."""

    path: str
    front: TemplateHeader
    lines: tuple[_TierLine, ...]

    def read_for(
        self, variant: TemplateVariant
    ) -> tuple[TemplatePassage, tuple[TemplatePart, ...]]:
        """Return body and parts for a tier; a tier left without text gets the closest one's."""
        for candidate in fallback_order(variant):
            lines = [
                entry.line
                for entry in self.lines
                if entry.variants is None or candidate in entry.variants
            ]
            if any(line.text.strip() and not _marker_of(line, self.path) for line in lines):
                return _split_parts(lines, self.path)
        return TemplatePassage(self.path, ()), ()


def read_source(text: str, path: str) -> TemplateSource:
    """Parse a template file; `path` is named in every complaint."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [PassageLine(number, line) for number, line in enumerate(plain.split("\n"), start=1)]
    front, body = _split_front_matter(lines, path)
    source = TemplateSource(path, front, tuple(_assign_tiers(body, path)))
    for variant in TemplateVariant:
        body_passage, _ = source.read_for(variant)
        _check_declared(body_passage, front, path)
    return source


def _check_declared(body: TemplatePassage, front: TemplateHeader, path: str) -> None:
    if front.slots is None:
        return
    for placeholder in body.placeholders:
        if placeholder.name not in front.slots:
            raise TemplateInvalid(
                f"{path}:{placeholder.line}: {{{{{placeholder.name}}}}} is not among the slots "
                f"the file declares.",
                fix=f"Add it to 'slots' or use one of: {', '.join(front.slots) or 'none'}.",
                path=path,
                line=placeholder.line,
            )


def _split_front_matter(
    lines: Sequence[PassageLine], path: str
) -> tuple[TemplateHeader, Sequence[PassageLine]]:
    if not lines or lines[0].text.rstrip() != "---":
        return TemplateHeader(), lines
    for index in range(1, len(lines)):
        if lines[index].text.rstrip() == "---":
            text = "\n".join(line.text for line in lines[1:index])
            return _read_front_matter(text, path), lines[index + 1 :]
    raise TemplateInvalid(
        f"{path}:1: the front matter is never closed.",
        fix="End it with a line of three dashes, or start the file with a blank line.",
        path=path,
        line=1,
    )


def _read_front_matter(text: str, path: str) -> TemplateHeader:
    try:
        loaded = parse_yaml(text)
    except FileProblem as problem:
        # One line for the rule above.
        line = (problem.line or 0) + 1
        raise TemplateInvalid(
            f"{path}:{line}: the front matter {problem.message}", path=path, line=line
        ) from problem
    if loaded is None:
        return TemplateHeader()
    if not isinstance(loaded, dict):
        raise TemplateInvalid(f"{path}:1: the front matter must be a mapping.", path=path, line=1)
    values = cast("dict[Any, Any]", loaded)
    for key in values:
        if key not in _KNOWN_KEYS:
            raise TemplateInvalid(
                f"{path}: front matter key {key!r} is not known.",
                fix=f"Known keys: {', '.join(_KNOWN_KEYS)}.",
                path=path,
                key=str(key),
            )
    return TemplateHeader(
        label=_text_value(values, "label", path),
        description=_text_value(values, "description", path),
        slots=_slots_value(values, path),
    )


def _text_value(values: dict[Any, Any], key: str, path: str) -> str:
    value = values.get(key, "")
    if not isinstance(value, str):
        raise TemplateInvalid(f"{path}: front matter key {key!r} must be text.", path=path, key=key)
    return value


def _slots_value(values: dict[Any, Any], path: str) -> tuple[str, ...] | None:
    value = values.get("slots")
    if value is None:
        return None
    listed = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not all(isinstance(slot, str) for slot in listed):
        raise TemplateInvalid(
            f"{path}: front matter key 'slots' must be a list of names.", path=path, key="slots"
        )
    return tuple(cast("list[str]", listed))


def _assign_tiers(lines: Sequence[PassageLine], path: str) -> list[_TierLine]:
    current: frozenset[TemplateVariant] | None = None
    assigned: list[_TierLine] = []
    for line in lines:
        marker = _marker_of(line, path)
        if marker is None or marker[0] == "micro":
            assigned.append(_TierLine(line, current))
        elif marker[0] == "/tier":
            current = None
        else:
            current = _tiers_of(marker[1], line, path)
    return assigned


def _tiers_of(words: str, line: PassageLine, path: str) -> frozenset[TemplateVariant] | None:
    if words.strip().lower() == "all":
        return None
    found = [variant_named(word) for word in re.split(r"[|,]", words)]
    known = frozenset(variant for variant in found if variant is not None)
    if None in found:
        raise TemplateInvalid(
            f"{path}:{line.number}: tier block {words!r} names an unknown tier.",
            fix="Use full, medium, minimal, t1, t3, t5 or all; several are separated by '|'.",
            path=path,
            line=line.number,
        )
    return known


def _marker_of(line: PassageLine, path: str) -> tuple[str, str] | None:
    if not _MARKER_START.search(line.text):
        return None
    match = _MARKER.fullmatch(line.text.strip())
    if match is None:
        raise TemplateInvalid(
            f"{path}:{line.number}: a tier or micro mark must stand alone on its line.",
            fix="Write <!-- tier: medium --> or <!-- micro: triage --> on a line of its own.",
            path=path,
            line=line.number,
        )
    return match[1], match[2]


def _split_parts(
    lines: Sequence[PassageLine], path: str
) -> tuple[TemplatePassage, tuple[TemplatePart, ...]]:
    opening: list[PassageLine] = []
    named: dict[str, list[PassageLine]] = {}
    body: list[PassageLine] = []
    current = opening
    for line in lines:
        marker = _marker_of(line, path)
        if marker is None:
            body.append(line)
            current.append(line)
            continue
        name = marker[1]
        if name in named or not _NAME.fullmatch(name):
            raise TemplateInvalid(
                f"{path}:{line.number}: micro part {name!r} is unnamed, badly named or repeated.",
                path=path,
                line=line.number,
            )
        current = named[name] = list(opening)
    parts = tuple(TemplatePart(name, make_passage(own, path)) for name, own in named.items())
    return make_passage(body, path), parts
