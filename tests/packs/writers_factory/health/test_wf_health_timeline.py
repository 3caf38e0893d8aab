"""A3: what cannot have happened, found by rules; and what a judge adds or takes away."""

from dataclasses import replace
from typing import Any

import pytest
from health_fixture import a_scene, a_view, examine
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.writers_factory.health.checks.timeline import (
    TimelineReading,
    candidate_key,
    check_timeline,
)
from callboard.packs.writers_factory.health.timeline.candidates import find_candidates
from callboard.packs.writers_factory.health.timeline.facts import (
    PairVerdict,
    Possession,
    SceneFacts,
    further_pairs,
    read_scene,
)
from callboard.packs.writers_factory.health.timeline.statements import (
    is_before,
    is_same_time,
    most_hours_between,
    read_losses,
    read_time,
    read_travel_rule,
)
from callboard.packs.writers_factory.health.values import CheckStatus
from callboard.packs.writers_factory.health.view import CausedEvent, ManuscriptView, Setup
from callboard.packs.writers_factory.model import Severity

HARROW = a_scene(
    3,
    1,
    text="Mara walked through Harrow until the bells rang.",
    location="Harrow",
    story_time="Day 3, night",
    characters=("Mara",),
)
ALDGATE = a_scene(
    3,
    2,
    text="In Aldgate Mara knocked at the third door.",
    location="Aldgate",
    story_time="Day 3, night",
    characters=("Mara",),
)


NO_FACTS = SceneFacts(story_time="", places=(), states=(), things=(), acts=())


def facts_about_a_key(status: Any, quote: str) -> SceneFacts:
    thing = Possession(thing="key", owner="", status=status, quote=quote)
    return NO_FACTS.model_copy(update={"things": (thing,)})


def a_verdict(
    verdict: Any, title: str = "", fix: str = "", first: str = "", second: str = ""
) -> PairVerdict:
    return PairVerdict(
        verdict=verdict, title=title, fix=fix, first_quote=first, second_quote=second
    )


def read(view: ManuscriptView, **extra: SceneFacts) -> TimelineReading:
    things = [loss.thing for loss in read_losses(view)]
    facts = {scene.scene_id: read_scene(view, scene, things) for scene in view.scenes}
    for scene_id, told in extra.items():
        facts[scene_id] = told.joined(facts[scene_id])
    return TimelineReading(facts)


def rules(view: ManuscriptView, **extra: SceneFacts) -> list[str]:
    result = check_timeline(examine(view), read(view, **extra))
    return [each.rule for each in result.findings]


@pytest.mark.req("WF-G60c")
def test_nobody_is_in_two_cities_the_same_night() -> None:
    view = a_view(HARROW, ALDGATE)
    (finding,) = check_timeline(examine(view), read(view)).findings
    assert (finding.severity, finding.rule) == (Severity.ERROR, "two_places")
    quoted = {each.scene_id: each.quote for each in finding.evidence}
    assert quoted == {"ch3-sc1": HARROW.text, "ch3-sc2": ALDGATE.text}


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(
    "changes",
    [
        {"story_time": "Day 4, night"},
        {"story_time": "Day 3, morning"},
        {"story_time": ""},
        {"location": "the Harrow docks"},
        {"characters": ("Corvin",)},
    ],
)
def test_another_time_place_or_person_is_no_contradiction(changes: dict[str, Any]) -> None:
    assert rules(a_view(HARROW, replace(ALDGATE, **changes))) == []


@pytest.mark.req("WF-G60c")
def test_a_place_within_another_is_the_same_place() -> None:
    assert rules(a_view(HARROW, ALDGATE, within={"Aldgate": "Harrow"})) == []


@pytest.mark.req("WF-G60c")
def test_two_rooms_are_only_a_suspicion_until_a_judge_confirms() -> None:
    kitchen = replace(HARROW, text="Mara sat in the kitchen all night.", location="Kitchen")
    garden = replace(ALDGATE, text="Mara stood in the garden.", location="Garden")
    view = a_view(kitchen, garden)
    reading = read(view)
    assert check_timeline(examine(view), reading).findings == ()
    (candidate,) = find_candidates(view, reading.facts)
    verdicts = {candidate_key(candidate): a_verdict("doubtful")}
    told = replace(reading, on_candidates=verdicts)
    (finding,) = check_timeline(examine(view), told).findings
    assert (finding.severity, finding.is_judged) == (Severity.WARNING, True)


@pytest.mark.req("WF-G60c")
def test_the_dead_do_not_act_unless_the_scene_goes_back() -> None:
    death = a_scene(1, text="Corvin died on the stairs.", characters=("Corvin",))
    later = a_scene(2, text="Corvin opened the gate and laughed.", characters=("Corvin",))
    view = a_view(replace(death, story_time="Day 5, night"), later)
    (finding,) = check_timeline(examine(view), read(view)).findings
    assert (finding.rule, finding.severity) == ("dead_acting", Severity.ERROR)
    assert len(finding.evidence) == 2
    back = a_view(view.scenes[0], replace(later, story_time="Day 2, morning"))
    assert rules(back) == []


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(
    "correction",
    ["The gun was lost in chapter 3", "gun: lost in ch3-sc1", "Mickey lost the gun in chapter 3"],
)
def test_a_gun_the_writer_noted_as_lost_cannot_be_fired(correction: str) -> None:
    view = a_view(
        a_scene(3, text="The river took everything."),
        a_scene(4, text="Mara raised the gun and fired."),
        corrections=(correction,),
    )
    (finding,) = check_timeline(examine(view), read(view)).findings
    assert finding.rule == "lost_used"
    assert correction in finding.title
    assert [each.quote for each in finding.evidence] == ["Mara raised the gun and fired."]
    found = a_scene(4, text="Mara found the gun in the reeds. She raised the gun and fired.")
    assert rules(a_view(view.scenes[0], found, corrections=(correction,))) == []
    spoken = a_scene(4, text="Mara had no gun to aim.")
    assert rules(a_view(view.scenes[0], spoken, corrections=(correction,))) == []


@pytest.mark.req("WF-G60c")
def test_what_a_model_read_is_held_against_later_scenes_until_it_is_found() -> None:
    scenes = (a_scene(1, text="The key sank."), a_scene(2, text="She turned the key."))
    lost = facts_about_a_key("lost", "The key sank.")
    used = facts_about_a_key("used", "She turned the key.")
    assert rules(a_view(*scenes), **{"ch1-sc1": lost, "ch2-sc1": used}) == ["lost_used"]
    found = facts_about_a_key("found", "She turned the key.")
    assert rules(a_view(*scenes), **{"ch1-sc1": lost, "ch2-sc1": found.joined(used)}) == []


@pytest.mark.req("WF-G60c")
def test_a_way_takes_as_long_as_the_world_rule_says() -> None:
    rule = "The ride from Harrow to Aldgate takes three days."
    tomorrow = replace(ALDGATE, story_time="Day 4, night")
    assert rules(a_view(HARROW, tomorrow, rules=(rule,))) == ["too_fast"]
    assert rules(a_view(HARROW, replace(tomorrow, story_time="Day 7, night"), rules=(rule,))) == []


@pytest.mark.req("WF-G60c")
def test_an_effect_does_not_come_before_its_cause() -> None:
    flood = a_scene(1, text="The flood took the mill.")
    dam = a_scene(2, text="The dam broke at noon.")
    cause = CausedEvent("the dam broke", "ch2-sc1", "the flood", "ch1-sc1")
    assert rules(a_view(flood, dam, causes=(cause,))) == ["effect_first"]
    told_back = replace(dam, story_time="Day 1, morning")
    flood_dated = replace(flood, story_time="Day 2, morning")
    assert rules(a_view(flood_dated, told_back, causes=(cause,))) == []


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(("later", "expected"), [(15, []), (16, ["open_setup"])])
def test_a_setup_is_open_for_fifteen_scenes(later: int, expected: list[str]) -> None:
    scenes = [a_scene(1, text="She hid the letter under the stone.")]
    scenes += [a_scene(number) for number in range(2, later + 2)]
    setup = Setup("the hidden letter", "ch1-sc1")
    assert rules(a_view(*scenes, setups=(setup,))) == expected
    assert rules(a_view(*scenes, setups=(replace(setup, paid_in="ch9-sc1"),))) == []
    scenes[5] = replace(scenes[5], callbacks=("the letter she had hidden",))
    assert rules(a_view(*scenes, setups=(setup,))) == []


@pytest.mark.req("WF-G60c")
def test_a_judge_clears_a_suspicion() -> None:
    view = a_view(HARROW, ALDGATE)
    reading = read(view)
    (candidate,) = find_candidates(view, reading.facts)
    cleared = replace(reading, on_candidates={candidate_key(candidate): a_verdict("none")})
    assert check_timeline(examine(view), cleared).status is CheckStatus.PASSED


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(
    ("second", "count"), [("knocked at the third door", 1), ("words nobody wrote", 0)]
)
def test_what_a_judge_finds_needs_words_from_both_scenes(second: str, count: int) -> None:
    view = a_view(replace(HARROW, story_time=""), ALDGATE)
    verdict = a_verdict("impossible", "It clashes", "Fix it", "until the bells rang", second)
    reading = replace(read(view), on_pairs={("ch3-sc1", "ch3-sc2"): verdict})
    found = check_timeline(examine(view), reading).findings
    assert [each.is_judged for each in found] == [True] * count


@pytest.mark.req("WF-G60c")
def test_further_pairs_share_something_and_are_no_more_than_asked_for() -> None:
    scenes = [a_scene(n, characters=("Mara",)) for n in range(1, 9)]
    scenes.append(a_scene(9, characters=("Nobody",)))
    view = a_view(*scenes)
    facts = {scene.scene_id: NO_FACTS for scene in scenes}
    everywhere = frozenset(facts)
    pairs = further_pairs(view, facts, everywhere, 20)
    assert len(pairs) == 20
    assert not any("ch9-sc1" in pair for pair in pairs)
    assert pairs[0] == ("ch1-sc1", "ch2-sc1")
    inside = further_pairs(view, facts, {"ch8-sc1"}, 20)
    assert all("ch8-sc1" in pair for pair in inside)


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Day 3, night", "day three, night", True),
        ("1943-05-02, evening", "2 May 1943, evening", True),
        ("Friday night", "Friday, night", True),
        ("night", "night", False),
        ("the night of the fire", "The night of the fire", True),
        ("Day 3", "Day 3", False),
        ("Day 3, 9 pm", "Day 3, 9:30 pm", True),
        ("Day 3, 9 am", "Day 3, 9 pm", False),
        ("", "", False),
    ],
)
def test_story_times_are_the_same_only_where_they_say_so(
    first: str, second: str, same: bool
) -> None:
    assert is_same_time(read_time(first), read_time(second)) is same


@given(st.text(max_size=40), st.text(max_size=40))
@pytest.mark.req("WF-G60c")
def test_any_note_of_a_time_can_be_read_and_compared(first: str, second: str) -> None:
    one, other = read_time(first), read_time(second)
    assert is_same_time(one, other) == is_same_time(other, one)
    assert not (is_before(one, other) and is_before(other, one))


@given(st.integers(1, 900), st.integers(1, 900))
@pytest.mark.req("WF-G60c")
def test_days_are_counted(first: int, second: int) -> None:
    one, other = read_time(f"Day {first}, noon"), read_time(f"Day {second}, noon")
    assert is_before(one, other) is (first < second)
    assert (most_hours_between(one, other) or 0) <= 24 * abs(first - second) + 3


@pytest.mark.req("WF-G60c")
@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("The ride from Harrow to Aldgate takes three days.", 72),
        ("Nobody gets between Harrow and the Iron Gate in less than 6 hours.", 6),
        ("It costs half a day to reach Aldgate from Harrow on foot, two at night.", 12),
        ("Magic costs blood.", None),
        ("From Harrow to Aldgate the road is bad.", None),
    ],
)
def test_world_rules_tell_how_long_a_way_takes(text: str, hours: float | None) -> None:
    rule = read_travel_rule(text)
    assert (None if rule is None else rule.hours) == hours
