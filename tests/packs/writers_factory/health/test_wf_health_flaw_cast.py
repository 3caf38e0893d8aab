"""B1 and B2: the test of the flaw, and what the cast is for; every threshold at its edge."""

from dataclasses import replace

import pytest
from health_fixture import FLAW, LIE, a_challenge, a_scene, a_view, examine

from callboard.packs.writers_factory.health.checks.cast import check_cast
from callboard.packs.writers_factory.health.checks.flaw import check_flaw
from callboard.packs.writers_factory.health.values import CheckStatus
from callboard.packs.writers_factory.health.view import CharacterView, ManuscriptView, SceneView
from callboard.packs.writers_factory.model import Severity

MARA = CharacterView("Mara", rank=0.5)
CORVIN = CharacterView("Corvin", function="antagonist", rank=0.3)


def judged(count: int, **challenged: str) -> list[SceneView]:
    """Return judged scenes; `s3="growth"` challenges the third."""
    scenes = [a_scene(number, is_judged=True) for number in range(1, count + 1)]
    for name, kind in challenged.items():
        place = int(name[1:]) - 1
        challenge = a_challenge(scenes[place].scene_id, kind)
        scenes[place] = replace(scenes[place], challenge=challenge)
    return scenes


@pytest.mark.req("WF-G60d", "WF-87")
@pytest.mark.parametrize(
    ("gap", "expected"),
    [(10, []), (11, [Severity.WARNING]), (20, [Severity.WARNING]), (21, [Severity.ERROR])],
)
def test_the_flaw_may_rest_for_ten_scenes(gap: int, expected: list[Severity]) -> None:
    result = check_flaw(examine(a_view(*judged(gap + 1, s1="test"))))
    assert [each.severity for each in result.findings] == expected
    assert all("ch1-sc1" in each.title for each in result.findings)


@pytest.mark.req("WF-G60d")
def test_a_flaw_nobody_challenged_in_five_scenes_is_an_error() -> None:
    assert check_flaw(examine(a_view(*judged(4)))).status is CheckStatus.INSUFFICIENT_DATA
    result = check_flaw(examine(a_view(*judged(5))))
    assert [each.severity for each in result.findings] == [Severity.ERROR]


@pytest.mark.req("WF-G60d")
def test_without_a_recorded_flaw_there_is_no_verdict() -> None:
    result = check_flaw(examine(a_view(*judged(9, s1="test"), flaw="  ")))
    assert (result.status, result.note) == (
        CheckStatus.INSUFFICIENT_DATA,
        "no fatal_flaw is recorded",
    )


@pytest.mark.req("WF-G60d")
def test_scenes_nobody_has_judged_do_not_count_as_unchallenged() -> None:
    scenes = [*judged(3, s1="test"), *(a_scene(number) for number in range(4, 30))]
    result = check_flaw(examine(a_view(*scenes)))
    assert (result.findings, result.is_partial) == ((), True)


@pytest.mark.req("WF-G60d")
@pytest.mark.parametrize(("planned", "expected"), [(10_000, []), (9_999, ["one_type"])])
def test_one_kind_of_challenge_is_too_little_after_forty_percent(
    planned: int, expected: list[str]
) -> None:
    view = a_view(*judged(4, s1="test", s3="test"), planned_words=planned)
    assert [each.rule for each in check_flaw(examine(view)).findings] == expected
    mixed = a_view(*judged(4, s1="test", s3="failure"), planned_words=planned)
    assert check_flaw(examine(mixed)).findings == ()


@pytest.mark.req("WF-G60d")
@pytest.mark.parametrize(("kind", "expected"), [("triumph", ["no_growth"]), ("growth", [])])
def test_growth_is_due_by_beat_thirteen(kind: str, expected: list[str]) -> None:
    scenes = judged(3, s1="test", s2=kind)
    scenes[2] = replace(scenes[2], beat_number=13)
    assert [each.rule for each in check_flaw(examine(a_view(*scenes))).findings] == expected


@pytest.mark.req("WF-G60d")
def test_the_advice_names_flaw_lie_and_an_obstacle_of_the_book() -> None:
    scenes = judged(12, s1="test")
    (finding,) = check_flaw(examine(a_view(*scenes))).findings
    assert all(part in finding.recommendation for part in (FLAW, LIE, "Corvin"))
    alone = a_view(*scenes, characters=(MARA,), rules=("Nobody may climb after dark",))
    (finding,) = check_flaw(examine(alone)).findings
    assert "Nobody may climb after dark" in finding.recommendation


@pytest.mark.req("WF-G60d")
def test_a_quote_that_is_not_in_the_scene_is_left_out() -> None:
    scenes = judged(12)
    wrong = a_challenge("ch1-sc1", quote="words that nobody wrote")
    scenes[0] = replace(scenes[0], challenge=wrong)
    (finding,) = check_flaw(examine(a_view(*scenes))).findings
    assert finding.evidence == ()


def rules_of(view: ManuscriptView) -> dict[tuple[str, tuple[str, ...]], Severity]:
    found = check_cast(examine(view)).findings
    return {(each.rule, each.entities): each.severity for each in found}


@pytest.mark.req("WF-G60e")
def test_everybody_needs_a_function_and_somebody_must_be_against() -> None:
    view = a_view(a_scene(1), characters=(MARA, CharacterView("Ilse", rank=0.1)))
    rules = rules_of(view)
    assert rules[("no_function", ("Ilse",))] is Severity.WARNING
    assert rules[("no_antagonist", ())] is Severity.ERROR
    assert "no_antagonist" not in {rule for rule, _ in rules_of(a_view(a_scene(1)))}


@pytest.mark.req("WF-G60e")
@pytest.mark.parametrize(("planned", "is_told"), [(6_001, False), (6_000, True)])
def test_few_appearances_matter_from_half_the_draft_on(planned: int, is_told: bool) -> None:
    scenes = [a_scene(1, characters=("Corvin",)), a_scene(2, characters=("Corvin", "Mara"))]
    scenes.append(a_scene(3, characters=("Mara",)))
    told = rules_of(a_view(*scenes, planned_words=planned)).get(("seldom", ("Corvin",)))
    assert told is (Severity.INFO if is_told else None)
    scenes[2] = a_scene(3, characters=("Mara", "Corvin"))
    assert ("seldom", ("Corvin",)) not in rules_of(a_view(*scenes, planned_words=planned))


@pytest.mark.req("WF-G60e")
@pytest.mark.parametrize(("absent", "is_told"), [(15, False), (16, True)])
def test_who_returns_after_fifteen_scenes_needs_a_callback(absent: int, is_told: bool) -> None:
    scenes = [a_scene(1, characters=("Corvin",))]
    scenes += [a_scene(n, characters=("Mara",)) for n in range(2, absent + 2)]
    back = a_scene(absent + 2, text="Corvin stood at the gate again.", characters=("Corvin",))
    rules = rules_of(a_view(*scenes, back))
    assert (("absence", ("Corvin", back.scene_id)) in rules) is is_told
    recalled = replace(back, callbacks=("What Corvin did at the bridge",))
    assert "absence" not in {rule for rule, _ in rules_of(a_view(*scenes, recalled))}


@pytest.mark.req("WF-G60e")
@pytest.mark.parametrize(("shared", "is_told"), [(7, False), (8, True)])
def test_two_of_one_function_among_the_same_people_may_be_one(shared: int, is_told: bool) -> None:
    common = [f"n{number}" for number in range(shared)]
    own = [f"o{number}" for number in range(10 - shared)]
    one = CharacterView("Ilse", function="mentor", neighbours=frozenset([*common, *own]))
    other = CharacterView("Odo", function="mentor", neighbours=frozenset(common))
    rules = rules_of(a_view(a_scene(1), characters=(MARA, CORVIN, one, other)))
    assert (("doubled", ("Ilse", "Odo")) in rules) is is_told
    another = replace(other, function="ally")
    view = a_view(a_scene(1), characters=(MARA, CORVIN, one, another))
    assert "doubled" not in {rule for rule, _ in rules_of(view)}


@pytest.mark.req("WF-G60e")
def test_the_protagonist_is_one_of_the_two_the_story_turns_around() -> None:
    ilse = CharacterView("Ilse", function="ally", rank=0.4)
    for rank, is_told in ((0.35, False), (0.2, True)):
        view = a_view(a_scene(1), characters=(replace(MARA, rank=rank), CORVIN, ilse))
        assert (("not_central", ("Mara",)) in rules_of(view)) is is_told


@pytest.mark.req("WF-G60e")
def test_a_book_without_anybody_is_not_judged() -> None:
    result = check_cast(examine(a_view(characters=())))
    assert result.status is CheckStatus.INSUFFICIENT_DATA
