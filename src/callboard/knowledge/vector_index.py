"""The vector spaces that are in use, the large ones with an index in a file beside them.

An index is a cache that may be deleted, damaged or out of date.

A row is named in it by a hash of what it stands for and of its vector, so an entry is right or
unknown, never wrong. Rows it does not know are compared exactly beside it.
"""

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from callboard.core.canonical import digest_bytes
from callboard.knowledge.vectors import Space
from callboard.store.files import locked_folder
from callboard.store.reading import open_bounded

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Matrix

_log = logging.getLogger(__name__)


T = TypeVar("T")

EXACT_UP_TO: Final = 50_000
"""Below this, comparing with every vector takes a few milliseconds and making an index seconds."""

_CONNECTIVITY: Final = 16
_EXPANSION: Final = 128
_MIN_CANDIDATES: Final = 64
# An index that knows less than this share of the rows is not worth asking.
_WORTH: Final = 0.75


class Approximate(Generic[T]):
    """A space with an index beside it."""

    def __init__(self, space: Space[T], path: Path) -> None:
        """Take the space and where its index is, or will be, kept."""
        self._space = space
        self._path = path
        self._index: Any = None
        # Rows the index does not hold, and how many it holds that are gone.
        self._unknown: list[int] = []
        self._gone = 0

    def load(self) -> None:
        """Read the index if there is a sound one; without one, every search is exact."""
        from usearch.index import Index

        indexes: Any = Index
        try:
            # A pipe or a link is refused before the library opens the file by its path.
            os.close(open_bounded(self._path, within=self._path.parent, follow_links=False))
            found: Any = indexes.restore(str(self._path))
        except FileNotFoundError:
            found = None
        except Exception as error:  # noqa: BLE001 - the border to a cache file anybody may damage
            _log.warning("the index %s cannot be read and is made anew: %s", self._path, error)
            found = None
        self._adopt(found)

    def update(self) -> None:
        """Bring the index up to the space, and the file to the index."""
        from usearch.index import Index

        index: Any = self._index
        if index is None:
            index = Index(
                ndim=self._space.matrix.shape[1],
                metric="ip",
                dtype="f32",
                connectivity=_CONNECTIVITY,
                expansion_add=_EXPANSION,
                expansion_search=_EXPANSION,
            )
        held = {int(key) for key in index.keys}
        gone = sorted(held - self._rows.keys())
        fresh = sorted(self._rows.keys() - held)
        if not gone and not fresh:
            return
        if gone:
            index.remove(_as_keys(gone))
        if fresh:
            index.add(_as_keys(fresh), self._space.matrix[[self._rows[key] for key in fresh]])
        # Held, so that what a killed process left half-written is swept.
        with locked_folder(self._path.parent, within=self._path.parent):
            unfinished = self._path.with_name(f".{self._path.name}.unfinished")
            index.save(str(unfinished))
            unfinished.replace(self._path)
        self._adopt(index)

    def nearest(self, query: "Matrix", k: int) -> list[tuple[T, float]]:
        """Return members most similar to a vector, almost always the very nearest k."""
        if self._index is None:
            return self._space.nearest(query, k)
        found: Any = self._index.search(query, max(2 * k, _MIN_CANDIDATES) + self._gone)
        rows = {self._rows[key] for key in map(int, found.keys) if key in self._rows}
        some = sorted(rows.union(self._unknown))
        if len(some) < min(k, len(self._space.members)):
            return self._space.nearest(query, k)
        members = [self._space.members[row] for row in some]
        return Space(members, self._space.matrix[some]).nearest(query, k)

    @cached_property
    def _rows(self) -> dict[int, int]:
        """The row of each key; of rows that are alike in everything, the first."""
        rows: dict[int, int] = {}
        for row, member in enumerate(self._space.members):
            named = repr(member).encode("utf-8", "replace") + self._space.matrix[row].tobytes()
            key = int.from_bytes(hashlib.blake2b(named, digest_size=8).digest()) >> 1
            rows.setdefault(key, row)
        return rows

    def _adopt(self, index: Any) -> None:
        self._index, self._unknown, self._gone = None, [], 0
        if index is None or index.ndim != self._space.matrix.shape[1]:
            return
        held = {int(key) for key in index.keys}
        known = held & self._rows.keys()
        if len(known) < _WORTH * len(self._rows):
            return
        self._index = index
        self._gone = len(held) - len(known)
        self._unknown = [row for key, row in self._rows.items() if key not in known]


def _as_keys(keys: Sequence[int]) -> Any:
    import numpy as np

    return np.array(keys, dtype=np.uint64)


_MAX_OPEN: Final = 8
_HASH_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Indexing:
    """Where indexes are kept, if anywhere, and up to which size none is needed."""

    folder: Path | None = None
    exact_up_to: int = EXACT_UP_TO

    def path(self, part: str, partition: str) -> Path | None:
        """Return the file of a partition's index."""
        if self.folder is None:
            return None
        name = digest_bytes(partition.encode("utf-8", "replace"))[:_HASH_CHARS]
        return self.folder / f"{part}-{name}.usearch"


@dataclass(frozen=True, slots=True)
class Searchable(Generic[T]):
    """A space at one version, and its index if it is large enough for one."""

    version: int
    space: Space[T]
    approximate: Approximate[T] | None

    def nearest(
        self, query: "Matrix", k: int, is_wanted: Callable[[T], bool] | None = None
    ) -> list[tuple[T, float]]:
        """Return the k wanted members most similar to a vector; a filtered search is exact."""
        if self.approximate is None or is_wanted is not None:
            return self.space.nearest(query, k, is_wanted)
        return self.approximate.nearest(query, k)


class VectorSpaces(Generic[T]):
    """Keeps the spaces last used, and drops those whose version is past."""

    def __init__(self, part: str, indexing: Indexing) -> None:
        """Take what the spaces are of and how they are indexed."""
        self._part = part
        self._indexing = indexing
        self._open: dict[str, Searchable[T]] = {}

    def get(self, partition: str, version: int, load: Callable[[], Space[T]]) -> Searchable[T]:
        """Return the space of a partition at a version, loaded unless it is at hand."""
        known = self._open.pop(partition, None)
        if known is None or known.version != version:
            known = self._searchable(partition, version, load())
        while len(self._open) >= _MAX_OPEN:
            self._open.pop(next(iter(self._open)), None)
        self._open[partition] = known
        return known

    def _searchable(self, partition: str, version: int, space: Space[T]) -> Searchable[T]:
        path = self._indexing.path(self._part, partition)
        if path is None or len(space.members) <= self._indexing.exact_up_to:
            return Searchable(version, space, None)
        approximate = Approximate(space, path)
        approximate.load()
        return Searchable(version, space, approximate)
