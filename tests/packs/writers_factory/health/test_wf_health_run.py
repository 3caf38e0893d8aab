"""The health run: scope, cost, crashes, models that are down or small, and the writer's word."""

from pathlib import Path
from typing import Any

import pytest
from health_fixture import (
    FLAW,
    Book,
    a_judge,
    check_health,
    judge_of_scenes,
    open_book,
    troubled_book,
)

from callboard.core.errors import InvalidInput, NotFound
from callboard.core.vocabulary import RunState
from callboard.knowledge import Node
from callboard.models import Failure, Line, ModelRequest, Script
from callboard.packs.writers_factory.health import (
    ChallengeType,
    FlawChallenge,
    Health,
    start_after_chapter,
)
from callboard.packs.writers_factory.health.examination import BadScope
from callboard.packs.writers_factory.manuscript import Manuscript
from callboard.packs.writers_factory.model import PlannedScene, SymbolUse
from callboard.packs.writers_factory.workspace import Workspace
from callboard.store.journal.events import read_events
from callboard.studio.packs import load_pack

pytestmark = pytest.mark.anyio

SMALL: dict[str, Any] = {
    "models": {"default": "script", "catalog": {"script": {"tier": "minimal"}}}
}


def asked(script: Script) -> list[str]:
    """Return which questions were put, in order."""
    return [str(call.request.prompt_type).removeprefix("health/") for call in script.calls]


@pytest.mark.req("WF-G61", "WF-86")
@pytest.mark.parametrize("scope", ["act:4", "chapter:0", "scene:4", "book", "chapter:x"])
async def test_a_bad_scope_is_refused_with_the_grammar(tmp_path: Path, scope: str) -> None:
    async with open_book(tmp_path / "book", Book(), a_judge()) as workspace:
        with pytest.raises(BadScope) as refused:
            await workspace.studio.start("writers_factory/health", {"scope": scope})
        assert repr(scope) in refused.value.message
        assert "act:1|2a|2b|3" in str(refused.value.fix)
        with pytest.raises(BadScope):
            await workspace.studio.start("writers_factory/health", {"checks": ["A9"]})


@pytest.mark.req("WF-G61", "WF-G62")
async def test_a_scope_looks_at_its_scenes_and_leaves_other_findings_alone(tmp_path: Path) -> None:
    script = a_judge()
    async with open_book(tmp_path / "book", troubled_book(), script) as workspace:
        health = Health(workspace)
        await check_health(workspace, scope="chapter:3", checks=["A3", "B1"])
        assert asked(script).count("facts") == 2
        assert asked(script).count("scene") == 2
        report = health.latest()
        assert report is not None
        assert report.scope == "chapter:3"
        skipped = [c.check_id[:2] for c in report.checks if c.status.value == "skipped"]
        assert skipped == ["A1", "A2", "B2", "C1", "C2"]
        assert any("Aldgate" in each.finding for each in health.open_alerts())
        await check_health(workspace, scope="chapter:7")
        assert any("Aldgate" in each.finding for each in health.open_alerts(20))


@pytest.mark.req("WF-G61")
async def test_a_book_without_scenes_has_no_data_and_no_score(tmp_path: Path) -> None:
    script = a_judge()
    async with open_book(tmp_path / "book", Book(), script) as workspace:
        await check_health(workspace, checks=["A1", "A2", "A3", "B1", "C1", "C2"])
        report = Health(workspace).latest()
    assert report is not None
    assert len(report.without_data) == 6
    assert report.overall_score is None
    assert script.calls == []


@pytest.mark.req("WF-G61")
async def test_a_muted_finding_is_no_alert_in_later_runs(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        health = Health(workspace)
        await check_health(workspace, checks=["A1"])
        (alert,) = health.open_alerts()
        with pytest.raises(InvalidInput):
            await health.mute(alert.finding_id, " ")
        with pytest.raises(NotFound):
            await health.mute("find_nothing", "because")
        await health.mute(alert.finding_id, "The calm is the point.")
        assert health.open_alerts() == ()
        await check_health(workspace, checks=["A1"])
        assert health.open_alerts() == ()
        (known,) = health.findings()
        assert (known.state, known.muted_because) == ("open", "The calm is the point.")
        await health.unmute(alert.finding_id)
        assert [each.finding_id for each in health.open_alerts()] == [alert.finding_id]


@pytest.mark.req("WF-G60c", "WF-G61")
async def test_without_a_model_the_rules_speak_and_say_that_it_is_partial(tmp_path: Path) -> None:
    down = Script(Line(fail=Failure(503), times=None))
    async with open_book(tmp_path / "book", troubled_book(), down) as workspace:
        run = await check_health(workspace)
        assert run.state is RunState.DONE
        report = Health(workspace).latest()
        assert report is not None
        timeline = report.check("A3_timeline_consistency")
        assert timeline.is_partial
        assert [each.rule for each in timeline.findings] == ["two_places"]
        assert report.check("B1_flaw_challenge").status.value == "insufficient_data"
        assert report.check("A1_pacing_plateau").status.value == "warn"
        # Once nobody answers, not every scene is tried.
        assert len(down.calls) < 14


@pytest.mark.req("WF-G60c")
async def test_a_reply_that_cannot_be_used_leaves_only_its_scene_open(tmp_path: Path) -> None:
    def scene(request: ModelRequest) -> Any:
        if "Mara counted to 9." in request.prompt_text:
            return Line("I would rather not.", times=None)
        return judge_of_scenes(request)

    async with open_book(tmp_path / "book", troubled_book(), a_judge(scene=scene)) as workspace:
        await check_health(workspace, checks=["B1"])
        report = Health(workspace).latest()
        assert report is not None
        result = report.check("B1_flaw_challenge")
    assert result.is_partial
    assert result.details["unjudged"] == ["ch4-sc1"]


@pytest.mark.req("WF-G62")
async def test_only_a_changed_scene_is_asked_about_again(tmp_path: Path) -> None:
    script = a_judge()
    async with open_book(tmp_path / "book", troubled_book(), script) as workspace:
        await check_health(workspace)
        before = len(script.calls)
        manuscript = Manuscript(workspace)
        await manuscript.save(
            "ch4-sc1", "Mara slept. The night was long.", manuscript.scene("ch4-sc1"), reason="x"
        )
        await check_health(workspace)
        fresh = [str(c.request.prompt_type) for c in script.calls[before:]]
        about = [c for c in script.calls[before:] if "Mara slept." in c.prompt]
    assert len(about) == len(fresh) > 0
    assert fresh.count("health/scene") == 1
    assert fresh.count("health/facts") == 1


@pytest.mark.req("WF-G62")
async def test_a_killed_run_goes_on_without_paying_twice(tmp_path: Path) -> None:
    root = tmp_path / "book"
    first = a_judge(theme=Line(hold="theme", times=None))
    async with open_book(root, troubled_book(), first) as workspace:
        run = await workspace.studio.start("writers_factory/health", {})
        await first.reached("theme")
    heard = asked(first)
    assert heard.count("scene") == 14
    second = a_judge()
    async with open_book(root, troubled_book(), second) as workspace:
        done = await workspace.studio.engine.wait(run.id)
        assert done.state is RunState.DONE
        reports = Health(workspace).reports()
    assert set(asked(second)) == {"theme"}
    assert [each.id for each in reports] == [run.id]


@pytest.mark.req("WF-G61")
async def test_every_check_is_told_as_it_is_done(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        run = await check_health(workspace)
        events = workspace.studio.database.read(lambda c: read_events(c, run_id=run.id))
        bodies: list[Any] = [e.body for e in events if e.body.type == "emitted"]
        told = [each.data["check"] for each in bodies if each.name == "health.check"]
    assert [each[:2] for each in told] == ["A1", "A2", "A3", "B1", "B2", "C1", "C2"]


@pytest.mark.req("WF-84", "WF-G60d")
async def test_the_writers_word_on_a_challenge_counts_at_once(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        health = Health(workspace)
        await check_health(workspace, checks=["B1"])
        assert health.flaw_gap() == 12
        assert len(health.open_alerts()) == 1
        own = FlawChallenge("ch6-sc1", FLAW, ChallengeType.GROWTH, 7, "Mara counted to 13.")
        await health.record_challenge(own)
        assert health.flaw_gap() == 3
        assert health.open_alerts() == ()
        assert [each.detected_by for each in health.challenges()] == ["llm", "writer"]
        await health.deny_challenge("ch6-sc1")
        assert health.flaw_gap() == 12
        assert len(health.open_alerts()) == 1
        with pytest.raises(InvalidInput):
            await health.record_challenge(
                FlawChallenge("ch6-sc1", FLAW, ChallengeType.TEST, 3, "no such words here")
            )


@pytest.mark.req("WF-G60a", "WF-G60e", "WF-G60f")
async def test_the_writer_corrects_tension_symbols_and_functions(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        health = Health(workspace)
        await check_health(workspace, checks=["A1", "B2", "C1"])
        for scene in ("ch6-sc1", "ch6-sc2"):
            await health.correct_tension(scene, 9)
        assert Manuscript(workspace).scene("ch6-sc1").tension == 9
        assert not any(each.check.startswith("A1") for each in health.open_alerts(20))
        await health.correct_symbols("ch2-sc1", [SymbolUse("rope", "introduction")])
        assert any("rope" in each.finding for each in health.open_alerts(20))
        await health.set_function("Corvin", "mentor")
        assert any("antagonist" in each.finding for each in health.open_alerts(20))
        for call in (
            health.correct_tension("ch6-sc1", 11),
            health.set_function("Corvin", "decoration"),
            health.set_function("Corvin", "other"),
            health.correct_symbols("ch2-sc1", [SymbolUse("rope", "sideways")]),
            health.override_theme("ch1-sc1", 12, "too good"),
        ):
            with pytest.raises(InvalidInput):
                await call
        with pytest.raises(NotFound):
            await health.override_theme("ch99-sc1", 5, "why not")


# A pack of the same name lends the test a run in which one scene is judged.
JUDGING = """
from callboard.choreography import Stage, choreography
from callboard.packs.writers_factory.health import judge_scene


@choreography
async def judge_one(stage: Stage, scene: str):
    found = await judge_scene(stage, "judge", scene)
    return {**found.to_json(), "is_judged": found.is_judged}
"""


def judging_pack(tmp_path: Path) -> Any:
    root = tmp_path / "pack"
    root.mkdir()
    (root / "play.py").write_text(JUDGING, encoding="utf-8")
    (root / "pack.yaml").write_text(
        "name: writers_factory\nchoreographies: {judge_one: 'play.py:judge_one'}\n",
        encoding="utf-8",
    )
    return load_pack(root)


async def judged(workspace: Workspace, scene: str) -> Any:
    """Judge one scene in a run of its own."""
    run = await workspace.studio.start("writers_factory/judge_one", {"scene": scene})
    done = await workspace.studio.engine.wait(run.id)
    assert done.state is RunState.DONE, done.error
    return done.result


@pytest.mark.req("WF-G60a", "WF-G60d", "WF-G60f", "WF-G62")
async def test_an_accepted_scene_is_judged_once_and_the_writer_has_the_last_word(
    tmp_path: Path,
) -> None:
    script = a_judge()
    book, packs = troubled_book(), (judging_pack(tmp_path),)
    async with open_book(tmp_path / "book", book, script, packs=packs) as workspace:
        first = await judged(workspace, "ch1-sc2")
        assert first["tension"] == 5
        assert first["challenge"]["quote"] == "the knot slipped"
        lit = await judged(workspace, "ch2-sc1")
        assert lit["symbols"] == [{"name": "lantern", "stage": "introduction"}]
        calls = len(script.calls)
        assert await judged(workspace, "ch1-sc2") == first
        assert len(script.calls) == calls
        health = Health(workspace)
        await health.correct_tension("ch1-sc2", 8.5)
        await health.deny_challenge("ch1-sc2")
        again = await judged(workspace, "ch1-sc2")
        assert (again["tension"], again["challenge"]) == (8.5, None)


@pytest.mark.req("WF-G60d")
async def test_a_challenge_whose_quote_is_invented_is_none(tmp_path: Path) -> None:
    told = {"type": "growth", "intensity": 9, "quote": "words that stand nowhere"}

    def scene(request: ModelRequest) -> Any:
        return {**judge_of_scenes(request), "challenge": told}

    book, packs = troubled_book(), (judging_pack(tmp_path),)
    async with open_book(tmp_path / "book", book, a_judge(scene=scene), packs=packs) as workspace:
        found = await judged(workspace, "ch1-sc2")
    assert (found["challenge"], found["tension"]) == (None, 5)


@pytest.mark.req("WF-G60c", "WF-G61")
async def test_a_model_that_cannot_judge_gives_no_figure(tmp_path: Path) -> None:
    script = a_judge()
    async with open_book(tmp_path / "book", troubled_book(), script, **SMALL) as workspace:
        run = await check_health(workspace)
        assert run.state is RunState.DONE, run.error
        # A small model would pick something; it is not asked.
        assert script.calls == []
        report = Health(workspace).latest()
        assert report is not None
        assert report.overall_score is None and "no score" in report.summary
        assert report.check("B1_flaw_challenge").status.value == "insufficient_data"
        assert report.check("C2_theme_resonance").status.value == "insufficient_data"
        timeline = report.check("A3_timeline_consistency")
        assert timeline.is_partial and timeline.score is None
        assert [each.rule for each in timeline.findings] == ["two_places"]
        manuscript = Manuscript(workspace)
        quotes = [e for c in report.checks for f in c.findings for e in f.evidence]
        assert quotes
        assert all(each.quote in manuscript.text(each.scene_id) for each in quotes)


async def test_a_scene_of_nonsense_passes_nothing_it_was_not_judged_for(tmp_path: Path) -> None:
    book = Book()
    book.add(1, 1, "Blorp the wug never snib. " * 60, beat_number=2, characters=("Mara",))
    async with open_book(tmp_path / "book", book, a_judge(), **SMALL) as workspace:
        await check_health(workspace)
        report = Health(workspace).latest()
        assert report is not None and report.overall_score is None
        judged = ("A3_timeline_consistency", "B1_flaw_challenge", "C2_theme_resonance")
        assert all(report.check(each).status.value != "pass" for each in judged)
        assert all(report.check(each).score is None for each in judged)


async def test_what_the_prose_contradicts_is_found_without_a_model(tmp_path: Path) -> None:
    book = Book()
    book.add(
        1,
        1,
        "At the gate Mara met Corvin. She knew Corvin well. Corvin had green eyes and a scar.\n\n"
        "Jonas died that night. They buried Jonas under the elm in the morning.",
        characters=("Mara", "Corvin", "Jonas"),
    )
    book.add(1, 2, "Mara counted the boats. " * 20, characters=("Mara",))
    book.add(
        2,
        1,
        'There stood Corvin. Corvin had brown eyes. "You came," Jonas said, and laughed. Jonas '
        "took the oars and rowed.",
        characters=("Mara", "Corvin", "Jonas"),
    )
    down = Script(Line(fail=Failure(503), times=None))
    async with open_book(tmp_path / "book", book, down) as workspace:
        graph = workspace.studio.knowledge.graph("story")
        await graph.merge([Node("character:jonas", "character", "Jonas")], [])
        await check_health(workspace, checks=["A3"])
        report = Health(workspace).latest()
        assert report is not None
        found = report.check("A3_timeline_consistency")
        assert found.status.value == "fail"
        told = " ".join(each.title for each in found.findings)
        assert "Jonas" in told and "Corvin" in told
        eyes = next(each for each in found.findings if "Corvin" in each.title)
        assert set(eyes.scene_ids) == {"ch1-sc1", "ch2-sc1"}
        assert not eyes.is_judged
        dead = [each for each in found.findings if "Jonas" in each.title]
        assert len(dead) == 1, "told once, whoever found it"


@pytest.mark.req("WF-G61")
async def test_a_complete_chapter_starts_a_run_once_and_nobody_waits(tmp_path: Path) -> None:
    book = troubled_book()
    script = a_judge(scene=Line(hold="judge", times=None))
    async with open_book(tmp_path / "book", book, script) as workspace:
        manuscript = Manuscript(workspace)
        planned = [PlannedScene(e.meta.chapter, e.meta.scene, e.meta.scene_id) for e in book.scenes]
        await manuscript.set_outline([*planned, PlannedScene(7, 3, "still to come")])
        assert await start_after_chapter(workspace, "ch7-sc1") is None
        run_id = await start_after_chapter(workspace, "ch3-sc2")
        assert run_id is not None
        await script.reached("judge")
        assert await start_after_chapter(workspace, "ch3-sc1") == run_id
        script.release("judge")


@pytest.mark.req("WF-G61")
async def test_no_run_is_started_where_the_settings_say_so(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        file = tmp_path / "book" / ".callboard" / "writers_factory.yaml"
        file.write_text("health:\n  after_each_chapter: false\n", encoding="utf-8")
        assert await start_after_chapter(workspace, "ch3-sc2") is None


@pytest.mark.req("WF-G60b")
async def test_a_scene_that_is_not_accepted_is_not_looked_at(tmp_path: Path) -> None:
    async with open_book(tmp_path / "book", troubled_book(), a_judge()) as workspace:
        await Manuscript(workspace).set_outline([PlannedScene(8, 1, "still to come", 9)])
        ids = [scene.scene_id for scene in Health(workspace).view().scenes]
        report = (await check_health(workspace, checks=["A2"])).result
    assert "ch8-sc1" not in ids
    titles = [each["title"] for check in report["checks"] for each in check["findings"]]
    assert any("Midpoint" in title and "not written" in title for title in titles)
