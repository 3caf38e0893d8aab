"""Factual: claims of the files against each other, in story order.

A change the text tells of is worth knowing, not a contradiction; from then on the new value holds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from callboard.library.story.facts.claims import SPOKEN_NAMES, Attribute, FactClaim, Value
from callboard.library.story.facts.comparison import (
    FactClash,
    Leeway,
    clash,
    do_agree,
    is_comparable,
    oriented,
)
from callboard.library.story.facts.values import StoryDate
from callboard.library.story.model import Severity, StoryFinding
from callboard.library.story.tools.report import make_finding

TOOL = "consistency_checker"
_MANY: Final = 99
_LONG_YEARS: Final = 10
_WIDER: Final = {
    "sisters": "siblings",
    "brothers": "siblings",
    "sons": "children",
    "boys": "children",
    "daughters": "children",
}
_SHARED: Final = frozenset({"children", "sons", "boys", "daughters"})
_IN_LAW: Final = re.compile(r"-in-law|step|foster|half")


@dataclass(slots=True)
class _KnownClaims:
    """What holds of one subject so far: every distinct value, canon's first."""

    claims: list[FactClaim] = field(default_factory=list[FactClaim])


def find_factual(
    claims: Iterable[FactClaim], days: Mapping[str, StoryDate], leeway: Leeway
) -> Iterator[StoryFinding]:
    """Yield the contradictions among claims given in story order; `days` are by path."""
    known: dict[object, _KnownClaims] = {}
    told = list(claims)
    couples = _couples(told)
    for claim in (each for one in told for each in _implied(one)):
        if not is_comparable(claim):
            continue
        seen = oriented(_of_couple(claim, couples))
        held = known.setdefault(seen.subject, _KnownClaims())
        if any(do_agree(each, seen, leeway) for each in held.claims):
            continue
        # Of two reckoned people one may be somebody else.
        rivals = [each for each in held.claims if not (each.is_reckoned and seen.is_reckoned)]
        found = next(
            (hit for each in rivals if (hit := clash(each, seen, leeway)) is not None), None
        )
        if found is not None and found.first.quote == found.second.quote:
            # One sentence that says two things is a turn of phrase.
            continue
        if found is not None and not _grew_older(found, days):
            if claim.tells_change:
                held.claims.clear()
            yield _finding(found, days)
        held.claims.append(seen)


def _implied(claim: FactClaim) -> Iterator[FactClaim]:
    """Yield a claim and what follows from it: who has a sister is no only child."""
    yield claim
    if claim.attribute is Attribute.KIN and claim.other is not None:
        families = claim.value.families
        if "sibling" in families and _IN_LAW.search(claim.value.text) is None:
            some = Value(f"a {claim.value.text}", low=1, high=_MANY)
            for one in (claim.entity, claim.other):
                yield replace(
                    claim,
                    entity=one,
                    other=None,
                    attribute=Attribute.COUNT,
                    value=some,
                    topic="siblings",
                )
        return
    if claim.attribute is not Attribute.COUNT or claim.value.low is None:
        return
    wider = _WIDER.get(claim.topic or "")
    if wider is not None and claim.value.low > 0:
        value = Value(claim.value.text, low=claim.value.low, high=_MANY)
        yield replace(claim, topic=wider, value=value)


def _couples(claims: Iterable[FactClaim]) -> frozenset[str]:
    """Return the family names of which both a Mr. and a Mrs. are spoken of."""
    names = {claim.entity for claim in claims}
    return frozenset(
        family
        for name in names
        if (family := _family(name, "Mr")) and f"Mrs{name.removeprefix('Mr')}" in names
    )


def _family(name: str, title: str) -> str:
    first, _, family = name.partition(" ")
    return family if first.rstrip(".") == title and " " not in family else ""


def _of_couple(claim: FactClaim, couples: frozenset[str]) -> FactClaim:
    """Let husband and wife have the same children."""
    if claim.attribute is not Attribute.COUNT or claim.topic not in _SHARED:
        return claim
    family = _family(claim.entity, "Mr") or _family(claim.entity, "Mrs")
    return replace(claim, entity=f"Mr. and Mrs. {family}") if family in couples else claim


def _finding(found: FactClash, days: Mapping[str, StoryDate]) -> StoryFinding:
    first, second = found.first, found.second
    what = _subject(first)
    if second.tells_change:
        return make_finding(
            TOOL,
            "Factual",
            Severity.INFO,
            f"{what} changes from {first.value.text} to {second.value.text}; the text says so.",
            (first.quote, second.quote),
            confidence=found.confidence,
        )
    severity, confidence = _weight(found, days)
    return make_finding(
        TOOL,
        "Factual",
        severity,
        f"{what}: {first.value.text} in one place, {second.value.text} in another"
        f"{' (in dialogue)' if first.is_spoken or second.is_spoken else ''}.",
        (first.quote, second.quote),
        suggestion=f"Choose {first.value.text} or {second.value.text}, or tell the change.",
        confidence=confidence,
    )


def _subject(claim: FactClaim) -> str:
    if claim.attribute is Attribute.KIN and claim.other:
        return f"What {claim.entity} is to {claim.other}"
    if claim.attribute is Attribute.SKILL:
        return f"Whether {claim.entity} can {claim.topic}"
    if claim.topic is not None:
        return f"{claim.entity}'s {claim.topic}"
    return f"{claim.entity}'s {SPOKEN_NAMES[claim.attribute]}"


def _grew_older(found: FactClash, days: Mapping[str, StoryDate]) -> bool:
    """Say whether the years between two scenes account for an age."""
    if found.first.attribute is not Attribute.AGE:
        return False
    first, second = days.get(found.first.quote.path), days.get(found.second.quote.path)
    if not first or not second or first.year is None or second.year is None:
        return False
    passed = second.year - first.year
    older = (found.second.value.low or 0) - (found.first.value.high or 0)
    return abs(older - passed) <= 1


def _weight(found: FactClash, days: Mapping[str, StoryDate]) -> tuple[Severity, float]:
    if found.first.attribute is not Attribute.AGE or found.first.is_canon:
        return found.severity, found.confidence
    older = (found.second.value.low or 0) - (found.first.value.high or 0)
    undated = not (days.get(found.first.quote.path) and days.get(found.second.quote.path))
    if older <= 0 or not undated:
        return found.severity, found.confidence
    # Nobody says how much time lies between the scenes; ten years would have been told.
    return Severity.MINOR, 0.5 if older > _LONG_YEARS else 0.4
