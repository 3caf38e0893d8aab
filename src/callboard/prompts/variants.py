"""Tier variants of a template: two notations, one lookup. Knows no files."""

import re
from enum import StrEnum
from typing import Final

from callboard.core.vocabulary import ModelTier
from callboard.prompts.errors import TemplateInvalid


class TemplateVariant(StrEnum):
    """How much a template asks of its reader, from tiny decisions to a full synthesis."""

    T1 = "t1"
    T3 = "t3"
    T5 = "t5"


Tier = ModelTier | int | str | None
"""What a caller may say: `full`, `t3`, `4`, or nothing."""

_SPELLINGS: Final[dict[TemplateVariant, tuple[str, str]]] = {
    TemplateVariant.T1: ("t1", "minimal"),
    TemplateVariant.T3: ("t3", "medium"),
    TemplateVariant.T5: ("t5", "full"),
}
_BY_SPELLING: Final = {word: v for v, words in _SPELLINGS.items() for word in words}
_ORDERS: Final[dict[TemplateVariant, tuple[TemplateVariant, ...]]] = {
    TemplateVariant.T1: (TemplateVariant.T1, TemplateVariant.T3, TemplateVariant.T5),
    TemplateVariant.T3: (TemplateVariant.T3, TemplateVariant.T1, TemplateVariant.T5),
    TemplateVariant.T5: (TemplateVariant.T5, TemplateVariant.T3, TemplateVariant.T1),
}
_DIGITS: Final = re.compile(r"[0-9]{1,4}")


def variant_for(tier: Tier) -> TemplateVariant:
    """Return the variant a tier asks for; no tier asks for the middle one."""
    if tier is None or tier == "":
        return TemplateVariant.T3
    if isinstance(tier, int):
        return _by_number(tier)
    word = tier.strip().lower()
    known = _BY_SPELLING.get(word)
    if known is not None:
        return known
    if _DIGITS.fullmatch(word):
        return _by_number(int(word))
    raise TemplateInvalid(
        f"Tier {tier!r} is not known.",
        fix="Use full, medium, minimal, t1, t3, t5 or a number from 1.",
        tier=tier,
    )


def fallback_order(variant: TemplateVariant) -> tuple[TemplateVariant, ...]:
    """Return the variants to try for one, closest first."""
    return _ORDERS[variant]


def spellings(variant: TemplateVariant) -> tuple[str, str]:
    """Return the two words a file name or a block may use for a variant."""
    return _SPELLINGS[variant]


def variant_named(word: str) -> TemplateVariant | None:
    """Return the variant a word in a file name or a block stands for."""
    return _BY_SPELLING.get(word.strip().lower())


def _by_number(tier: int) -> TemplateVariant:
    if tier < 1:
        raise TemplateInvalid(
            f"Tier {tier} is not known.", fix="Numeric tiers start at 1.", tier=tier
        )
    if tier <= 2:
        return TemplateVariant.T1
    return TemplateVariant.T3 if tier <= 4 else TemplateVariant.T5
