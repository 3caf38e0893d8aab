"""Mapping: a remembered decision becomes a claim about a thing of the story, without a model.

`<entity>_<attribute>` is split behind the longest name that is known. What is about the work and
not about the story goes to the project itself.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from callboard.core.canonical import Json
from callboard.knowledge.graph import node_id
from callboard.library.story.contradiction import (
    ALWAYS,
    AnyClaim,
    EdgeClaim,
    GraphClaim,
    Names,
    SceneRange,
    find_point,
    key_form,
    split_scope,
)
from callboard.packs.writers_factory.memory.decisions import MemoryCategory

PROJECT_NODE: Final = node_id("project", "project")
PROJECT_NAME: Final = "Project"
NOTE: Final = "note"
RULE_TEXT: Final = "text"
STORY_ATTRIBUTES: Final = frozenset(
    [
        "fatal_flaw",
        "flaw",
        "the_lie",
        "lie",
        "arc",
        "arc_start",
        "arc_midpoint",
        "arc_resolution",
        "want",
        "need",
        "goal",
        "fear",
        "secret",
        "motivation",
        "function",
        "role",
        "backstory",
        "occupation",
        "job",
        "ghost",
        "wound",
        "strength",
        "weakness",
        "description",
        "appearance",
        "location",
        "home",
    ]
)
_ABOUT_THE_WORK: Final = frozenset(
    {
        MemoryCategory.PREFERENCE,
        MemoryCategory.CORRECTION,
        MemoryCategory.VOICE,
        MemoryCategory.CONSTRAINT,
    }
)
_NEVER_STORY: Final = frozenset(
    {MemoryCategory.PREFERENCE, MemoryCategory.CORRECTION, MemoryCategory.VOICE}
)
_TYPES: Final = {
    MemoryCategory.CHARACTER: "character",
    MemoryCategory.WORLD: "world_rule",
    MemoryCategory.STRUCTURE: "event",
    MemoryCategory.CONTINUITY: "event",
}
_KEY_SCOPE: Final = re.compile(
    r"_(?:since_|from_|in_)?(ch(?:apter)?_?\d{1,4}(?:_sc(?:ene)?_?\d{1,4})?)$"
)
_SCOPED_WORDS: Final = 10


class OriginKind(StrEnum):
    """Where a claim was found."""

    ENTRY = "entry"
    TURN = "turn"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Origin:
    """The remembered decision, the turn of conversation or the file behind a claim."""

    kind: OriginKind
    id: str

    def __str__(self) -> str:
        """Render as the source of a node."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Origin":
        """Read the rendered form."""
        kind, _, found = text.partition(":")
        return cls(OriginKind(kind), found)


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything one origin says."""

    origin: Origin
    claims: tuple[AnyClaim, ...]


class Remembered(Protocol):
    """A decision as the knowledge room keeps it."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def category(self) -> str:
        """What it is about."""
        ...

    @property
    def key(self) -> str:
        """What it is called."""
        ...

    @property
    def value(self) -> str:
        """What was decided."""
        ...

    @property
    def source(self) -> str:
        """Where it comes from."""
        ...


def map_entry(
    entry: Remembered, names: Names, attributes: Collection[str], edge_types: Collection[str]
) -> Offer:
    """Return what a decision claims; `attributes` are names that end a key of an unknown thing."""
    origin = Origin(OriginKind.ENTRY, entry.id)
    claim = _claim(entry, names, attributes, edge_types)
    return Offer(origin, (claim,))


def _claim(
    entry: Remembered, names: Names, attributes: Collection[str], edge_types: Collection[str]
) -> AnyClaim:
    category = MemoryCategory(entry.category)
    if category in _NEVER_STORY:
        return _about_project(entry)
    found, attribute = names.split_key(entry.key, _TYPES.get(category))
    if found is None:
        return _new_thing(entry, category, attributes)
    attribute, key_scope = _split_key_scope(attribute)
    value, scope = _split_value(entry.value, key_scope)
    other = names.find(str(value)) if attribute in edge_types else None
    if other is not None and other != found:
        return EdgeClaim(found, other, attribute, scope, {}, entry.source, entry.value)
    kind = found.partition(":")[0]
    name = found.partition(":")[2]
    return GraphClaim(found, kind, name, attribute or NOTE, value, scope, entry.source, entry.value)


def _about_project(entry: Remembered) -> GraphClaim:
    return GraphClaim(
        PROJECT_NODE,
        "project",
        PROJECT_NAME,
        f"{entry.category}_{entry.key}",
        entry.value,
        ALWAYS,
        entry.source,
        entry.value,
    )


def _new_thing(
    entry: Remembered, category: MemoryCategory, attributes: Collection[str]
) -> GraphClaim:
    if category in _ABOUT_THE_WORK:
        return _about_project(entry)
    kind = _TYPES[category]
    bare, key_scope = _split_key_scope(entry.key)
    value, scope = _split_value(entry.value, key_scope)
    name, attribute = bare, RULE_TEXT
    if category is MemoryCategory.CHARACTER:
        name, attribute = _split_known(bare, attributes)
    shown = name.replace("_", " ").strip()
    return GraphClaim(
        node_id(kind, shown),
        kind,
        shown.title() if kind == "character" else shown.capitalize(),
        attribute,
        value,
        scope,
        entry.source,
        entry.value,
    )


def _split_known(key: str, attributes: Collection[str]) -> tuple[str, str]:
    """Split behind the shortest beginning whose rest is a known attribute."""
    words = key_form(key).split("_")
    for count in range(1, len(words)):
        rest = "_".join(words[count:])
        if rest in STORY_ATTRIBUTES or rest in attributes:
            return "_".join(words[:count]), rest
    return key, NOTE


def _split_key_scope(key: str) -> tuple[str, SceneRange]:
    found = _KEY_SCOPE.search(f"_{key}")
    if found is None:
        return key, ALWAYS
    point = find_point(found[1].replace("_", " "))
    return f"_{key}"[: found.start()].strip("_") or key, SceneRange(point)


def _split_value(value: str, key_scope: SceneRange) -> tuple[Json, SceneRange]:
    if key_scope != ALWAYS:
        return value, key_scope
    # A long text tells of chapters without holding only in them.
    return split_scope(value) if len(value.split()) <= _SCOPED_WORDS else (value, ALWAYS)
