"""A space of vectors: which are nearest to one, exactly, with any of them left out.

A filter never starves a search: k come back whenever k are there that may.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from callboard.knowledge.errors import DimensionsDiffer

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from callboard.knowledge.embedding import Matrix

T = TypeVar("T")


@dataclass(frozen=True)
class Space(Generic[T]):
    """Rows of a matrix and what each stands for, in a fixed order."""

    members: Sequence[T]
    matrix: "Matrix"

    def nearest(
        self,
        query: "NDArray[numpy.float32]",
        k: int,
        is_wanted: Callable[[T], bool] | None = None,
    ) -> list[tuple[T, float]]:
        """Return the k wanted members most similar to a vector; of equals the earlier one."""
        import numpy as np

        if query.shape != (self.matrix.shape[1],):
            raise DimensionsDiffer(
                f"The query has {query.shape} dimensions, the vectors {self.matrix.shape[1]}.",
                fix="Embed the query with the model the vectors were made with.",
            )
        chosen = self._chosen(is_wanted)
        k = min(k, len(chosen))
        if k <= 0:
            return []
        whole = len(chosen) == len(self.members)
        scores = (self.matrix if whole else self.matrix[chosen]) @ query
        if k < len(scores):
            # All that tie with the last one stay in, so that the order decides, not the partition.
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            kept = np.flatnonzero(scores >= least)
        else:
            kept = np.arange(len(scores))
        order = kept[np.lexsort((kept, -scores[kept]))][:k]
        return [(self.members[chosen[each]], float(scores[each])) for each in order.tolist()]

    def _chosen(self, is_wanted: Callable[[T], bool] | None) -> Sequence[int]:
        if is_wanted is None:
            return range(len(self.members))
        return [number for number, each in enumerate(self.members) if is_wanted(each)]
