"""Scores, scopes and the ledger: what a finding costs, where it belongs, and when it is gone."""

from pathlib import Path
from typing import Any

import pytest
from health_fixture import HEALTH, a_scene, a_view, examine
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.clock import SystemClock
from callboard.packs.writers_factory.health.evaluation import Known, evaluate
from callboard.packs.writers_factory.health.examination import (
    BadScope,
    judged,
    overall_of,
    parse_checks,
    parse_scope,
    score_of,
)
from callboard.packs.writers_factory.health.records import FindingLedger, Look
from callboard.packs.writers_factory.health.values import (
    CheckId,
    CheckStatus,
    HealthCheckResult,
    finding_from_json,
    finding_id,
    finding_to_json,
)
from callboard.packs.writers_factory.model import Evidence, Finding, Severity
from callboard.store.records import Records
from callboard.store.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.anyio

findings = st.builds(
    Finding,
    check_id=st.sampled_from([check.value for check in CheckId]),
    severity=st.sampled_from(Severity),
    title=st.text(max_size=20),
    entities=st.lists(st.text(max_size=8), max_size=3).map(tuple),
    evidence=st.lists(st.builds(Evidence, st.text(max_size=5), st.text(max_size=9))).map(tuple),
    rule=st.sampled_from(["gap", "plateau"]),
    scene_ids=st.lists(st.sampled_from(["ch1-sc1", "ch2-sc1"]), max_size=2).map(tuple),
    is_judged=st.booleans(),
)


def finding(severity: Severity = Severity.WARNING, **changes: Any) -> Finding:
    usual: dict[str, Any] = {
        "check_id": CheckId.TIMELINE.value,
        "severity": severity,
        "title": "It clashes",
        "entities": ("Mara",),
        "rule": "two_places",
        "scene_ids": ("ch1-sc1",),
    }
    return Finding(**{**usual, **changes})


@pytest.mark.req("WF-G61")
@given(st.lists(st.sampled_from(Severity), max_size=8))
def test_a_check_loses_forty_fifteen_and_five_points(severities: list[Severity]) -> None:
    points = {Severity.ERROR: 40, Severity.WARNING: 15, Severity.INFO: 5}
    expected = max(0, 100 - sum(points[each] for each in severities))
    assert score_of([finding(each) for each in severities], HEALTH) == expected


@pytest.mark.req("WF-G61")
@pytest.mark.parametrize(
    ("severity", "status"),
    [
        (Severity.ERROR, CheckStatus.FAIL),
        (Severity.WARNING, CheckStatus.WARN),
        (Severity.INFO, CheckStatus.PASSED),
    ],
)
def test_the_worst_finding_says_how_a_check_came_out(
    severity: Severity, status: CheckStatus
) -> None:
    result = judged(CheckId.CAST, [finding(Severity.INFO), finding(severity)], HEALTH)
    assert result.status is status
    assert result.findings[0].severity is severity


@pytest.mark.req("WF-G61")
def test_the_whole_is_the_mean_of_the_checks_with_data() -> None:
    some = [
        HealthCheckResult("A1", CheckStatus.WARN, 85),
        HealthCheckResult("A2", CheckStatus.FAIL, 60),
        HealthCheckResult("A3", CheckStatus.INSUFFICIENT_DATA),
        HealthCheckResult("B1", CheckStatus.SKIPPED),
    ]
    assert overall_of(some) == 72.5
    assert overall_of(some[2:]) is None


@pytest.mark.req("WF-85", "WF-G61")
def test_an_empty_book_passes_nothing() -> None:
    results = list(evaluate(examine(a_view(characters=())), CheckId, Known()))
    assert [each.check_id for each in results] == [check.value for check in CheckId]
    assert {each.status for each in results} == {CheckStatus.INSUFFICIENT_DATA}


@pytest.mark.req("WF-G61")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "manuscript"),
        ("manuscript", "manuscript"),
        ("ACT:2A", "act:2a"),
        ("act:3", "act:3"),
        (" chapter:12 ", "chapter:12"),
        ("scene:CH4-SC2", "scene:ch4-sc2"),
    ],
)
def test_scopes_are_read_as_the_grammar_says(text: str, shown: str) -> None:
    assert str(parse_scope(text)) == shown


@given(st.text(max_size=20))
@pytest.mark.req("WF-G61")
def test_any_scope_is_read_back_or_refused(text: str) -> None:
    try:
        scope = parse_scope(text)
    except BadScope as refused:
        assert "manuscript" in str(refused.fix)
    else:
        assert parse_scope(str(scope)) == scope


@pytest.mark.req("WF-G61")
def test_a_scope_holds_the_scenes_of_its_act_chapter_or_name() -> None:
    scenes = [a_scene(1, beat_number=1), a_scene(2, beat_number=7), a_scene(3, beat_number=10)]
    view = a_view(*scenes, a_scene(3, 2, beat_number=13))
    held = {
        name: [scene.scene_id for scene in parse_scope(name).scenes(view)]
        for name in ("act:1", "act:2a", "act:2b", "act:3", "chapter:3", "scene:ch2-sc1")
    }
    assert held == {
        "act:1": ["ch1-sc1"],
        "act:2a": ["ch2-sc1"],
        "act:2b": ["ch3-sc1"],
        "act:3": ["ch3-sc2"],
        "chapter:3": ["ch3-sc1", "ch3-sc2"],
        "scene:ch2-sc1": ["ch2-sc1"],
    }


@pytest.mark.req("WF-G61")
def test_checks_are_named_by_id_or_by_their_first_signs() -> None:
    assert parse_checks([]) == tuple(CheckId)
    assert parse_checks(["c2", "A1_pacing_plateau"]) == (CheckId.PACING, CheckId.THEME)


@given(findings)
@pytest.mark.req("WF-G61")
def test_a_finding_is_read_back_as_it_was_stored_and_known_by_what_it_is_about(
    found: Finding,
) -> None:
    assert finding_from_json(finding_to_json(found)) == found
    worse = finding_from_json({**finding_to_json(found), "severity": "error", "title": "Worse"})
    assert finding_id(worse) == finding_id(found)


class Shelf:
    """A ledger on a real database."""

    def __init__(self, folder: Path) -> None:
        self.database = SqliteDatabase.open(folder / "test.db")
        self.ledger = FindingLedger(Records(self.database, "writers_factory", SystemClock()))
        self.now = 0

    async def look(self, *found: Finding, whole: bool = True, partial: bool = False) -> None:
        self.now += 1
        status = CheckStatus.WARN if found else CheckStatus.PASSED
        result = HealthCheckResult(
            CheckId.TIMELINE.value, status, 100, tuple(found), is_partial=partial
        )
        look = Look(f"run_{self.now}", (result,), whole, frozenset({"ch2-sc1"}))
        await self.database.write(lambda c: self.ledger.enter(c, look, self.now))

    def states(self) -> list[str]:
        return [each.state for each in self.ledger.all()]


@pytest.mark.req("WF-G61")
async def test_a_finding_is_updated_not_doubled_and_closed_when_it_is_gone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    await shelf.look(finding())
    await shelf.look(finding(Severity.ERROR))
    (known,) = shelf.ledger.all()
    assert (known.first_seen_at, known.last_seen_at) == (1, 2)
    assert [each.severity for each in shelf.ledger.alerts(5)] == [Severity.ERROR]
    await shelf.look(whole=False)
    assert shelf.states() == ["open"]
    await shelf.look()
    assert shelf.states() == ["fixed"]
    assert shelf.ledger.alerts(5) == ()
    await shelf.look(finding())
    assert shelf.states() == ["open"]
    shelf.database.close()


@pytest.mark.req("WF-G60c", "WF-G61")
async def test_what_a_model_found_is_not_closed_where_no_model_could_look(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    await shelf.look(finding(is_judged=True), finding(rule="dead_acting"))
    await shelf.look(partial=True)
    assert sorted(shelf.states()) == ["fixed", "open"]
    await shelf.look()
    assert shelf.states() == ["fixed", "fixed"]
    shelf.database.close()


@pytest.mark.req("WF-G23", "WF-53")
async def test_alerts_are_the_worst_five(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    many = [finding(Severity.INFO, entities=(f"i{n}",)) for n in range(4)]
    many += [finding(Severity.WARNING, entities=(f"w{n}",)) for n in range(3)]
    await shelf.look(*many, finding(Severity.ERROR, entities=("e",), recommendation="Move it."))
    alerts = shelf.ledger.alerts(5)
    assert [each.severity.value for each in alerts] == [
        "error",
        "warning",
        "warning",
        "warning",
        "info",
    ]
    first = alerts[0]
    assert (first.check, first.finding, first.recommendation) == (
        "A3_timeline_consistency",
        "It clashes",
        "Move it.",
    )
    shelf.database.close()
