"""One layer of template files on disk, reread when a file changes. Never leaves its folder."""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from callboard.prompts.errors import TemplateInvalid
from callboard.prompts.index import INDEX_NAME, Index, read_index
from callboard.prompts.templates import TemplateSource, read_source
from callboard.store.reading import FileRefused, read_bounded

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
