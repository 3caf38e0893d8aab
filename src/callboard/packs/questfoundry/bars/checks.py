"""Checks: every check by its name, and how what it finds is told. The names are data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, cast

from callboard.core.bundled import bundled_yaml
from callboard.core.codec import decode
from callboard.packs.questfoundry.verdict import Bar, BarFinding, BarStatus, BarVerdict

# So many findings of one check are told one by one; the places of the rest stand in the last.
MOST_OF_ONE: Final = 50
_WORST: Final = (BarStatus.RED, BarStatus.YELLOW, BarStatus.UNKNOWN)


@dataclass(frozen=True, slots=True)
class BarCheck:
    """A check: whose bar and work it is, and what it proves."""

    name: str
    bar: Bar
    status: BarStatus
    owner: str
    step: str
    fix: str
    proves: str
    cannot: str


@cache
def bar_checks() -> Mapping[str, BarCheck]:
    """Return every check by its name."""
    held = cast("dict[str, dict[str, Any]]", bundled_yaml(__package__ or "", "checks.yaml"))
    return {name: decode(BarCheck, {"name": name, **each}) for name, each in held.items()}


@cache
def words_of_bars(group: str) -> Any:
    """Return one group of the lexicon: a list as it stands, words in one line as a set."""
    held: Any = bundled_yaml(__package__ or "", "lexicon.yaml")[group]
    return frozenset(held.split()) if isinstance(held, str) else tuple(held)


def found(
    check: str, place: str, evidence: str, *, status: BarStatus | None = None, fix: str = ""
) -> BarFinding:
    """Tell what a check found somewhere."""
    by = bar_checks()[check]
    loop, _, step = by.step.partition("/")
    return BarFinding(
        check, status or by.status, place, evidence, fix or by.fix, by.owner, loop, step
    )


def verdict_of(
    bar: Bar, findings: Iterable[BarFinding], looked_at: str, facts: tuple[str, ...] = ()
) -> BarVerdict:
    """Sum up a bar: as bad as its worst finding, green if there is none."""
    told = _shortened(findings)
    if not told:
        return BarVerdict(bar, BarStatus.GREEN, looked_at, facts=facts)
    worst = next(status for status in _WORST if any(each.status is status for each in told))
    first = next(each for each in told if each.status is worst)
    return BarVerdict(
        bar,
        worst,
        f"{first.place}: {first.evidence}" if first.place else first.evidence,
        smallest_fix=first.smallest_fix,
        owner_role=first.owner_role,
        target_step=first.target_step,
        findings=told,
        facts=facts,
    )


def _shortened(findings: Iterable[BarFinding]) -> tuple[BarFinding, ...]:
    kinds: dict[tuple[str, BarStatus], list[BarFinding]] = {}
    for each in findings:
        kinds.setdefault((each.check, each.status), []).append(each)
    told: list[BarFinding] = []
    for group in kinds.values():
        told += group[:MOST_OF_ONE]
        rest = group[MOST_OF_ONE:]
        if rest:
            places = ", ".join(dict.fromkeys(each.place for each in rest))
            told.append(
                replace(rest[0], place="", evidence=f"{len(rest)} more of the same: {places}")
            )
    return tuple(told)
