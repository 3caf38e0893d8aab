"""What follows from the bars: computed, only ever worsened by a model, waived by a human's name."""

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.questfoundry.bars.checks import bar_checks, found, verdict_of
from callboard.packs.questfoundry.verdict import (
    Bar,
    BarFinding,
    BarStatus,
    BarVerdict,
    BarWaiver,
    GatecheckReport,
    GateDecision,
    GateMode,
    GateRefused,
    report_of,
    waived,
    worsened,
)
from callboard.packs.questfoundry.waivers import waive

TODAY = date(2026, 11, 18)
WAIVER = BarWaiver(Bar.STYLE, "a letter is in the past", "book", date(2027, 1, 1), "Ann")


def verdict(bar: Bar, status: BarStatus) -> BarVerdict:
    return BarVerdict(bar, status, "seen", "code", "mend it", "plotwright", "step_1_topology_draft")


def report(*statuses: BarStatus) -> GatecheckReport:
    return report_of(verdict(bar, status) for bar, status in zip(Bar, statuses, strict=False))


@pytest.mark.req("QF-92")
@pytest.mark.parametrize(
    ("statuses", "decision"),
    [
        ("green na green", GateDecision.PASS),
        ("green yellow na", GateDecision.CONDITIONAL_PASS),
        ("green unknown na", GateDecision.CONDITIONAL_PASS),
        ("yellow red unknown", GateDecision.BLOCK),
    ],
)
def test_the_decision_follows_from_the_bars(statuses: str, decision: GateDecision) -> None:
    assert report(*(BarStatus(each) for each in statuses.split())).decision is decision


@pytest.mark.req("QF-92")
def test_a_stated_decision_that_does_not_follow_is_refused_also_when_read() -> None:
    blocked = report(BarStatus.RED)
    with pytest.raises(GateRefused):
        replace(blocked, decision=GateDecision.PASS)
    stored = json.loads(json.dumps(blocked.to_json()))
    assert GatecheckReport.from_json(stored) == blocked
    with pytest.raises(GateRefused):
        GatecheckReport.from_json({**stored, "decision": "pass"})


@pytest.mark.req("QF-92")
def test_yellow_and_red_need_evidence_a_fix_an_owner_and_a_step() -> None:
    bare = BarVerdict(Bar.STYLE, BarStatus.RED, "seen")
    with pytest.raises(GateRefused):
        report_of([bare])
    for check in bar_checks().values():
        told = verdict_of(check.bar, [found(check.name, "s1", "seen")], "all")
        assert report_of([told]).remediation[0].owner_role


@pytest.mark.req("QF-93")
@given(
    st.lists(st.sampled_from(BarStatus), min_size=8, max_size=8),
    st.lists(st.sampled_from(BarStatus), min_size=8, max_size=8),
)
def test_a_model_only_worsens_a_bar_or_judges_what_is_unknown(
    by_code: list[BarStatus], by_model: list[BarStatus]
) -> None:
    order = [BarStatus.GREEN, BarStatus.YELLOW, BarStatus.RED]
    opinions = [
        BarVerdict(bar, status, "I think so", "llm", "mend it", "style_lead", "step_4")
        for bar, status in zip(Bar, by_model, strict=True)
    ]
    after = worsened(report(*by_code), opinions)
    for code, model, bar in zip(by_code, by_model, after.bars, strict=True):
        if code is BarStatus.NA:
            assert bar.status is code
        elif code is BarStatus.UNKNOWN:
            assert bar.status is (code if model is BarStatus.NA else model)
        elif model in order:
            assert bar.status is max(code, model, key=order.index)
        else:
            assert bar.status in (code, BarStatus.UNKNOWN)
            assert code is BarStatus.GREEN or bar.status is code


def test_an_opinion_without_a_fix_is_refused() -> None:
    with pytest.raises(GateRefused):
        worsened(report(BarStatus.GREEN), [BarVerdict(Bar.INTEGRITY, BarStatus.RED, "bad", "llm")])


@pytest.mark.req("QF-95")
def test_a_waiver_lets_a_red_bar_pass_on_condition_and_stays_in_the_report() -> None:
    red = report_of([verdict(Bar.STYLE, BarStatus.RED)])
    after = waive(red, WAIVER, today=TODAY)
    assert after.decision is GateDecision.CONDITIONAL_PASS
    assert after.waivers == (WAIVER,)
    assert GatecheckReport.from_json(json.loads(json.dumps(after.to_json()))) == after


@pytest.mark.req("QF-95")
@pytest.mark.parametrize(
    "waiver",
    [
        replace(WAIVER, human=" "),
        replace(WAIVER, rationale=""),
        replace(WAIVER, scope=""),
        replace(WAIVER, expires=TODAY),
    ],
)
def test_a_waiver_needs_a_name_a_reason_a_scope_and_a_later_end(waiver: BarWaiver) -> None:
    with pytest.raises(GateRefused):
        waive(report_of([verdict(Bar.STYLE, BarStatus.RED)]), waiver, today=TODAY)


@pytest.mark.req("QF-95")
@pytest.mark.parametrize("mode", ["pre_gate", "gatecheck", "spot_check"])
@pytest.mark.parametrize("check", ["spoiler", "dead_link"])
def test_spoilers_and_dead_links_are_never_waived(check: str, mode: GateMode) -> None:
    bar = bar_checks()[check].bar
    told = verdict_of(bar, [found(check, "s1", "seen")], "all")
    wanted = replace(WAIVER, bar=bar, scope="s1")
    with pytest.raises(GateRefused, match="s1"):
        waive(report_of([told], mode=mode), wanted, today=TODAY)
    # Nor does one get past by naming the place alone, or the whole bar.
    for each in (wanted, replace(wanted, check=check), replace(wanted, scope="book")):
        assert waived(report_of([told], mode=mode), [each]).decision is GateDecision.BLOCK


@pytest.mark.req("QF-95")
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("tense", "person", "banned")))),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("", "tense", "person", "banned")))),
)
def test_a_bar_passes_only_if_every_red_finding_of_it_is_waived(
    reds: list[tuple[str, str]], names: list[tuple[str, str]]
) -> None:
    rows = [BarFinding(c, BarStatus.RED, p, "seen", "mend", "style_lead", "", "s") for p, c in reds]
    told = replace(verdict(Bar.STYLE, BarStatus.RED), findings=tuple(rows))
    given_ = [replace(WAIVER, scope=place, check=check) for place, check in names]
    after = waived(report_of([told]), given_)
    left = [(p, c) for p, c in reds if not {(p, c), (p, "")} & {*names}]
    is_open = bool(left) or not reds
    assert after.decision is (GateDecision.BLOCK if is_open else GateDecision.CONDITIONAL_PASS)
    assert GatecheckReport.from_json(json.loads(json.dumps(after.to_json()))) == after
