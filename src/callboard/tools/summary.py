"""Summaries in prompts: a tool writes one at its fullest, here it is cut to what a tier affords.

A summary is written most important first, a point per line, so that it can be cut at any line.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from callboard.core.vocabulary import ModelTier

SUMMARY_BUDGET_CHARS: Final[Mapping[ModelTier, int]] = MappingProxyType(
    {ModelTier.MINIMAL: 1_500, ModelTier.MEDIUM: 6_000, ModelTier.FULL: 12_000}
)
_CUT: Final = "… ({lines} more lines in the receipt)"


def fit_summary(text: str, budget_chars: int) -> str:
    """Return a summary within a budget, cut after a whole line and saying so.

    A first line that alone is too long is cut inside, for then there is no better place.
    """
    if len(text) <= budget_chars:
        return text
    lines = text.split("\n")
    room = budget_chars - len(_CUT.format(lines=len(lines))) - 1
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    if not kept:
        return text[: max(budget_chars - 1, 0)] + "…" * (budget_chars > 0)
    return "\n".join([*kept, _CUT.format(lines=len(lines) - len(kept))])
