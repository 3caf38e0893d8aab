"""Vectors: stored as little-endian float32, and the nearest ones found exactly.

A filter never starves a search: k come back whenever k are there that may.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from callboard.knowledge.errors import DimensionsDiffer, EmbeddingFailed

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from callboard.knowledge.embedding import Embedder, Matrix


_BYTES: Final = 4


def embed_texts(embedder: "Embedder", texts: Sequence[str]) -> list[bytes]:
    """Return one stored vector per text; an embedder that fails or miscounts is refused."""
    if not texts:
        return []
    try:
        made = embedder.embed(texts)
    except Exception as error:  # the border to a replaceable embedder
        raise EmbeddingFailed(
            f"{embedder.name} could not embed {len(texts)} texts: {error}",
            fix="Nothing was stored; see the cause, then try again.",
            embedder=embedder.name,
        ) from error
    if made.shape != (len(texts), embedder.dimensions):
        raise DimensionsDiffer(
            f"{embedder.name} gave {made.shape} for {len(texts)} texts of"
            f" {embedder.dimensions} dimensions.",
            fix="Configure an embedder that keeps its own dimensions.",
        )
    return [row.astype("<f4").tobytes() for row in made]


def stack(stored: Sequence[bytes], dimensions: int) -> "Matrix":
    """Return stored vectors as the rows of a matrix."""
    import numpy as np

    if any(len(each) != dimensions * _BYTES for each in stored):
        raise DimensionsDiffer(
            f"Some stored vectors do not have {dimensions} dimensions.",
            fix="Embed again what was embedded with another model.",
        )
    together: Any = np.frombuffer(b"".join(stored), dtype="<f4")
    return together.reshape(len(stored), dimensions)


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
