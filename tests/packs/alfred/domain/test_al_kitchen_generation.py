"""What is made up is a recipe or a plan, fits who eats it, and stands on the kitchen's own data."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kitchen_home import BOB, Home

from callboard.choreography.turn.requests import WriteError
from callboard.core.errors import NotFound
from callboard.packs.alfred.kitchen.food.checking import Eater, check_for
from callboard.packs.alfred.kitchen.generation.content import (
    content_schema,
    content_to_write,
    shape_objections,
)
from callboard.packs.alfred.kitchen.generation.dishes import dish_book
from callboard.packs.alfred.kitchen.generation.invention import (
    Brief,
    compose,
    dishes_for,
    eater_of,
    foods_in,
    gaps_of,
)
from callboard.packs.alfred.kitchen.generation.selection import PlanBrief, entries_for, gaps_for

pytestmark = pytest.mark.anyio

PASTA: dict[str, Any] = {
    "name": "Weeknight Pasta",
    "servings": 2,
    "ingredients": [
        {"name": "pasta", "quantity": 200, "unit": "g"},
        {"name": "tomato", "quantity": "2"},
        {"name": "salt", "quantity": "to taste"},
    ],
    "steps": [{"text": "Boil the pasta.", "minutes": 10}, {"text": "Toss."}],
    "tags": ["Pasta", "pasta"],
}


@pytest.mark.req("AL-65")
@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ({"name": ""}, "name"),
        ({"servings": 0}, "servings"),
        ({"ingredients": []}, "ingredients"),
        ({"ingredients": [{"name": "salt", "quantity": "a smidgen"}]}, "ingredients"),
        ({"ingredients": [{"name": "salt", "quantity": -1}]}, "ingredients"),
        ({"steps": []}, "steps"),
    ],
)
def test_what_a_recipe_lacks_is_named(change: dict[str, Any], subject: str):
    assert shape_objections("recipe", PASTA) == []
    found = shape_objections("recipe", {**PASTA, **change})
    assert [each.subject for each in found] == [subject]


@pytest.mark.req("AL-65")
def test_a_plan_has_one_dish_per_meal_and_no_empty_one():
    entry = {"date": "2026-05-25", "meal_type": "dinner", "recipe_ref": "Lentil Soup"}
    assert shape_objections("meal_plan", {"entries": [entry]}) == []
    twice = shape_objections("meal_plan", {"entries": [entry, entry]})
    empty = shape_objections("meal_plan", {"entries": [{"date": "2026-05-25"}]})
    assert ["twice" in twice[0].detail, "neither" in empty[0].detail] == [True, True]
    with pytest.raises(NotFound):
        content_schema("novel")


@pytest.mark.req("AL-16", "AL-65")
async def test_a_draft_is_saved_as_it_was_shown(home: Home):
    request = content_to_write("recipe", {**PASTA, "temp_id": "temp_recipe_1", "type": "recipe"})
    await home.do(request)
    named = [{"field": "name", "op": "eq", "value": "weeknight pasta"}]
    (row,) = await home.rows("recipes", filters=named, include=["ingredients", "steps", "tags"])
    assert [(line["name"], line["quantity"], line["unit"]) for line in row["ingredients"]] == [
        ("pasta", 200, "g"),
        ("tomato", 2, None),
        ("salt", None, None),
    ]
    assert [step["text"] for step in row["steps"]] == ["Boil the pasta.", "Toss."]
    assert (row["source_type"], [tag["tag"] for tag in row["tags"]]) == ("generated", ["pasta"])


@pytest.mark.req("AL-65")
async def test_content_nobody_may_eat_or_that_is_not_there_is_refused(home: Home):
    await home.say("I'm allergic to nuts")
    nutty = {**PASTA, "ingredients": [{"name": "ground almonds", "quantity": 50, "unit": "g"}]}
    check = home.kitchen.check_content
    assert [o.kind for o in await check(home.who, "recipe", nutty, ())] == ["allergy"]
    assert await check(home.who, "recipe", PASTA, ()) == []
    avoided = await check(home.who, "recipe", PASTA, ["avoid:tomatoes"])
    assert [each.kind for each in avoided] == ["avoid"]
    day = {"date": "2026-05-25", "meal_type": "dinner"}
    for ref, kind in (
        ("Almond Chicken", "allergy"),
        ("Unicorn Stew", "unknown"),
        ("Lentil Soup", None),
    ):
        plan = {"entries": [{**day, "recipe_ref": ref}]}
        found = await check(home.who, "meal_plan", plan, ())
        assert [each.kind for each in found[:1]] == ([kind] if kind else [])
    # Somebody else's recipes are no ground for a plan.
    plan = {"entries": [{**day, "recipe_ref": "Lentil Soup"}]}
    assert [each.kind for each in await check(BOB, "meal_plan", plan, ())] == ["unknown"]


@pytest.mark.req("AL-80")
async def test_who_wants_ingredients_only_gets_recipes_without_steps(home: Home):
    bare = {**PASTA, "steps": []}
    assert await home.kitchen.check_content(home.who, "recipe", bare, ()) != []
    await home.write(
        op="upsert", table="user_profile", records=[{"recipe_generation": "ingredients_only"}]
    )
    assert await home.kitchen.check_content(home.who, "recipe", bare, ()) == []


def made_for(wish: str, profile: dict[str, Any], *stock: str) -> dict[str, Any] | None:
    brief = Brief(wish, 2, eater_of(profile, (), wish), stock)
    for name in dishes_for(brief):
        gaps = gaps_of(name, brief)
        for main in gaps["main"]:
            picks = {
                "main": main,
                "vegetable": gaps["vegetable"][-1],
                "flavour": gaps["flavour"][-1],
            }
            made = compose(name, picks, brief)
            if made is not None:
                return made
    return None


ALLERGIES = ["nuts", "peanuts", "gluten", "dairy", "egg", "fish", "shellfish", "soy", "sesame"]
DIETS = ["vegan", "vegetarian", "pescatarian", "gluten_free", "dairy_free", "halal", "kosher"]


@pytest.mark.req("AL-65", "AL-121")
@given(
    wish=st.sampled_from(
        ["a weeknight pasta", "soup", "something with salmon", "chicken curry", "🍝", "breakfast",
         "vegan tacos", "'; DROP TABLE recipes;--", "peanut noodles", ""]
    ),
    allergies=st.lists(st.sampled_from(ALLERGIES), max_size=4, unique=True),
    diet=st.lists(st.sampled_from(DIETS), max_size=2, unique=True),
    stock=st.lists(
        st.sampled_from(["Chicken thigh", "Almonds", "Prawns", "Butter", "Tofu", "שקשוקה", "Egg"]),
        max_size=5,
    ),
)  # fmt: skip
def test_whatever_is_picked_the_recipe_is_whole_and_safe(
    wish: str, allergies: list[str], diet: list[str], stock: list[str]
):
    profile = {"allergies": allergies, "diet": diet}
    made = made_for(wish, profile, *stock)
    assert made is not None
    assert shape_objections("recipe", made) == []
    assert check_for(Eater(tuple(allergies), tuple(diet)), made) == []
    assert "{" not in str([step["text"] for step in made["steps"]])


def test_every_dish_can_be_made_with_every_pick():
    for name in dish_book().dishes:
        brief = Brief(name, 4, Eater())
        gaps = gaps_of(name, brief)
        for main in gaps["main"]:
            for vegetable in gaps["vegetable"]:
                for flavour in gaps["flavour"]:
                    picks = {"main": main, "vegetable": vegetable, "flavour": flavour}
                    made = compose(name, picks, brief)
                    assert made is not None
                    lines = [line["name"] for line in made["ingredients"]]
                    assert len(lines) == len(set(lines)), (name, picks)


def test_a_wish_decides_form_and_main_and_a_taken_name_is_not_taken_again():
    brief = Brief("chicken soup with carrots", 2, Eater(), ("Salmon",))
    assert (dishes_for(brief), foods_in(brief.wish)) == (["soup"], ("chicken", "carrots"))
    gaps = gaps_of("soup", brief)
    assert (gaps["main"], gaps["vegetable"][0]) == (["chicken"], "carrots")
    picks = {"main": "chicken", "vegetable": "carrots", "flavour": "smoked paprika"}
    first = compose("soup", picks, brief)
    assert first is not None
    taken = Brief(brief.wish, 2, Eater(), taken=frozenset({first["name"].casefold()}))
    second = compose("soup", picks, taken)
    assert second is not None
    assert second["name"] != first["name"]


RECIPES = [
    {"id": f"r{n}", "name": name, "course": course, "servings": 2, "ingredients": lines}
    for n, (name, course, lines) in enumerate(
        [
            ("Almond Cake", "dessert", [{"name": "almonds"}]),
            ("Almond Chicken", "main", [{"name": "ground almonds"}, {"name": "chicken"}]),
            ("Lentil Soup", "main", [{"name": "lentils"}]),
            ("Fried Rice", "main", [{"name": "rice"}]),
            ("Chili", "main", [{"name": "beans"}]),
            ("Porridge", "breakfast", [{"name": "oats"}]),
        ]
    )
]


def plan_of(**more: Any) -> PlanBrief:
    given: dict[str, Any] = {
        "start": date(2026, 5, 25), "end": date(2026, 5, 31), "meals": ("dinner",), "count": None,
        "profile": {"cooking_frequency": "3x_week", "household_size": 2},
        "eater": Eater(allergies=("nuts",)), "today": date(2026, 5, 20), "recipes": RECIPES,
    }  # fmt: skip
    return PlanBrief(**{**given, **more})


@pytest.mark.req("AL-80", "AL-152")
@pytest.mark.parametrize(
    ("frequency", "count", "dinners"),
    [("3x_week", None, 3), ("weekends_only", None, 2), ("daily", None, 7), ("3x_week", 4, 4)],
)
def test_a_plan_has_as_many_dinners_as_wanted(frequency: str, count: int | None, dinners: int):
    brief = plan_of(profile={"cooking_frequency": frequency}, count=count)
    slots = brief.slots()
    assert len(slots) == dinners
    if frequency == "weekends_only":
        assert [slot.date for slot in slots] == ["2026-05-30", "2026-05-31"]
    entries = entries_for(slots, gaps_for(brief, slots), {}, 2)
    refs = [entry["recipe_ref"] for entry in entries]
    allowed = {"r2", "r3", "r4"}
    assert set(refs) <= allowed
    assert len(set(refs)) == min(dinners, len(allowed))
    assert shape_objections("meal_plan", {"entries": entries}) == []


def test_what_is_planned_is_left_alone_and_nothing_allowed_means_no_plan():
    planned = [{"plan_date": "2026-05-30", "meal_type": "dinner", "recipe_id": "r2"}]
    brief = plan_of(profile={"cooking_frequency": "daily"}, planned=planned)
    assert "2026-05-30" not in [slot.date for slot in brief.slots()]
    nothing = plan_of(recipes=RECIPES[:2])
    assert gaps_for(nothing, nothing.slots()) == {}
    assert plan_of(start=date(2026, 5, 1), end=date(2026, 5, 3)).slots() == []


@pytest.mark.req("AL-137")
async def test_a_plan_names_recipes_of_its_owner_only(home: Home):
    plan = {"entries": [{"date": "2026-05-25", "recipe_ref": "Lentil Soup", "servings": 2}]}
    request = content_to_write("meal_plan", plan)
    await home.do(request)
    (row,) = await home.rows("meal_plans", include=["recipe"])
    assert row["recipe"]["name"] == "Lentil Soup"
    home.who = BOB
    with pytest.raises(WriteError) as refused:
        await home.do(request)
    assert refused.value.kind == "fk_missing"
