"""Comparison: which claims cannot both be true, and how much that matters.

Only what has one value at a time is compared, and only values brought to a comparable form.
"""

from dataclasses import dataclass, replace
from typing import Final

from callboard.library.story.facts.claims import SINGLE_VALUED, Attribute, Claim
from callboard.library.story.facts.patterns.lives import ladders_of
from callboard.library.story.facts.patterns.ties import opposite
from callboard.library.story.model import Severity

# What was so in a remembered time need not be so now.
_PASSING: Final = frozenset({Attribute.AGE, Attribute.RANK, Attribute.HAIR, Attribute.HEIGHT})


@dataclass(frozen=True, slots=True)
class Leeway:
    """How far two numbers may lie apart before anybody minds."""

    # A birthday may lie between two scenes, or between the card and the scene.
    age_years: int = 1
    # Feet and inches round what centimetres say.
    height_cm: int = 5


@dataclass(frozen=True, slots=True)
class Clash:
    """Two claims that cannot both be true; the earlier or the canon's comes first."""

    first: Claim
    second: Claim
    severity: Severity
    confidence: float


def oriented(claim: Claim) -> Claim:
    """Return a tie of kin seen from one fixed side, so that both sides of it can meet."""
    if claim.attribute is not Attribute.KIN or claim.other is None or claim.entity < claim.other:
        return claim
    return replace(claim, entity=claim.other, other=claim.entity, value=opposite(claim.value))


def is_comparable(claim: Claim) -> bool:
    """Say whether a claim has a form in which it can contradict another."""
    if claim.attribute not in SINGLE_VALUED:
        return False
    if claim.looks_back and claim.attribute in _PASSING:
        return False
    return bool(claim.value.families) or claim.value.is_range


def clash(first: Claim, second: Claim, leeway: Leeway) -> Clash | None:
    """Return the contradiction between two claims of the same subject, if there is one."""
    if not (is_comparable(first) and is_comparable(second)):
        return None
    first, second = oriented(first), oriented(second)
    if first.subject != second.subject or do_agree(first, second, leeway):
        return None
    if first.attribute is Attribute.RANK and not _on_one_ladder(first, second):
        return None
    severity, confidence = _weight(first, second, leeway)
    weakest = min(confidence, first.confidence, second.confidence)
    return Clash(first, second, severity, round(weakest, 2))


def do_agree(first: Claim, second: Claim, leeway: Leeway) -> bool:
    """Say whether two claims of one subject can both be true."""
    height = leeway.height_cm if first.attribute is Attribute.HEIGHT else 0
    return first.value.agrees_with(second.value, height)


def _on_one_ladder(first: Claim, second: Claim) -> bool:
    return bool(ladders_of(first.value.text) & ladders_of(second.value.text))


def _weight(first: Claim, second: Claim, leeway: Leeway) -> tuple[Severity, float]:
    if first.is_spoken or second.is_spoken:
        return Severity.MINOR, 0.5
    attribute = first.attribute
    if attribute is Attribute.ORIGIN:
        return Severity.MINOR, 0.5
    if attribute is Attribute.AGE and first.value.agrees_with(second.value, leeway.age_years):
        return Severity.MINOR, 0.5
    if attribute is Attribute.RANK and not first.is_canon:
        return Severity.MINOR, 0.6
    return Severity.MAJOR, 0.9
