"""The shapes of the four templates: where each lies, what it requires, how its fields are named.

Among them the fifteen beats, with their places and acts, from the file beside this module.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.values import (
    BadValue,
    UnknownTemplate,
    Value,
    as_list,
    as_text,
    as_value,
    field_name,
    is_field_name,
)
from callboard.packs.writers_factory.model import TemplateName

BEAT_COUNT: Final = 15
MIDPOINT: Final = 9
MIDPOINT_FIELD: Final = "midpoint_type"
MIDPOINT_TYPES: Final = ("false_victory", "false_defeat")
_FIELD: Final = re.compile(r"beat_?0?(\d{1,2})(?:_[a-z0-9_]*)?|0?(\d{1,2})")


@dataclass(frozen=True, slots=True)
class BeatPoint:
    """A beat as every story has it: where it belongs, whatever happens in it."""

    number: int
    name: str
    low_pct: float
    high_pct: float
    act: str

    @property
    def field(self) -> str:
        """The field of the beat sheet that holds it."""
        return f"beat_{self.number}"

    @property
    def place(self) -> str:
        """Where it belongs, in words: `50 %` or `50-75 %`."""
        low, high = f"{self.low_pct:g}", f"{self.high_pct:g}"
        return f"{low} %" if low == high else f"{low}-{high} %"

    @property
    def title(self) -> str:
        """Number, name and place, as headings show them."""
        return f"{self.number}. {self.name} ({self.place})"


@dataclass(frozen=True, slots=True)
class Beat:
    """A beat of this story."""

    point: BeatPoint
    content: str = ""
    midpoint_type: str | None = None
    # Ids of the scenes that serve it, where the caller knows an outline.
    scenes: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        """Which of the fifteen it is."""
        return self.point.number

    @property
    def name(self) -> str:
        """What the beat is called."""
        return self.point.name


@cache
def beat_points() -> tuple[BeatPoint, ...]:
    """Return the fifteen beats in their order."""
    entries: list[dict[str, Any]] = bundled_yaml(
        "callboard.packs.writers_factory.bible", "beats.yaml"
    )
    return tuple(BeatPoint(**entry) for entry in entries)


def beat_point(number: int) -> BeatPoint | None:
    """Return one beat, or None for a number that is none."""
    return next((point for point in beat_points() if point.number == number), None)


def act_at(pct: float) -> str:
    """Return the act a place in the book belongs to: the last whose first beat has begun."""
    begun = "1"
    for point in beat_points():
        if point.act != begun and pct >= point.low_pct and point.number in _ACT_OPENERS:
            begun = point.act
    return begun


_ACT_OPENERS: Final = frozenset({6, 10, 13})


def beat_number(name: str) -> int | None:
    """Return which beat a field name, a number or a beat's own name means."""
    hit = _FIELD.fullmatch(name)
    if hit is not None:
        number = int(hit[1] or hit[2])
        return number if 1 <= number <= BEAT_COUNT else None
    plain = _squeezed(name)
    for point in beat_points():
        if _squeezed(point.name) == plain:
            return point.number
    return None


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower()).removeprefix("the")


RULES_FIELD: Final = "fundamental_rules"
RULES_LEAST: Final = 3
RESERVED: Final = frozenset({"template", "sources"})
CHARACTERS: Final = "content/Characters"
_UNSAFE: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f]+')


@dataclass(frozen=True, slots=True)
class Shape:
    """What a template is made of; `path` is empty where it follows the protagonist's name."""

    name: TemplateName
    title: str
    path: str
    required: tuple[str, ...]
    # Other names a field goes by, in files and in what models write.
    aliases: Mapping[str, str]
    lists: frozenset[str] = frozenset()
    # Fields that are read where there are any, and missed by nobody.
    optional: tuple[str, ...] = ()
    # Whether fields beside the known ones may be written.
    is_open: bool = True


SHAPES: Final[Mapping[TemplateName, Shape]] = {
    shape.name: shape
    for shape in (
        Shape(
            TemplateName.PROTAGONIST,
            "Protagonist",
            "",
            ("fatal_flaw", "the_lie", "arc_start", "arc_midpoint", "arc_resolution"),
            {
                "flaw": "fatal_flaw",
                "lie": "the_lie",
                "arc_end": "arc_resolution",
                "arc_beginning": "arc_start",
                "protagonist_name": "name",
                "protagonist": "name",
            },
            optional=("name",),
        ),
        Shape(
            TemplateName.BEAT_SHEET,
            "Beat Sheet",
            "content/Story Bible/Beat_Sheet.md",
            tuple(point.field for point in beat_points()),
            {"beat_9_type": MIDPOINT_FIELD, "midpoint_kind": MIDPOINT_FIELD},
            optional=(MIDPOINT_FIELD,),
            is_open=False,
        ),
        Shape(
            TemplateName.THEME,
            "Theme",
            "content/Story Bible/Theme.md",
            ("central_theme", "theme_statement"),
            {"theme": "central_theme", "statement": "theme_statement", "thesis": "theme_statement"},
            optional=("symbols",),
        ),
        Shape(
            TemplateName.WORLD_RULES,
            "World Rules",
            "content/World Bible/Rules.md",
            (RULES_FIELD,),
            {"rules": RULES_FIELD, "rule": RULES_FIELD, "world_rules": RULES_FIELD},
            frozenset({RULES_FIELD}),
        ),
    )
}


def template_name(name: str) -> TemplateName:
    """Return the template somebody means: `Beat Sheet`, `beat-sheet` and `beat_sheet` are one."""
    plain = field_name(name)
    for each in TemplateName:
        if each.value == plain or each.value.replace("_", "") == plain.replace("_", ""):
            return each
    raise UnknownTemplate(
        f"There is no template {name!r}", fix=f"Templates: {', '.join(TemplateName)}."
    )


def template_title(name: TemplateName) -> str:
    """Return how a template is shown to people."""
    return SHAPES[name].title


def character_path(name: str) -> str:
    """Return where the file of a character lies."""
    plain = _UNSAFE.sub(" ", name).strip(" .")
    return f"{CHARACTERS}/{'_'.join(plain.split())[:80] or 'Protagonist'}.md"


def known_fields(name: TemplateName) -> tuple[str, ...]:
    """Return the fields of a template that something is made of."""
    return (*SHAPES[name].required, *SHAPES[name].optional)


def required_count(name: TemplateName) -> int:
    """Return how many things a template needs before it can be complete."""
    return RULES_LEAST if name is TemplateName.WORLD_RULES else len(SHAPES[name].required)


def spread(name: TemplateName, given: Mapping[str, Json]) -> dict[str, Json]:
    """Return fields under their own names; beats given as a list or by name are spread out."""
    shape = SHAPES[name]
    found: dict[str, Json] = {}
    for key, value in given.items():
        plain = shape.aliases.get(field_name(str(key)), field_name(str(key)))
        if name is TemplateName.BEAT_SHEET and plain not in RESERVED:
            found.update(_spread_beat(plain, value))
        else:
            found[plain] = value
    return found


def shaped(name: TemplateName, field: str, value: Json) -> Value:
    """Return a field's value as its template wants it, or raise `BadValue`."""
    shape = SHAPES[name]
    if field in shape.lists:
        return as_list(value)
    if field == MIDPOINT_FIELD:
        return _midpoint(as_text(value))
    if field in shape.required or field == "name":
        return as_text(value)
    if not shape.is_open:
        raise BadValue(f"is no field of the {shape.title}; it has beat_1 to beat_15")
    if not is_field_name(field):
        raise BadValue("is no name for a field; write it like this_one")
    return as_value(value)


def _spread_beat(field: str, value: Json) -> dict[str, Json]:
    if field == "beats" and isinstance(value, list | tuple):
        listed = list(cast("list[Json]", value))
        return {
            key: told
            for place, each in enumerate(listed, start=1)
            for key, told in _told_beat(f"beat_{_number_in(each) or place}", each).items()
        }
    if field == "beats" and isinstance(value, Mapping):
        return spread(TemplateName.BEAT_SHEET, cast("Mapping[str, Json]", value))
    number = None if field == MIDPOINT_FIELD else beat_number(field)
    return _told_beat(field if number is None else f"beat_{number}", value)


def _told_beat(field: str, value: Json) -> dict[str, Json]:
    if not isinstance(value, Mapping):
        return {field: value}
    told = cast("Mapping[str, Json]", value)
    found: dict[str, Json] = {}
    for key in ("content", "text", "description", "summary"):
        if told.get(key):
            found[field] = told[key]
            break
    if told.get(MIDPOINT_FIELD):
        found[MIDPOINT_FIELD] = told[MIDPOINT_FIELD]
    return found or {field: value}


def _number_in(value: Json) -> int | None:
    if not isinstance(value, Mapping):
        return None
    told = cast("Mapping[str, Json]", value)
    return beat_number(field_name(str(told.get("number") or told.get("name") or "")))


def _midpoint(text: str) -> str:
    plain = field_name(text)
    if plain and plain not in MIDPOINT_TYPES:
        raise BadValue(f"is {text!r}; a midpoint is {' or '.join(MIDPOINT_TYPES)}")
    return plain
