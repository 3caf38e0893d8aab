"""The spaces that are in use: each of one version, the large ones with an index beside them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from callboard.core.canonical import digest_bytes
from callboard.knowledge.vectors.approximate import EXACT_UP_TO, Approximate
from callboard.knowledge.vectors.space import Space

if TYPE_CHECKING:
    from callboard.knowledge.embedding import Matrix

T = TypeVar("T")

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


class Shelf(Generic[T]):
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
