"""The settings model as a tree of keys: what exists, what is near, what a clone may set.

Also which models that are files the settings name.

Asking one opens a file, and `record` writes one. So only the user names them: by a flag, in the
environment or in the configuration folder. What arrives with a project, lies in its database or
comes over the API may repeat a name the user gave, and no other.
"""

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from callboard.core.canonical import Json
from callboard.core.settings.model import ModelsSettings, Settings
from callboard.core.settings.sections import HARMLESS, RESTRICTED

Key = tuple[str, ...]
"""The path of a setting; names of providers and models may hold dots, so it is not a string."""

ANY_NAME: Final = "<name>"


@dataclass(frozen=True, slots=True)
class SettingsNode:
    """A section (`children`), a mapping by free names (`each`), or a value (neither)."""

    children: Mapping[str, "SettingsNode"] = field(default_factory=dict[str, "SettingsNode"])
    each: "SettingsNode | None" = None
    info: FieldInfo | None = None

    @property
    def is_value(self) -> bool:
        """Whether a value stands here rather than further keys."""
        return not self.children and self.each is None

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        annotation = None if self.info is None else self.info.annotation
        return any(get_origin(each) in (list, tuple) for each in _alternatives(annotation))

    @property
    def restricted_because(self) -> str | None:
        """Why a project's own file may not set this, if so."""
        reason = self._mark(RESTRICTED)
        return None if reason is None else str(reason)

    @property
    def is_harmless(self) -> bool:
        """Whether even the file of a project nobody has trusted may set this."""
        return self.is_value and bool(self._mark(HARMLESS))

    def child(self, name: str) -> "SettingsNode | None":
        """Return what stands under a name."""
        return self.children.get(name, self.each)

    def _mark(self, name: str) -> Json:
        extra = None if self.info is None else self.info.json_schema_extra
        return cast("dict[str, Json]", extra).get(name) if isinstance(extra, dict) else None


@cache
def root() -> SettingsNode:
    """Return the tree of all keys."""
    return _section(Settings, None)


def find(key: Key) -> SettingsNode | None:
    """Return the node of a key, if the settings know it."""
    node: SettingsNode | None = root()
    for name in key:
        node = None if node is None else node.child(name)
    return node


def values(node: SettingsNode | None = None, key: Key = ()) -> Iterator[tuple[Key, SettingsNode]]:
    """Yield every value of the tree, with `<name>` where the user chooses a name."""
    node = root() if node is None else node
    if node.is_value:
        yield key, node
        return
    for name, child in node.children.items():
        yield from values(child, (*key, name))
    if node.each is not None:
        yield from values(node.each, (*key, ANY_NAME))


def near_key(parent: Key, name: str) -> str | None:
    """Return the known key most like an unknown one: a sibling, else one of another section."""
    node = find(parent)
    siblings = list(node.children) if node is not None else []
    close = difflib.get_close_matches(name.lower(), siblings, n=1)
    if not close:
        close = [each for each in siblings if each.startswith(f"{name.lower()}_")][:1]
    if close:
        return key_text((*parent, close[0]))
    elsewhere = {key[-1]: key for key, _ in values() if ANY_NAME not in key}
    close = difflib.get_close_matches(name.lower(), list(elsewhere), n=1, cutoff=0.85)
    return key_text(elsewhere[close[0]]) if close else None


def key_text(key: Key) -> str:
    """Return a key as people write it."""
    return ".".join(key)


def json_schema() -> dict[str, Json]:
    """Return the JSON Schema of a settings file, for editors and other tools."""
    schema = Settings.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _section(model: type[BaseModel], info: FieldInfo | None) -> SettingsNode:
    children = {name: _node(each) for name, each in model.model_fields.items()}
    return SettingsNode(children=children, info=info)


def _node(info: FieldInfo) -> SettingsNode:
    for each in _alternatives(info.annotation):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return _section(each, info)
        if get_origin(each) is dict:
            return SettingsNode(each=_held(get_args(each)[1], info), info=info)
    return SettingsNode(info=info)


def _held(annotation: Any, info: FieldInfo) -> SettingsNode:
    """Return the node of what a mapping holds: a section, or a value that is told like it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _section(annotation, None)
    value = FieldInfo.from_annotation(cast("Any", annotation))
    value.description, value.json_schema_extra = info.description, info.json_schema_extra
    return SettingsNode(info=value)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if get_origin(annotation) in (Union, types.UnionType):
        return get_args(annotation)
    return (annotation,)


RECORD: Final = "record"
REPLAY: Final = "replay"
SCRIPT: Final = "script"

REASON: Final = "it names a file that is read or written, which only you may do"

_KEYS: Final = ("default", "fallbacks", "fallback_default")


def is_file_model(model: str) -> bool:
    """Say whether a model id names a file; a bare `script` is what code has put in its place."""
    provider, _, rest = model.partition(":")
    return provider in (RECORD, REPLAY, SCRIPT) and bool(rest)


def file_models(settings: ModelsSettings) -> frozenset[str]:
    """Return the models that are files among those the settings name."""
    chains = (each for chain in settings.fallbacks.values() for each in chain)
    named = (settings.default, *settings.fallback_default, *chains)
    return frozenset(each for each in named if is_file_model(each))


def names_file_model(key: Key, value: Json) -> bool:
    """Say whether a value of a settings file names, at a key that takes models, one that is a file.

    The value has not been judged yet: it may be of any type.
    """
    if len(key) < 2 or key[0] != "models" or key[1] not in _KEYS:
        return False
    return any(is_file_model(each) for each in _texts(value))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Json]", value):
            yield from _texts(each)
