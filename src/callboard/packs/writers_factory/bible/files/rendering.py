"""The readable part of a template's file, made from its fields."""

from collections.abc import Mapping

from callboard.packs.writers_factory.bible.beats import (
    MIDPOINT,
    MIDPOINT_FIELD,
    beat_points,
)
from callboard.packs.writers_factory.bible.shapes import RULES_FIELD
from callboard.packs.writers_factory.bible.values import Value
from callboard.packs.writers_factory.model import TemplateName


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
