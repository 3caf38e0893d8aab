"""Decisions: which field of the Story Bible a decision that was saved by name belongs to."""

import re
from dataclasses import dataclass
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.bible import Bible, WriteOutcome
from callboard.packs.writers_factory.bible.checks import CheckResult, check_fields
from callboard.packs.writers_factory.bible.shapes import (
    MIDPOINT_FIELD,
    RULES_FIELD,
    SHAPES,
    beat_number,
)
from callboard.packs.writers_factory.bible.values import Value, field_name
from callboard.packs.writers_factory.model import TemplateName

_BEAT: Final = re.compile(r"beat_?\d{1,2}")
_RULE: Final = re.compile(r"(?:world_|fundamental_)?rules?(?:_\w+)?|\w+_rule(?:_\d+)?")
_OF_A_CHARACTER: Final = SHAPES[TemplateName.PROTAGONIST].required


@dataclass(frozen=True, slots=True)
class FieldTarget:
    """A field of a template."""

    template: TemplateName
    field: str

    def holding(self, value: str) -> dict[str, Json]:
        """Return the field with a value in it, as its template keeps it."""
        return {self.field: [value] if self.field == RULES_FIELD else value}


def target_of(category: str, key: str, protagonist_name: str = "") -> FieldTarget | None:
    """Return the field a decision fills; most decisions fill none.

    `mickey_fatal_flaw` fills the protagonist's flaw if Mickey is the protagonist.
    """
    plain = field_name(key)
    if plain in ("central_theme", "theme_statement"):
        return FieldTarget(TemplateName.THEME, plain)
    if category == "structure":
        return _beat_target(plain)
    if category == "world" and _RULE.fullmatch(plain):
        return FieldTarget(TemplateName.WORLD_RULES, RULES_FIELD)
    if category == "character":
        return _character_target(plain, field_name(protagonist_name))
    return None


async def take_decision(
    bible: Bible, category: str, key: str, value: str, *, source: str
) -> WriteOutcome | None:
    """Write a decision into the template it belongs to; None if it belongs to none."""
    order = bible.work_order()
    target = target_of(category, key, order.protagonist_name)
    if target is None:
        return None
    if target.field == RULES_FIELD:
        return await bible.write(
            target.template, {RULES_FIELD: [value]}, source=source, extends=True
        )
    return await bible.write(target.template, {target.field: value}, source=source)


def _beat_target(key: str) -> FieldTarget | None:
    if key == MIDPOINT_FIELD:
        return FieldTarget(TemplateName.BEAT_SHEET, MIDPOINT_FIELD)
    number = beat_number(key) if _BEAT.match(key) or not key.isdigit() else None
    return None if number is None else FieldTarget(TemplateName.BEAT_SHEET, f"beat_{number}")


def _character_target(key: str, protagonist: str) -> FieldTarget | None:
    names = {protagonist, protagonist.partition("_")[0], "protagonist", ""}
    for field in _OF_A_CHARACTER:
        if key == field or key.endswith(f"_{field}"):
            whose = key[: -len(field)].strip("_")
            return FieldTarget(TemplateName.PROTAGONIST, field) if whose in names else None
    return None


def weakness_of(bible: Bible, category: str, key: str, value: str) -> CheckResult | None:
    """Return the check a decision would fail if it were written; None if it fails none.

    It is looked at among the other fields: an arc can only be judged by the flaw it is the arc of.
    """
    order = bible.work_order()
    target = target_of(category, key, order.protagonist_name)
    if target is None:
        return None
    told: Value = [value] if target.field == RULES_FIELD else value
    fields = {**order.template(target.template).fields, target.field: told}
    failed = (each for each in check_fields(target.template, fields) if not each.passed)
    return next((each for each in failed if each.field.startswith(target.field)), None)
