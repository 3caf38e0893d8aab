"""C1 and C2: symbols that return and change, and scenes that carry the theme."""

from typing import Any

import pytest
from health_fixture import a_scene, a_view, examine

from callboard.packs.writers_factory.health.checks.symbols import check_symbols, find_motifs
from callboard.packs.writers_factory.health.checks.theme import (
    ThemeScore,
    check_theme,
    critical_scenes,
    target_hash,
)
from callboard.packs.writers_factory.health.values import CheckStatus, ThemeOverride
from callboard.packs.writers_factory.health.view import ManuscriptView, SceneView, SymbolView
from callboard.packs.writers_factory.model import Severity, SymbolUse

LANTERN = SymbolView("lantern", ("lamp",))
NAMED = "The lantern burned low in the window."


def lit(chapter: int, stage: str = "introduction", scene: int = 1, **facts: Any) -> SceneView:
    tag = (SymbolUse("lantern", stage),)
    return a_scene(chapter, scene, text=NAMED, symbols=tag, **facts)


def rules(*scenes: SceneView, **facts: Any) -> list[tuple[str, Severity]]:
    view = a_view(*scenes, symbols=(LANTERN,), **facts)
    return [(each.rule, each.severity) for each in check_symbols(examine(view)).findings]


@pytest.mark.req("WF-G60f")
def test_a_symbol_that_returns_in_another_act_and_changes_is_fine() -> None:
    scenes = (lit(1, beat_number=1), lit(2, "development", beat_number=6))
    assert rules(*scenes, lit(3, "transformation", beat_number=10)) == []
    assert rules(*scenes) == [("recurrence", Severity.INFO)]


@pytest.mark.req("WF-G60f")
def test_a_symbol_of_one_act_does_not_carry() -> None:
    scenes = [lit(n, s, beat_number=1) for n, s in ((1, "introduction"), (2, "development"))]
    assert rules(*scenes, lit(3, beat_number=2)) == [("recurrence", Severity.INFO)]


@pytest.mark.req("WF-G60f")
@pytest.mark.parametrize(("elsewhere", "expected"), [(1, ["recurrence"]), (2, [])])
def test_no_chapter_holds_more_than_three_fifths_of_a_symbol(
    elsewhere: int, expected: list[str]
) -> None:
    here = [lit(1, scene=number, beat_number=1) for number in range(1, 4)]
    there = [lit(n + 2, "development", beat_number=10) for n in range(elsewhere)]
    assert [rule for rule, _ in rules(*here, *there)] == expected


@pytest.mark.req("WF-G60f")
def test_a_symbol_that_means_the_same_three_times_is_a_warning() -> None:
    scenes = [lit(1, beat_number=1), lit(2, beat_number=6), lit(3, beat_number=10)]
    assert rules(*scenes) == [("static", Severity.WARNING)]


@pytest.mark.req("WF-G60f")
@pytest.mark.parametrize(
    ("planned", "expected"),
    [(2_000, [("recurrence", Severity.INFO)]), (1_999, [("no_return", Severity.WARNING)])],
)
def test_a_symbol_used_once_is_a_remark_and_after_half_the_book_a_warning(
    planned: int, expected: list[tuple[str, Severity]]
) -> None:
    assert rules(lit(1), planned_words=planned) == expected


@pytest.mark.req("WF-G60f")
def test_an_occurrence_needs_the_word_and_the_tag() -> None:
    tag = (SymbolUse("lantern", "introduction"),)
    by_alias = a_scene(1, text="He lit both lamps.", symbols=tag)
    only_tag = a_scene(2, symbols=tag)
    only_word = a_scene(3, text=NAMED)
    view = a_view(by_alias, only_tag, only_word, symbols=(LANTERN,))
    result = check_symbols(examine(view))
    found = result.details["symbols"]["lantern"]
    assert [each["scene_id"] for each in found] == ["ch1-sc1"]


@pytest.mark.req("WF-G60f")
def test_where_no_symbol_is_declared_three_motifs_are_suggested() -> None:
    texts = [
        "Mara wound the clock. The clock struck. She fed the raven and took her rope.",
        "The clock had stopped. The raven sat on the rope.",
        "A clock ticked. The raven flew. Then the morning came, and his eyes.",
    ]
    view = a_view(*(a_scene(n, text=text) for n, text in enumerate(texts, start=1)))
    assert find_motifs(view) == ("clock", "raven", "rope")
    (finding,) = check_symbols(examine(view)).findings
    assert (finding.severity, finding.rule) == (Severity.INFO, "none_declared")
    assert "clock, raven, rope" in finding.title


def themed(*numbers: int | None) -> ManuscriptView:
    return a_view(*(a_scene(n, beat_number=b) for n, b in enumerate(numbers, start=1)))


@pytest.mark.req("WF-G60g")
@pytest.mark.parametrize(
    ("score", "expected"),
    [(6, []), (5.9, [Severity.WARNING]), (3, [Severity.WARNING]), (2.9, [Severity.ERROR])],
)
def test_a_critical_scene_needs_six_points(score: float, expected: list[Severity]) -> None:
    result = check_theme(examine(themed(9)), {"ch1-sc1": ThemeScore(score=score, quote="")})
    assert [each.severity for each in result.findings] == expected


@pytest.mark.req("WF-G60g")
def test_only_scenes_at_critical_beats_are_scored() -> None:
    view = themed(1, 2, 3, 4, 5, 9, 10, 11, 12, 14, 15, None)
    beats = [scene.beat_number for scene in critical_scenes(examine(view))]
    assert beats == [2, 4, 9, 11, 14, 15]


@pytest.mark.req("WF-G60g")
def test_without_a_theme_or_a_critical_scene_there_is_no_data() -> None:
    assert check_theme(examine(themed(1)), {}).status is CheckStatus.INSUFFICIENT_DATA
    bare = a_view(a_scene(1, beat_number=9), theme_statement="")
    assert check_theme(examine(bare), {}).status is CheckStatus.INSUFFICIENT_DATA
    unscored = check_theme(examine(themed(9)), {})
    assert (unscored.status, unscored.is_partial) == (CheckStatus.INSUFFICIENT_DATA, True)


@pytest.mark.req("WF-G60g")
def test_an_override_of_a_beat_counts_for_its_scenes_until_one_changes() -> None:
    scenes = [a_scene(1, beat_number=9), a_scene(2, beat_number=9)]
    override = ThemeOverride("beat:9", 8, "meant so", content_hash=target_hash(scenes, "beat:9"))
    scores = {"ch1-sc1": ThemeScore(score=2, quote=""), "ch2-sc1": ThemeScore(score=2, quote="")}
    kept = check_theme(examine(a_view(*scenes, overrides=(override,))), scores)
    assert kept.findings == ()
    changed = [scenes[0], a_scene(2, text="Another text altogether.", beat_number=9)]
    stale = check_theme(examine(a_view(*changed, overrides=(override,))), scores)
    assert {each.rule for each in stale.findings} == {"weak", "stale_override"}
