"""Sections: the named parts of a turn's prompts. Headings are a contract; tests look for them.

Stored text, rows and what models said stand in a section as fenced data: it can inform, and never
instruct.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import compact_json
from callboard.core.vocabulary import Content, Entity, EntityState, Trust
from callboard.core.words import shorten
from callboard.knowledge.entities import EntityRegistry
from callboard.prompts import Layer, Reduction, fence

SCHEMA: Final = "## Database Schema"
SYNTAX: Final = "## Query Syntax"
REFERENCED: Final = "## Referenced Entities"
DATA: Final = "## Data to Analyze"
PREFERENCES: Final = "## User Preferences"
SAFETY: Final = "## Never Ignore"
PRIOR: Final = "## Prior Context"
FOREIGN_KEYS: Final = "## Foreign Keys"
ENTITY_IDS: Final = "## Entity IDs"
PERSONA: Final = "## Persona"
CONSTRAINTS: Final = "## Constraints"
EXAMPLES: Final = "## Examples"
CATALOGUE: Final = "## What There Is"
OPEN: Final = "## Open Question"
FACTS: Final = "## Facts"
STYLE: Final = "## Style"
PROBLEM: Final = "## What Went Wrong"
OLDER: Final = "## Older Results"
CHANGE: Final = "## Change"

# Whoever is listed first gives way first when a prompt outgrows its budget.
TRIM_ORDER: Final = (EXAMPLES, OLDER, PRIOR, REFERENCED, CATALOGUE, PREFERENCES, DATA, FACTS)


@dataclass(frozen=True, slots=True)
class PromptSection:
    """One part of a prompt; `shorter` are its shorter forms, the first to be used first."""

    heading: str
    text: str
    is_pinned: bool = False
    is_trusted: bool = False
    shorter: tuple[Callable[[], str], ...] = ()

    def layer(self) -> Layer:
        """Return the section as a layer, its content fenced unless it is ours."""
        return Layer(
            self.heading,
            self._content(self.text),
            pinned=self.is_pinned,
            reductions=tuple(
                Reduction(f"{number}", lambda make=make: self._content(make()))
                for number, make in enumerate(self.shorter, 1)
            ),
        )

    def _content(self, text: str) -> Content:
        if not text.strip():
            return Content("", self.heading, Trust.TRUSTED)
        trust = Trust.TRUSTED if self.is_trusted else Trust.UNTRUSTED
        shown = fence(Content(text, _origin(self.heading), trust))
        return Content(f"{self.heading}\n\n{shown}", _origin(self.heading), Trust.TRUSTED)


def entity_lines(entities: Sequence[Entity], most: int | None = None) -> str:
    """Return things as prompts show them: id, kind, name, words, and whether only a draft."""
    shown = entities if most is None else entities[:most]
    return "\n".join(_entity_line(each) for each in shown)


def _entity_line(entity: Entity) -> str:
    tags = f" [{', '.join(entity.tags[:6])}]" if entity.tags else ""
    draft = " (draft, not confirmed)" if entity.state is EntityState.PENDING else ""
    return f"- {entity.id}: {entity.type} “{entity.label}”{tags}{draft}"


def entity_section(entities: Sequence[Entity], cap: int | None, heading: str) -> PromptSection:
    """Return the things in play, as many as the mode shows; fewer if room is short."""
    shown = entities if cap is None else entities[:cap]
    few = tuple(lambda size=size: entity_lines(shown, size) for size in (5, 2) if len(shown) > size)
    return PromptSection(heading, entity_lines(shown), shorter=few)


def rows_section(heading: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> PromptSection:
    """Return rows as data; what does not fit is counted, never cut silently."""
    sizes = (40, 15, 5)
    longest = max((len(rows) for rows in tables.values()), default=0)
    shorter: list[Callable[[], str]] = [lambda: _tables(tables, None, slim=True)]
    shorter += [
        lambda size=size: _tables(tables, size, slim=True) for size in sizes if longest > size
    ]
    return PromptSection(
        heading, _tables(tables, None, slim=False), is_pinned=True, shorter=tuple(shorter)
    )


def _tables(
    tables: Mapping[str, Sequence[Mapping[str, Any]]], most: int | None, *, slim: bool
) -> str:
    parts: list[str] = []
    for name, rows in tables.items():
        shown = rows if most is None else rows[:most]
        lines = [f"{name} ({len(rows)} rows)"]
        lines += [compact_json(_slim(row) if slim else dict(row)) for row in shown]
        if len(shown) < len(rows):
            lines.append(f"{len(rows) - len(shown)} rows omitted")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


# Bookkeeping of a database that no judgement needs.
_BOOKKEEPING: Final = frozenset({"created_at", "updated_at", "version", "archived_at"})
_MOST_CHARS: Final = 80
_MOST_BELOW: Final = 12


def _slim(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a row is worth reading: no bookkeeping, nothing empty, no long texts."""
    return {
        name: _short(value)
        for name, value in row.items()
        if value not in (None, "", [], {}) and name not in _BOOKKEEPING
    }


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(value, _MOST_CHARS, on_top=True)
    if isinstance(value, list):
        return _few(cast("list[Any]", value))
    return value


def _few(values: Sequence[Any]) -> list[Any]:
    """Return rows below a row by their names, the first of them; the rest is counted."""
    shown = [_short(_name(each)) for each in values[:_MOST_BELOW]]
    rest = len(values) - len(shown)
    return [*shown, f"{rest} more"] if rest > 0 else shown


def _name(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    row = cast("Mapping[str, Any]", value)
    return row.get("name") or row.get("text") or row.get("label") or dict(row)


def _origin(heading: str) -> str:
    return heading.removeprefix("## ").casefold().replace(" ", "_")


_PLACEHOLDER: Final = "something put away"


@dataclass(frozen=True, slots=True)
class Hidden:
    """The names and ids that no prompt may show."""

    ids: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, registry: EntityRegistry, gone: Iterable[str] = ()) -> "Hidden":
        """Return what is put away now, and the names of what was put away before."""
        inactive = registry.in_state(EntityState.INACTIVE)
        shown = {each.label.casefold() for each in registry.in_play()}
        labels = {each.label for each in inactive} | set(gone)
        # A name that something in play also has must stay readable.
        hidden = sorted((e for e in labels if e and e.casefold() not in shown), key=len)
        return cls(frozenset(each.id for each in inactive), tuple(reversed(hidden)))

    def scrub(self, text: str) -> str:
        """Return a text without the names."""
        for label in self.labels:
            text = re.sub(_whole(label), _PLACEHOLDER, text, flags=re.IGNORECASE)
        return text

    def keep_shown(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows that are not put away."""
        names = {label.casefold() for label in self.labels}
        return [
            dict(row)
            for row in rows
            if str(row.get("id", "")) not in self.ids
            and not any(isinstance(v, str) and v.casefold() in names for v in row.values())
        ]


def _whole(label: str) -> str:
    """Return the pattern of a name by itself: "Tea" is not in "steak".

    Scripts without case write no spaces between words; there a name may stand anywhere.
    """
    start = r"(?<!\w)" if _is_spaced(label[0]) else ""
    end = r"(?:e?s)?(?!\w)" if _is_spaced(label[-1]) else ""
    return f"{start}{re.escape(label)}{end}"


def _is_spaced(sign: str) -> bool:
    return sign.isdigit() or sign.upper() != sign.lower()
