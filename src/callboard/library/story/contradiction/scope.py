"""Scene ranges: from when and until when something holds in the story. Knows no facts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput

_ID: Final = re.compile(
    r"(?:chapter|ch)[\s._-]*(\d{1,4})(?:[\s,._-]*(?:scene|sc)[\s._-]*(\d{1,4}))?", re.IGNORECASE
)
_SAID: Final = re.compile(
    r"(?P<lead>\b(?:since|from|as of|after|in|at|by|until|till|before|through)\s+|\(\s*)?"
    r"\b(?P<point>(?:chapter|ch)[\s._-]*\d{1,4}(?:[\s,._-]*(?:scene|sc)[\s._-]*\d{1,4})?)\b\s*\)?",
    re.IGNORECASE,
)
_UNTIL: Final = frozenset({"until", "till", "before", "through"})
_LAST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ScenePoint:
    """A place in the story: a scene, or a whole chapter where the scene is not known."""

    chapter: int
    scene: int | None = None

    def __str__(self) -> str:
        """Render as the scene is named everywhere."""
        return f"ch{self.chapter}" if self.scene is None else f"ch{self.chapter}-sc{self.scene}"

    @property
    def first(self) -> tuple[int, int]:
        """The earliest moment this may mean."""
        return (self.chapter, 0 if self.scene is None else self.scene)

    @property
    def last(self) -> tuple[int, int]:
        """The latest moment this may mean."""
        return (self.chapter, _LAST if self.scene is None else self.scene)


@dataclass(frozen=True, slots=True)
class SceneRange:
    """From a point to a point, both included; an open end is the story's own."""

    since: ScenePoint | None = None
    until: ScenePoint | None = None

    @property
    def first(self) -> tuple[int, int]:
        """The earliest moment."""
        return (0, 0) if self.since is None else self.since.first

    @property
    def last(self) -> tuple[int, int]:
        """The latest moment."""
        return (_LAST, _LAST) if self.until is None else self.until.last

    def overlaps(self, other: "SceneRange") -> bool:
        """Say whether both may hold in one scene."""
        return self.first <= other.last and other.first <= self.last

    def holds(self, point: ScenePoint) -> bool:
        """Say whether a point may lie within."""
        return self.first <= point.last and point.first <= self.last

    def begins_after(self, other: "SceneRange") -> bool:
        """Say whether this one surely begins in a later scene than another."""
        if self.since is None:
            return False
        if other.since is None:
            return True
        return self.since.first > other.since.last

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape; an open end is left out."""
        ends = {"since_scene": self.since, "until_scene": self.until}
        return {name: str(point) for name, point in ends.items() if point is not None}

    @classmethod
    def from_json(cls, data: Json) -> "SceneRange":
        """Read the stored shape; what is no point counts as an open end."""
        if not isinstance(data, dict):
            return ALWAYS
        return cls(find_point(data.get("since_scene")), find_point(data.get("until_scene")))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


ALWAYS: Final = SceneRange()


def find_point(text: Json) -> ScenePoint | None:
    """Return the point a text names as a whole, or None."""
    if isinstance(text, int) and not isinstance(text, bool) and text > 0:
        return ScenePoint(text)
    if not isinstance(text, str):
        return None
    stripped = text.strip()
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= 4:
        return ScenePoint(int(stripped))
    found = _ID.fullmatch(stripped)
    if found is None:
        return None
    return ScenePoint(int(found[1]), int(found[2]) if found[2] else None)


def read_range(data: Json) -> SceneRange:
    """Return a range the writer gave; one that begins nowhere is refused."""
    found = SceneRange.from_json(data)
    if found.since is None and found.until is None:
        raise InvalidInput(
            f"{data!r} is no range of scenes",
            fix='Say it like {"since_scene": "ch9-sc1"}, with "until_scene" if it ends.',
        )
    if found.since is not None and found.until is not None and found.first > found.last:
        raise InvalidInput(
            f"The range ends at {found.until} before it begins at {found.since}",
            fix="Swap the two ends.",
        )
    return found


def split_scope(text: str) -> tuple[str, SceneRange]:
    """Take the scenes a short statement names out of it: `dead since chapter 9`."""
    since: ScenePoint | None = None
    until: ScenePoint | None = None
    for found in _SAID.finditer(text):
        lead = (found["lead"] or "").strip(" (").casefold()
        point = find_point(found["point"])
        if lead in _UNTIL:
            until = until or point
        else:
            since = since or point
    if since is None and until is None:
        return text, ALWAYS
    rest = " ".join(_SAID.sub(" ", text).split()).strip(" ,;:.-")
    scope = SceneRange(since, until)
    if scope.first > scope.last:
        return text, ALWAYS
    return rest or text, scope


STATES: Final = "states"


@dataclass(frozen=True, slots=True)
class ScopedValue:
    """A value and the scenes it holds in."""

    value: Json
    scope: SceneRange = ALWAYS
    source: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {"value": self.value, **self.scope.to_json(), "source": self.source}


def states_of(attrs: Mapping[str, Json], attribute: str) -> tuple[ScopedValue, ...]:
    """Return every value an attribute has, earliest first."""
    kept = attrs.get(STATES)
    listed: Any = cast("dict[str, Any]", kept).get(attribute) if isinstance(kept, dict) else None
    if isinstance(listed, list) and listed:
        return tuple(
            ScopedValue(each.get("value"), SceneRange.from_json(each), str(each.get("source", "")))
            for each in cast("list[dict[str, Any]]", listed)
        )
    value = attrs.get(attribute)
    return () if value is None else (ScopedValue(value),)


def with_state(attrs: Mapping[str, Json], attribute: str, state: ScopedValue) -> dict[str, Json]:
    """Return the attributes with one more state; those of the same range are replaced."""
    kept = [each for each in states_of(attrs, attribute) if each.scope != state.scope]
    return with_states(attrs, attribute, (*kept, state))


def without_overlaps(
    attrs: Mapping[str, Json], attribute: str, state: ScopedValue
) -> dict[str, Json]:
    """Return the attributes with one state in place of all that hold in its scenes."""
    kept = [each for each in states_of(attrs, attribute) if not each.scope.overlaps(state.scope)]
    return with_states(attrs, attribute, (*kept, state))


def with_states(
    attrs: Mapping[str, Json], attribute: str, states: tuple[ScopedValue, ...]
) -> dict[str, Json]:
    """Return the attributes with exactly these states of one attribute; without any it is gone."""
    ordered = sorted(states, key=lambda each: each.scope.first)
    changed = dict(attrs)
    # Said aloud, here and below: what is merely missing stays as it is when it is merged.
    changed[attribute] = ordered[-1].value if ordered else None
    found: Any = attrs.get(STATES)
    timeline = dict(cast("dict[str, Json]", found)) if isinstance(found, dict) else {}
    if not ordered or (len(ordered) == 1 and ordered[0].scope == ALWAYS):
        timeline.pop(attribute, None)
    else:
        timeline[attribute] = [each.to_json() for each in ordered]
    if timeline:
        changed[STATES] = timeline
    elif STATES in changed:
        changed[STATES] = None
    return changed


def value_at(attrs: Mapping[str, Json], attribute: str, point: ScenePoint | None) -> Json:
    """Return the value in a scene: of those that hold there, the one that began last."""
    if point is None:
        return attrs.get(attribute)
    holding = [each for each in states_of(attrs, attribute) if each.scope.holds(point)]
    return holding[-1].value if holding else None
