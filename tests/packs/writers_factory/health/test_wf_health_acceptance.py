"""Acceptance scenario 12: what the health checks say about a troubled book, and what they cost."""

from pathlib import Path
from typing import Any

import pytest
from health_fixture import a_judge, check_health, open_book, troubled_book

from callboard.core.vocabulary import RunState
from callboard.packs.writers_factory.health import Health, HealthReport
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.model import Severity

pytestmark = pytest.mark.anyio


def found(report: HealthReport, check: str, rule: str) -> Any:
    """Return the one finding of a rule."""
    result = next(each for each in report.checks if each.check_id.startswith(check))
    (finding,) = [each for each in result.findings if each.rule == rule]
    return finding


@pytest.mark.req("WF-84", "WF-85", "WF-86", "WF-87", "WF-G60a", "WF-G60b", "WF-G60c", "WF-G60d")
@pytest.mark.req("WF-G60f", "WF-G60g", "WF-G61", "WF-G62", "WF-53", "WF-G23")
async def test_scenario_12_health(tmp_path: Path) -> None:
    script = a_judge(theme={"score": 2, "quote": "I climb alone"})
    async with open_book(tmp_path / "book", troubled_book(), script) as workspace:
        run = await check_health(workspace)
        assert run.state is RunState.DONE, run.error
        health = Health(workspace)
        report = health.latest()
        assert report is not None
        gap = found(report, "B1", "gap")
        assert gap.severity is Severity.WARNING
        assert "12 scenes" in gap.title
        assert "ch1-sc2" in gap.title
        assert [each.quote for each in gap.evidence] == ["the knot slipped"]
        assert "Corvin" in gap.recommendation
        midpoint = next(
            each
            for each in report.check("A2_beat_progress").findings
            if each.rule == "unwritten" and "Midpoint" in each.title
        )
        assert midpoint.severity is Severity.INFO
        plateau = found(report, "A1", "plateau")
        assert plateau.severity is Severity.WARNING
        assert "5: 5.0, 6: 5.4, 7: 5.2" in plateau.title
        places = found(report, "A3", "two_places")
        assert places.severity is Severity.ERROR
        assert [each.scene_id for each in places.evidence] == ["ch3-sc1", "ch3-sc2"]
        manuscript = Manuscript(workspace)
        assert all(each.quote in manuscript.text(each.scene_id) for each in places.evidence)
        symbol = found(report, "C1", "recurrence")
        assert (symbol.severity, symbol.entities) == (Severity.INFO, ("lantern",))
        weak = [e for e in report.check("C2_theme_resonance").findings if e.rule == "weak"]
        assert {each.severity for each in weak} == {Severity.ERROR}

        alerts = health.open_alerts()
        assert len(alerts) == 5
        ranks = [list(Severity)[::-1].index(each.severity) for each in alerts]
        assert ranks == sorted(ranks)

        calls = len(script.calls)
        assert calls
        again = await check_health(workspace)
        assert again.state is RunState.DONE
        assert len(script.calls) == calls
        second = health.latest()
        assert second is not None
        assert second.id != report.id
        assert [c.to_json() for c in second.checks] == [c.to_json() for c in report.checks]


@pytest.mark.req("WF-G60g", "WF-84")
async def test_a_low_theme_score_is_overridden_by_the_writer(tmp_path: Path) -> None:
    script = a_judge(theme={"score": 2, "quote": "I climb alone"})
    async with open_book(tmp_path / "book", troubled_book(), script) as workspace:
        health = Health(workspace)
        await check_health(workspace, checks=["C2"])
        assert any("ch1-sc2" in each.finding for each in health.open_alerts(20))
        await health.override_theme("ch1-sc2", 8, "The refusal is the theme turned round.")
        assert not any("ch1-sc2" in each.finding for each in health.open_alerts(20))
        await check_health(workspace, checks=["C2"])
        report = health.latest()
        assert report is not None
        rows = report.check("C2_theme_resonance").details["scenes"]
        row = next(each for each in rows if each["scene_id"] == "ch1-sc2")
        assert (row["score"], row["override"]["score"], row["counted"]) == (2, 8, 8)
        assert row["override_is_stale"] is False

        manuscript = Manuscript(workspace)
        await manuscript.save(
            "ch1-sc2",
            manuscript.text("ch1-sc2") + "\n\nShe climbed on.",
            manuscript.scene("ch1-sc2"),
            reason="edit",
        )
        await check_health(workspace, checks=["C2"])
        report = health.latest()
        assert report is not None
        rows = report.check("C2_theme_resonance").details["scenes"]
        row = next(each for each in rows if each["scene_id"] == "ch1-sc2")
        assert (row["override_is_stale"], row["counted"]) == (True, 2)
        rules = {each.rule for each in report.check("C2_theme_resonance").findings}
        assert "stale_override" in rules


@pytest.mark.req("WF-G61", "WF-53")
async def test_alerts_vanish_after_the_fix_and_stay_one_over_runs(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        health = Health(workspace)
        for _ in range(2):
            await check_health(workspace, checks=["A3"])
        (alert,) = [each for each in health.open_alerts() if "Aldgate" in each.finding]
        assert alert.check == "A3_timeline_consistency"
        await Manuscript(workspace).set_meta("ch3-sc2", story_time="Day 5, night")
        await check_health(workspace, checks=["A3"])
        assert [each for each in health.open_alerts() if "Aldgate" in each.finding] == []
        states = [each.state for each in health.findings() if each.id == alert.finding_id]
        assert states == ["fixed"]
