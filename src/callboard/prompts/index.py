"""The optional `prompts.json` of a layer: which file serves which variant of a template.

Without an index the file names say it all; an entry here wins over the file names of its layer.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final, cast

from callboard.prompts.errors import TemplateInvalid
from callboard.prompts.variants import Variant, variant_named

INDEX_NAME: Final = "prompts.json"
_ROOT_KEY: Final = "pipeline_templates"
_ENTRY_KEYS: Final = frozenset({"label", "variants"})


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One declared template."""

    label: str
    paths: Mapping[Variant, str]


@dataclass(frozen=True, slots=True)
class Index:
    """Everything one layer declares."""

    entries: Mapping[str, IndexEntry] = field(default_factory=dict[str, IndexEntry])


def read_index(text: str, path: str) -> Index:
    """Parse an index; every complaint names the file and the key."""
    try:
        loaded: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TemplateInvalid(f"{path} is not JSON: {error}", path=path) from error
    root = _mapping(loaded, path, "the file")
    _only(root, frozenset({_ROOT_KEY}), path, "")
    declared = _mapping(root.get(_ROOT_KEY, {}), path, _ROOT_KEY)
    return Index({name: _entry(value, path, name) for name, value in declared.items()})


def _entry(value: Any, path: str, name: str) -> IndexEntry:
    key = f"{_ROOT_KEY}.{name}"
    entry = _mapping(value, path, key)
    _only(entry, _ENTRY_KEYS, path, f"{key}.")
    label = entry.get("label", "")
    if not isinstance(label, str):
        raise TemplateInvalid(f"{path}: {key}.label must be text.", path=path, key=f"{key}.label")
    paths: dict[Variant, str] = {}
    for word, file in _mapping(entry.get("variants", {}), path, f"{key}.variants").items():
        variant = variant_named(word)
        if variant is None or not isinstance(file, str) or not _is_inside(file):
            raise TemplateInvalid(
                f"{path}: {key}.variants.{word} = {file!r} cannot be used.",
                fix="Map t1, t3 or t5 to a path below the prompts folder.",
                path=path,
                key=f"{key}.variants.{word}",
            )
        paths[variant] = file
    return IndexEntry(label, paths)


def _is_inside(file: str) -> bool:
    path = PurePosixPath(file)
    return bool(file) and not path.is_absolute() and ".." not in path.parts and "\\" not in file


def _mapping(value: Any, path: str, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TemplateInvalid(f"{path}: {key} must be an object.", path=path, key=key)
    return cast("dict[str, Any]", value)


def _only(values: dict[str, Any], known: frozenset[str], path: str, prefix: str) -> None:
    for key in values:
        if key not in known:
            raise TemplateInvalid(
                f"{path}: key '{prefix}{key}' is not known.",
                fix=f"Known keys: {', '.join(sorted(known))}.",
                path=path,
                key=f"{prefix}{key}",
            )
