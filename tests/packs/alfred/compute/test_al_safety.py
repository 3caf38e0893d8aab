"""Safety: what somebody must not eat never gets through."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.packs.alfred.kitchen.food.checking import check_constraints
from callboard.packs.alfred.kitchen.food.diets import canonical_allergies, canonical_diets, diets
from callboard.packs.alfred.kitchen.food.groups import NO_ALLERGENS, allergens_in, food_groups
from callboard.packs.alfred.kitchen.food.wishes import find_clash

ALLERGENS = sorted(set(food_groups()) - NO_ALLERGENS)
# Words that say nothing about what a food is.
FLUFF = [
    "chopped",
    "fresh",
    "2",
    "large",
    "organic",
    "from",
    "the",
    "market",
    "טרי",
    "🌿",
    "(see note)",
]


@pytest.mark.req("AL-149")
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("almond milk", {"nuts"}),
        ("Almondmilk", {"nuts"}),
        ("chopped WALNUTS", {"nuts"}),
        ("butternut squash", set()),
        ("nutmeg", set()),
        ("coconut milk", {"coconut"}),
        ("water chestnuts", set()),
        ("peanut butter", {"peanuts"}),
        ("crème fraîche", {"dairy"}),
        ("oat milk", {"gluten"}),
        ("vegan butter", set()),
        ("vegan butter and butter", {"dairy"}),
        ("butter beans", set()),
        ("eggplant", set()),
        ("egg noodles", {"egg", "gluten"}),
        ("buckwheat", set()),
        ("gluten-free flour", set()),
        ("gluten-free oats and wheat bread", {"gluten"}),
        ("nut-free almonds", {"nuts"}),
        ("lactose-free milk", {"dairy"}),
        ("Worcestershire sauce", {"fish"}),
        ("oyster mushrooms", set()),
        ("peppercorns", set()),
        ("tahini", {"sesame"}),
        ("שקדים", set()),
    ],
)
def test_a_name_gives_its_allergens_away(name: str, found: set[str]):
    assert allergens_in(name) == found


def recipes_with(text: str) -> list[dict[str, Any]]:
    """Return a recipe that holds a text in each place a recipe can."""
    plain = {"name": "Dinner", "ingredients": [{"name": "rice"}], "steps": [{"text": "Cook."}]}
    return [
        {**plain, "ingredients": [{"name": "rice"}, {"name": text}]},
        {**plain, "ingredients": [{"ingredient": {"name": text}}]},
        {**plain, "ingredients": [{"name": "thing", "raw_text": f"2 cups {text}"}]},
        {**plain, "ingredients": [text]},
        {"entries": [{"date": "2026-05-20", "recipes": [{**plain, "ingredients": [text]}]}]},
    ]


@st.composite
def foods(draw: st.DrawFn) -> tuple[str, str]:
    group = draw(st.sampled_from(ALLERGENS))
    word = " ".join(draw(st.sampled_from(sorted(food_groups()[group].words))))
    before = draw(st.lists(st.sampled_from(FLUFF), max_size=3))
    after = draw(st.lists(st.sampled_from(FLUFF), max_size=3))
    shape = draw(st.sampled_from([str, str.upper, str.title]))
    # The plural of `ei` is another word, and `eis` is ice.
    takes_s = len(word.split()[-1]) > 3 and not word.endswith(("s", "y"))
    ending = draw(st.sampled_from(["", "s"])) if takes_s else ""
    return group, " ".join([*before, shape(word + ending), *after])


@pytest.mark.req("AL-65", "AL-149")
@given(foods())
def test_a_listed_allergen_never_passes(food: tuple[str, str]):
    group, text = food
    for content in recipes_with(text):
        found = check_constraints(content, {"allergies": [group]})
        assert [each.subject for each in found][:1] == [group], (text, content)


@pytest.mark.req("AL-65")
@given(st.sampled_from(ALLERGENS), st.text(max_size=30))
def test_a_tagged_ingredient_never_passes_whatever_it_is_called(group: str, name: str):
    content = {"name": "x", "ingredients": [{"name": name, "allergen_tags": [group]}]}
    assert check_constraints(content, {"allergies": [group]})


@pytest.mark.req("AL-65")
@pytest.mark.parametrize("content", [{"name": "Almond cake"}, {"steps": ["Stir in the almonds."]}])
def test_names_and_steps_are_looked_at(content: dict[str, Any]):
    assert check_constraints(content, {"allergies": ["nuts"]})


@pytest.mark.req("AL-65")
def test_verbs_are_no_food():
    content = {"name": "Rice rolls", "steps": ["Roll it up, wrap it in foil."]}
    assert check_constraints(content, {"allergies": ["gluten"]}) == []


@pytest.mark.req("AL-65")
def test_who_says_nuts_is_kept_from_peanuts_and_who_says_tree_nuts_is_not():
    satay = {"name": "Pad Thai", "ingredients": [{"name": "roasted peanuts"}]}
    assert check_constraints(satay, {"allergies": ["nuts"]})
    assert check_constraints(satay, {"allergies": ["nut"]})
    assert not check_constraints(satay, {"allergies": ["tree nuts"]})


def test_an_allergy_nobody_lists_is_taken_by_its_word():
    content = {"name": "Salad", "ingredients": [{"name": "sliced kiwis"}]}
    assert check_constraints(content, {"allergies": ["kiwi"]})[0].subject == "kiwi"


@pytest.mark.req("AL-65")
@given(st.sampled_from(sorted(diets())), st.data())
def test_what_a_diet_leaves_out_is_found(name: str, data: st.DataObject):
    group = data.draw(st.sampled_from(diets()[name].without))
    word = " ".join(data.draw(st.sampled_from(sorted(food_groups()[group].words))))
    content = {"name": "Dinner", "ingredients": [{"name": word}]}
    found = check_constraints(content, {"diet": [name]})
    assert found
    assert {(each.kind, each.subject) for each in found} == {("diet", name)}


@pytest.mark.req("AL-33", "AL-65")
def test_what_is_avoided_is_found_by_name_tag_and_ingredient():
    for content in (
        {"name": "Greek Salad"},
        {"name": "x", "tags": ["salad"]},
        {"name": "x", "tags": [{"tag": "salads"}]},
        {"name": "x", "ingredients": [{"name": "potato salad"}]},
    ):
        assert check_constraints(content, None, ["avoid:salads"])[0].kind == "avoid"
    assert check_constraints({"name": "Walnut bread"}, None, ["avoid:nuts"])
    assert check_constraints({"ingredients": ["ham"]}, None, ["vegan"])[0].kind == "diet"
    assert check_constraints({"name": "Soup"}, {"allergies": []}, ["avoid:salads"]) == []


@pytest.mark.req("AL-83")
@pytest.mark.parametrize(
    ("wish", "limit", "food"),
    [
        ("vegan butter chicken", "vegan", "chicken"),
        ("Make me a VEGETARIAN beef stew", "vegetarian", "beef"),
        ("halal pork roast", "halal", "pork"),
        ("an almond cake", "nuts allergy", "almond"),
        ("nut-free almond cake", "nut_free", "almond"),
    ],
)
def test_a_wish_that_contradicts_itself_is_noticed(wish: str, limit: str, food: str):
    clash = find_clash(wish, {"allergies": ["nuts"]})
    assert clash is not None
    assert (clash.limit, clash.food) == (limit, food)
    assert food in clash.question.casefold()


@pytest.mark.req("AL-83")
@pytest.mark.parametrize(
    "wish",
    ["vegan cheese pizza", "gluten-free pasta bake", "weeknight pasta", "vegan curry", "chicken"],
)
def test_a_wish_that_does_not_is_left_alone(wish: str):
    assert find_clash(wish, {"allergies": ["nuts"]}) is None


def test_names_of_diets_and_allergies_are_one_spelling():
    assert canonical_diets(["Vegan", "Gluten free", "plant-based", "Paleo"]) == [
        "vegan",
        "gluten_free",
        "paleo",
    ]
    assert canonical_allergies(["Tree nuts", "milk", "peanut allergy", "Kiwi", " "]) == [
        "nuts",
        "dairy",
        "peanuts",
        "kiwi",
    ]


@given(st.text(max_size=60))
def test_any_text_can_be_looked_at(text: str):
    allergens_in(text)
    find_clash(text, {"allergies": [text], "diet": [text]})
    check_constraints({"name": text, "ingredients": [text]}, {"allergies": [text]}, [text])
