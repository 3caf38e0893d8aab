"""One layer of template files on disk, reread when a file changes. Never leaves its folder.

An optional `prompts.json` says which file serves which variant of a template.

Without an index the file names say it all; an entry here wins over the file names of its layer.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeVar, cast

from callboard.prompts.errors import TemplateInvalid
from callboard.prompts.passages import TemplateVariant, variant_named
from callboard.prompts.templates import TemplateSource, read_source
from callboard.store.reading import FileRefused, read_bounded

INDEX_NAME: Final = "prompts.json"
_ROOT_KEY: Final = "pipeline_templates"
_ENTRY_KEYS: Final = frozenset({"label", "variants"})


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One declared template."""

    label: str
    paths: Mapping[TemplateVariant, str]


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
    paths: dict[TemplateVariant, str] = {}
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


_MAX_BYTES: Final = 1_000_000
_EMPTY_INDEX: Final = Index()
_T = TypeVar("_T")
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class TemplateLayer:
    """A folder of templates and the name users know it by: bundled, user, project."""

    name: str
    root: Path


class LayerFiles:
    """The files of one layer, parsed once per version on disk."""

    def __init__(self, layer: TemplateLayer) -> None:
        """Touch nothing yet; a missing folder is an empty layer."""
        self.layer = layer
        self._root = str(layer.root)
        # relative path -> stamp of the version parsed, and the result
        self._sources: dict[str, tuple[_Stamp, TemplateSource]] = {}
        self._index: tuple[_Stamp, Index] | None = None

    def is_there(self) -> bool:
        """Whether the layer has a folder now; most projects have none of their own."""
        return os.path.isdir(self._root)

    def has(self, relative: str) -> bool:
        """Whether the layer holds this file now."""
        return self._stamp(relative) is not None

    def source(self, relative: str) -> TemplateSource | None:
        """Return the parsed file, or None if the layer does not hold it."""
        stamp = self._stamp(relative)
        if stamp is None:
            self._sources.pop(relative, None)
            return None
        cached = self._sources.get(relative)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        parsed = self._parse(relative, read_source)
        self._sources[relative] = (stamp, parsed)
        return parsed

    def index(self) -> Index:
        """Return what the layer declares in its index, if it has one."""
        stamp = self._stamp(INDEX_NAME)
        if stamp is None:
            return _EMPTY_INDEX
        if self._index is None or self._index[0] != stamp:
            self._index = (stamp, self._parse(INDEX_NAME, read_index))
        return self._index[1]

    def names(self) -> Iterator[str]:
        """List the relative paths of all Markdown files, sorted."""
        if not self.layer.root.is_dir():
            return
        for path in sorted(self.layer.root.rglob("*.md")):
            if path.is_file():
                yield path.relative_to(self.layer.root).as_posix()

    def _stamp(self, relative: str) -> _Stamp | None:
        try:
            status = os.stat(f"{self._root}/{relative}")
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _parse(self, relative: str, parse: Callable[[str, str], _T]) -> _T:
        path = self.layer.root / relative
        shown = f"{self.layer.name}:{relative}"
        try:
            text = read_bounded(path, limit_bytes=_MAX_BYTES, within=self.layer.root).decode()
        except UnicodeDecodeError as error:
            raise TemplateInvalid(f"{shown} is not UTF-8: {error}", path=shown) from error
        except FileNotFoundError as error:
            raise TemplateInvalid(f"{shown} is not there any more.", path=shown) from error
        except FileRefused as refused:
            raise TemplateInvalid(
                f"{shown} {refused.reason}.", fix=refused.fix, path=shown
            ) from refused
        return parse(text, shown)
