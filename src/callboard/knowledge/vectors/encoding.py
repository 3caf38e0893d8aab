"""Vectors as bytes: little-endian float32, four bytes per dimension, the same on every machine."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from callboard.knowledge.errors import DimensionsDiffer, EmbeddingFailed

if TYPE_CHECKING:
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
