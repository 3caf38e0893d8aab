"""The profile: asked once, told in four levels, and what it decides."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import WriteKey, WriteRequest
from callboard.core.errors import InvalidInput
from callboard.library.relational.dates import Today
from callboard.packs.alfred.kitchen.onboarding import (
    Onboarding,
    UnclearAnswer,
    profile_values,
    questions,
)
from callboard.packs.alfred.kitchen.opening import (
    add_person,
    kitchen_url,
    kitchen_writer,
    open_kitchen,
)
from callboard.packs.alfred.kitchen.profile import (
    UserProfile,
    dinners_in,
    load_profile,
    planning_range,
    profile_view,
)
from callboard.packs.alfred.kitchen.schema import kitchen_tables
from warm_kitchen import lay_kitchen

NOW = "2026-05-20T08:30:00.000000Z"
TODAY = Today.at(1_779_265_800_000, "Europe/Berlin")


@pytest.mark.req("AL-77")
def test_five_questions_and_two_more():
    asked = questions()
    assert [each.id for each in asked if not each.is_optional] == [
        "days",
        "when",
        "recipes",
        "tasks",
        "shopping",
    ]
    assert [each.id for each in asked if each.is_optional] == ["batch", "ahead"]


@pytest.mark.req("AL-79")
@pytest.mark.parametrize(
    ("answers", "values"),
    [
        (
            {"days": "2", "when": "on weekends"},
            {"cooking_frequency": "weekends_only", "cooking_days": ["sat", "sun"]},
        ),
        ({"days": "four or five"}, {"cooking_frequency": "3x_week"}),
        ({"days": "every day"}, {"cooking_frequency": "daily"}),
        ({"recipes": "just links please"}, {"recipe_storage": "links_only"}),
        ({"tasks": "quick reminders"}, {"task_granularity": "reminders"}),
        ({"tasks": "detailed"}, {"task_granularity": "detailed"}),
        ({"shopping": "by aisle"}, {"list_organization": "by_aisle"}),
        (
            {"batch": "yes", "ahead": "a few days"},
            {"batch_cooking": True, "planning_horizon": "few_days"},
        ),
        ({"days": "skip", "shopping": "Skip."}, {}),
    ],
)  # fmt: skip
def test_answers_become_a_profile(answers: dict[str, str], values: dict[str, Any]):
    onboarding = Onboarding({})
    for name, text in answers.items():
        onboarding = onboarding.answer(name, text)
    assert profile_values(onboarding.answers) == values


@pytest.mark.req("AL-79")
@pytest.mark.parametrize(
    ("question", "text"), [("days", "12"), ("days", "blue"), ("shopping", "🤷"), ("when", "maybe")]
)
def test_an_unclear_answer_is_asked_again(question: str, text: str):
    with pytest.raises(UnclearAnswer, match="none of"):
        Onboarding({}).answer(question, text)
    with pytest.raises(InvalidInput):
        Onboarding({}).answer("shoe size", "42")


@pytest.mark.req("AL-79", "AL-76")
def test_onboarding_is_left_and_taken_up_again(tmp_path: Path):
    base = open_kitchen(kitchen_url(lay_kitchen(tmp_path)))
    base.write_now(lambda c: add_person(c, "ann", "Ann", NOW))
    numbers = iter(range(100))
    writer = kitchen_writer(base, kitchen_tables(), lambda: f"id-{next(numbers)}")
    who = Who("ann", "sess-1")

    def keep(request: WriteRequest) -> None:
        key = WriteKey(session_id="sess-1", turn=next(numbers), step_id="s")
        base.write_now(lambda c: writer.write(c, who, TODAY, request, key))

    profile = base.read_now(lambda c: load_profile(c, "ann"))
    assert profile.is_empty
    onboarding = Onboarding.of(profile["onboarding_state"])
    keep(onboarding.answer("days", "3").answer("when", "skip").request())
    profile = base.read_now(lambda c: load_profile(c, "ann"))
    assert not profile.is_empty
    again = Onboarding.of(profile["onboarding_state"])
    assert again.next is not None
    assert again.next.id == "recipes"
    done = again.answer("recipes", "links").answer("tasks", "reminders").answer("shopping", "aisle")
    assert done.is_done
    keep(done.skip_rest().request())
    profile = base.read_now(lambda c: load_profile(c, "ann"))
    assert Onboarding.of(profile["onboarding_state"]).next is None
    assert (profile["recipe_storage"], profile["list_organization"]) == ("links_only", "by_aisle")
    assert (profile["cooking_frequency"], profile["cooking_days"]) == ("3x_week", [])
    base.close()


FULL = UserProfile(
    "ann",
    {
        "allergies": ["nuts"],
        "diet": ["gluten_free"],
        "dislikes": ["olives"],
        "household_size": 3,
        "planning_horizon": "week",
        "unit_system": "metric",
        "task_granularity": "minimal",
        "list_organization": "by_aisle",
        "favorite_cuisines": ["thai"],
        "equipment": ["wok"],
        "onboarding_state": [],
    },
    ("Soup", "Stew"),
)


@pytest.mark.req("AL-81")
def test_a_profile_is_told_in_four_levels():
    texts = {
        detail: profile_view(FULL, detail, "shopping")
        for detail in ("minimal", "compact", "full", "creative")
    }
    for view in texts.values():
        assert "nuts" in view.pinned
        assert "gluten free" in view.pinned
    assert texts["minimal"].text == ""
    assert "olives" in texts["compact"].text
    assert "by aisle" in texts["compact"].text
    assert "minimal" not in texts["compact"].text
    assert "task granularity: minimal" in texts["full"].text
    assert "thai" not in texts["full"].text
    assert "cooked lately: Soup, Stew" in texts["creative"].text
    assert "wok" in texts["creative"].text


@pytest.mark.req("AL-80")
@pytest.mark.parametrize(
    ("horizon", "first", "last"),
    [("week", 21, 27), ("few_days", 20, 22), ("day_of", 20, 20)],
)
def test_the_horizon_is_the_days_that_are_planned(horizon: str, first: int, last: int):
    found = planning_range({"planning_horizon": horizon}, date(2026, 5, 20))
    assert found == (date(2026, 5, first), date(2026, 5, last))


@pytest.mark.req("AL-80")
@pytest.mark.parametrize(
    ("frequency", "count"), [("weekends_only", 2), ("3x_week", 3), ("daily", 7)]
)
def test_the_frequency_is_how_many_dinners(frequency: str, count: int):
    profile = {"cooking_frequency": frequency}
    first, last = date(2026, 5, 25), date(2026, 5, 31)
    assert dinners_in(profile, first, last) == count
