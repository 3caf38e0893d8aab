"""Token budgets per model tier, as data. Refuses a table whose sums do not add up."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.parsing import load_yaml
from callboard.core.vocabulary import ModelTier
from callboard.prompts.errors import AssemblyInvalid
from callboard.prompts.layers import History, Turn

_FILE: Final = Path(__file__).parent / "bundled" / "budgets.yaml"
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


def load_budgets(path: Path = _FILE) -> dict[ModelTier, TierBudget]:
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
