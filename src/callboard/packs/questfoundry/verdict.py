"""Verdict: what a gatecheck found, bar by bar, and what follows from it.

The decision is computed from the bars and never stated. A model may only make a bar worse, or judge
what code left unknown. A waiver lets a red finding pass with a human's name under it, except where
none may.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final, Literal

from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, ErrorTier, Fault

GateMode = Literal["pre_gate", "gatecheck", "spot_check"]


class Bar(StrEnum):
    """The eight things a branching book is held to."""

    INTEGRITY = "integrity"
    REACHABILITY = "reachability"
    NONLINEARITY = "nonlinearity"
    GATEWAYS = "gateways"
    STYLE = "style"
    DETERMINISM = "determinism"
    PRESENTATION = "presentation"
    ACCESSIBILITY = "accessibility"


class BarStatus(StrEnum):
    """How a bar stands. Unknown is not looked at, or not decided; it never counts as green."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    NA = "na"
    UNKNOWN = "unknown"


class GateDecision(StrEnum):
    """What follows from the bars."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    CONDITIONAL_PASS = "conditional_pass"  # noqa: S105 - a verdict, no secret
    BLOCK = "block"


_RANK: Final = {
    BarStatus.NA: 0,
    BarStatus.GREEN: 1,
    BarStatus.UNKNOWN: 2,
    BarStatus.YELLOW: 3,
    BarStatus.RED: 4,
}
_FAULTY: Final = (BarStatus.YELLOW, BarStatus.RED)
# What no name is enough for: it would spoil the story or break the book for its readers.
NEVER_WAIVED: Final = frozenset({"spoiler", "dead_link"})
# Where a red bar stands that no finding places: a reader's judgement of the whole.
WHOLE: Final = "book"


class GateRefused(CallboardError):
    """A report, an opinion or a waiver that breaks a rule of the gatecheck."""

    code = "quest_gate_refused"
    tier = ErrorTier.USER_FIXABLE
    fault = Fault.UNUSABLE


@dataclass(frozen=True, slots=True)
class BarFinding:
    """One fault: where, what shows it, the smallest change that mends it, and whose it is."""

    check: str
    status: BarStatus
    place: str
    evidence: str
    smallest_fix: str
    owner_role: str
    loop: str
    target_step: str


@dataclass(frozen=True, slots=True)
class BarVerdict:
    """One bar. `facts` are no faults but worth knowing: hubs, bottlenecks, how much was read."""

    bar: Bar
    status: BarStatus
    evidence: str
    source: Literal["code", "llm"] = "code"
    smallest_fix: str = ""
    owner_role: str = ""
    target_step: str = ""
    findings: tuple[BarFinding, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BarWaiver:
    """A human's word that one red finding may pass, for a while.

    `scope` is the place of the finding, or `book` for a red that a reader gave the whole bar. A
    waiver that names no check is for whatever stands at its place.
    """

    bar: Bar
    rationale: str
    scope: str
    expires: date
    human: str
    check: str = ""
    id: str = ""

    def covers(self, bar: Bar, finding: BarFinding) -> bool:
        """Say whether a finding is what was waived; some are never."""
        is_here = self.bar is bar and self.scope == finding.place
        is_named = self.check in ("", finding.check)
        return is_here and is_named and finding.check not in NEVER_WAIVED


@dataclass(frozen=True, slots=True)
class BarRemedy:
    """What has to be done, by whom and at which step."""

    bar: Bar
    fix: str
    owner_role: str
    target_step: str
    loop: str = ""


@dataclass(frozen=True, slots=True)
class CheckedArtifact:
    """Something that was judged, by its content."""

    artifact_id: str
    sha256: str


@dataclass(frozen=True)
class GatecheckReport(Coded):
    """A gatecheck, whole. A stated decision that does not follow from the bars is refused."""

    mode: GateMode
    scope: str
    bars: tuple[BarVerdict, ...]
    decision: GateDecision
    why: str
    remediation: tuple[BarRemedy, ...] = ()
    waivers: tuple[BarWaiver, ...] = ()
    checked: tuple[CheckedArtifact, ...] = ()
    snapshot: str | None = None

    def __post_init__(self) -> None:
        """Refuse what does not follow."""
        derived = decide(self.bars, self.waivers)
        if self.decision is not derived:
            raise GateRefused(
                f"The report says {self.decision.value!r}, its bars say {derived.value!r}",
                fix="Leave the decision out: it is computed from the bars.",
            )
        for each in self.bars:
            _complete(each)

    def bar(self, bar: Bar) -> BarVerdict:
        """Return how one bar stands."""
        return next(each for each in self.bars if each.bar is bar)

    @property
    def findings(self) -> tuple[BarFinding, ...]:
        """Every finding of every bar."""
        return tuple(finding for each in self.bars for finding in each.findings)


def report_of(
    bars: Iterable[BarVerdict], *, mode: GateMode = "gatecheck", scope: str = "book"
) -> GatecheckReport:
    """Put bars together; decision, reason and remedies follow from them."""
    return _derived(GatecheckReport(mode, scope, (), GateDecision.PASS, ""), tuple(bars), ())


def decide(bars: Iterable[BarVerdict], waivers: Iterable[BarWaiver] = ()) -> GateDecision:
    """Any red blocks; anything yellow, unknown or waived makes it conditional."""
    given = tuple(waivers)
    most = _RANK[BarStatus.YELLOW]
    worst = max(
        (
            min(most, _RANK[each.status]) if is_waived(each, given) else _RANK[each.status]
            for each in bars
        ),
        default=0,
    )
    if worst == _RANK[BarStatus.RED]:
        return GateDecision.BLOCK
    return GateDecision.CONDITIONAL_PASS if worst > 1 else GateDecision.PASS


def is_waived(verdict: BarVerdict, waivers: Iterable[BarWaiver]) -> bool:
    """Say whether all that makes a bar red is waived."""
    given = [each for each in waivers if each.bar is verdict.bar]
    reds = [each for each in verdict.findings if each.status is BarStatus.RED]
    if not reds:
        return any(each.scope == WHOLE for each in given)
    return all(any(each.covers(verdict.bar, red) for each in given) for red in reds)


def worsened(report: GatecheckReport, opinions: Iterable[BarVerdict]) -> GatecheckReport:
    """Take a model's verdicts in: what is better than the code's word changes nothing."""
    bars = {each.bar: each for each in report.bars}
    for opinion in opinions:
        stands = bars.get(opinion.bar)
        if stands is None or stands.status is BarStatus.NA or opinion.status is BarStatus.NA:
            continue
        is_worse = _RANK[opinion.status] > _RANK[stands.status]
        is_open = stands.status is BarStatus.UNKNOWN and opinion.status is not BarStatus.UNKNOWN
        if is_worse or is_open:
            bars[opinion.bar] = _complete(
                replace(
                    stands,
                    status=opinion.status,
                    evidence=opinion.evidence,
                    source="llm",
                    smallest_fix=opinion.smallest_fix,
                    owner_role=opinion.owner_role,
                    target_step=opinion.target_step,
                )
            )
    return _derived(report, tuple(bars.values()), report.waivers)


def waived(report: GatecheckReport, waivers: Iterable[BarWaiver]) -> GatecheckReport:
    """Return a report with the waivers that are about something red in it, and what follows."""
    red = [each for each in report.bars if each.status is BarStatus.RED]
    used = [
        waiver
        for waiver in waivers
        if any(
            any(waiver.covers(each.bar, found) for found in each.findings)
            or (waiver.bar is each.bar and waiver.scope == WHOLE and is_waived(each, [waiver]))
            for each in red
        )
    ]
    return _derived(report, report.bars, tuple(used))


def _derived(
    report: GatecheckReport, bars: tuple[BarVerdict, ...], waivers: tuple[BarWaiver, ...]
) -> GatecheckReport:
    decision = decide(bars, waivers)
    told = [
        f"{each.bar.value} {'waived' if is_waived(each, waivers) else each.status.value}"
        for each in bars
        if _RANK[each.status] > 1
    ]
    return replace(
        report,
        bars=bars,
        waivers=waivers,
        decision=decision,
        why="; ".join(told) or "every bar that was asked for is green",
        remediation=tuple(dict.fromkeys(_remedies(bars, waivers))),
    )


def _remedies(bars: Iterable[BarVerdict], waivers: Sequence[BarWaiver]) -> Iterable[BarRemedy]:
    for each in bars:
        is_settled = not each.findings and is_waived(each, waivers)
        if each.source == "llm" and each.status in _FAULTY and not is_settled:
            yield BarRemedy(each.bar, each.smallest_fix, each.owner_role, each.target_step)
        for found in each.findings:
            if any(waiver.covers(each.bar, found) for waiver in waivers):
                continue
            yield BarRemedy(
                each.bar, found.smallest_fix, found.owner_role, found.target_step, found.loop
            )


def _complete(verdict: BarVerdict) -> BarVerdict:
    needed = ("evidence", "smallest_fix", "owner_role", "target_step")
    if verdict.status in _FAULTY and not all(getattr(verdict, name) for name in needed):
        raise GateRefused(
            f"{verdict.bar.value} is {verdict.status.value} without all of {', '.join(needed)}",
            fix="Say what shows it, the smallest fix, who makes it and at which step.",
        )
    return verdict
