"""What a home cook types on an ordinary day is understood, or said not to be; never mistaken."""

from typing import Any

import pytest
from kitchen_home import Clock, Home, leaves_it

from callboard.choreography.turn.shapes import StepType
from callboard.packs.alfred.kitchen.food.checking import Eater
from callboard.packs.alfred.kitchen.generation.selection import PlanBrief, Wish, gaps_for

pytestmark = pytest.mark.anyio


async def stock(home: Home) -> dict[str, Any]:
    rows = await home.rows("inventory_items", include=["ingredient"])
    return {row["ingredient"]["name"]: row["quantity"] for row in rows}


async def listed(home: Home) -> dict[str, Any]:
    open_rows = [{"field": "status", "op": "in", "value": ["needed", "in_cart"]}]
    rows = await home.rows("shopping_items", filters=open_rows)
    return {row["name"]: row["quantity"] for row in rows}


@pytest.fixture
async def full_home(home: Home) -> Home:
    shopping = [{"name": "rice", "quantity": 500, "unit": "g"}, {"name": "onions", "quantity": 6}]
    meals = [
        {"plan_date": "2026-05-25", "recipe": "Butter Chicken"},
        {"plan_date": "2026-05-26", "recipe": "Lentil Soup"},
    ]
    await home.write(op="upsert", table="shopping_items", records=[*shopping, {"name": "bread"}])
    await home.write(op="upsert", table="meal_plans", records=meals)
    await home.write(op="create", table="tasks", records=[{"description": "buy milk"}])
    return home


@pytest.mark.req("AL-54")
@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ("I have 4 tomatoes in the fridge and bread", {"tomato": 4, "bread": None}),
        ("we have 3 eggs left", {"egg": 3}),
        ("there are 2 onions and some rice in the pantry", {"onions": 2, "rice": None}),
        ("in the fridge there's milk and 4 yogurts", {"yogurts": 4}),
        ("throw some bananas in the freezer", {"bananas": None}),
        ("used 2 eggs and 100 g butter", {"egg": 4, "butter": 150}),
        ("use 2 eggs", {"egg": 4}),
        ("I threw out 2 eggs", {"egg": 4}),
        ("I meant 3 eggs", {"egg": 3}),
        ("no, 3 eggs not 6", {"egg": 3}),
        ("set the eggs to 12", {"egg": 12}),
        ("got 3 onions and 200 g rice", {"onion": 3, "rice": 200}),
    ],
)
async def test_what_is_said_of_the_house_is_so(home: Home, message: str, changed: dict[str, Any]):
    before = await stock(home)
    await home.say(message)
    after = await stock(home)
    singular = {name.rstrip("s"): amount for name, amount in changed.items()}
    found = {name.rstrip("s"): n for name, n in after.items() if before.get(name, -1) != n}
    assert found == singular


@pytest.mark.parametrize(
    "message",
    [
        "throw away the milk",
        "toss the milk",
        "the milk is gone",
        "the milk went off",
        "we finished the milk",
        "I used the last of the milk",
        "I drank the rest of the milk",
    ],
)
async def test_what_is_gone_leaves_the_house_and_nothing_else(full_home: Home, message: str):
    before = await stock(full_home)
    await full_home.say(message)
    assert set(before) - set(await stock(full_home)) == {"milk"}
    assert [row["status"] for row in await full_home.rows("tasks")] == ["open"]


@pytest.mark.parametrize(
    ("message", "after"),
    [
        ("add to my shopping list: milk, eggs", {"milk": None, "eggs": None}),
        ("shopping list: milk and coffee", {"milk": None, "coffee": None}),
        ("buy milk for tomorrow", {"milk": None}),
        ("add milk to the list for Tuesday", {"milk": None}),
        ("I need batteries and milk", {"batteries": None, "milk": None}),
        ("remove 2 onions from the list", {"onions": 4}),
        ("add oat milk to the shopping list and take the bread off", {"oat milk": None}),
    ],
)
async def test_the_list_holds_what_was_said(full_home: Home, message: str, after: dict[str, Any]):
    before = await listed(full_home)
    await full_home.say(message)
    now = await listed(full_home)
    assert {name: n for name, n in now.items() if before.get(name, -1) != n} == after
    assert ("bread" in now) == ("bread off" not in message)


@pytest.mark.parametrize(
    "message", ["check bread off the list", "cross bread off", "tick bread off", "check off bread"]
)
async def test_what_is_checked_off_was_bought(full_home: Home, message: str):
    await full_home.say(message)
    assert "bread" not in await listed(full_home)
    assert "bread" in await stock(full_home)


async def test_as_much_as_was_bought_goes_into_the_house(full_home: Home):
    await full_home.say("bought 1 kg rice and bread")
    rows = await full_home.rows("inventory_items", include=["ingredient"])
    assert [(r["quantity"], r["unit"]) for r in rows if r["ingredient"]["name"] == "rice"] == [
        (1, "kg")
    ]


async def test_a_thing_in_two_packs_is_used_from_the_older_one(home: Home):
    older = {"ingredient": "egg", "quantity": 2, "location": "fridge", "expires_on": "2026-05-22"}
    await home.write(op="upsert", table="inventory_items", records=[older])
    await home.say("used 3 eggs")
    assert await stock(home) | {"egg": 5} == await stock(home)


@pytest.mark.req("AL-54")
@pytest.mark.parametrize(
    "message",
    [
        "I have guests tonight",
        "I have an hour",
        "I have to go to bed",
        "I need help",
        "I need to go to bed",
        "pick up the kids",
        "what can I make for my mother in law",
        "I can't have dinner tonight",
        "no, that's fine",
        "plan something",
        "I don't like it",
    ],
)
async def test_what_is_about_something_else_changes_nothing(full_home: Home, message: str):
    assert leaves_it(await full_home.route(message))


@pytest.mark.parametrize(
    ("message", "way_out"),
    [
        ("used 2 butter", "set butter to"),
        ("no, 3 not 4", "undo"),
        ("move Monday's dinner to Tuesday", "swap Monday and Tuesday"),
        ("Plan dinners for next week; paint it blue", "swap Monday"),
    ],
)
async def test_what_cannot_be_reckoned_is_said_with_a_way_out(
    full_home: Home, message: str, way_out: str
):
    routed = await full_home.route(message)
    assert routed is not None
    assert (routed.steps, way_out in routed.reply) == ((), True)


async def test_a_correction_means_what_was_changed_last(home: Home):
    clock = home.kitchen.clock
    assert isinstance(clock, Clock)
    clock.ms += 60_000
    await home.say("I have 4 tomatoes in the fridge and bread")
    await home.say("no, 3 not 4")
    assert (await stock(home))["tomato"] == 3


@pytest.mark.parametrize(
    ("message", "table", "value"),
    [
        ("what's left", "inventory_items", None),
        ("what's left in the fridge", "inventory_items", "fridge"),
        ("what expires this week", "inventory_items", "2026-05-24"),
        ("what's about to go bad", "inventory_items", "@today+3d"),
        ("what should I use up first", "inventory_items", "@today+3d"),
        ("got milk?", "inventory_items", "%milk%"),
        ("show me what's planned for next week", "meal_plans", ["2026-05-25", "2026-05-31"]),
        ("what have I planned for next week", "meal_plans", ["2026-05-25", "2026-05-31"]),
    ],
)
async def test_questions_are_reads(home: Home, message: str, table: str, value: Any):
    routed = await home.route(message)
    assert routed is not None
    (step,) = routed.steps
    assert step.query is not None
    dumped = step.query.model_dump(mode="json")
    assert (step.query.table, [each["value"] for each in dumped["filters"]]) == (
        table,
        [] if value is None else [value],
    )


@pytest.mark.parametrize(
    ("message", "compute", "arguments"),
    [
        ("scale butter chicken to 6", "scale_recipe", {"servings": 6}),
        ("make butter chicken for 6", "scale_recipe", {"servings": 6}),
        ("double the lentil soup", "scale_recipe", {"times": 2}),
        ("what do I need for butter chicken", "missing_ingredients", {}),
        ("do I have everything for butter chicken?", "missing_ingredients", {}),
        ("what can I cook tomorrow", "match_recipes", {"constraints": []}),
        ("what can I make without cheese", "match_recipes", {"constraints": []}),
        ("something quick for dinner", "match_recipes", {"constraints": []}),
        ("find a recipe with lentils", "match_recipes", {"constraints": []}),
        ("use up the spinach", "match_recipes", {"constraints": []}),
    ],
)
async def test_what_is_reckoned_writes_nothing(
    home: Home, message: str, compute: str, arguments: dict[str, Any]
):
    routed = await home.route(message)
    assert routed is not None
    assert (routed.steps[-1].compute, routed.steps[-1].arguments) == (compute, arguments)
    assert all(step.write is None for step in routed.steps)


@pytest.mark.req("AL-80")
async def test_a_day_of_the_plan_is_swapped_for_what_fits(full_home: Home):
    routed = await full_home.route("swap Monday for something vegetarian", "plan")
    assert routed is not None
    made = next(step for step in routed.steps if step.step_type is StepType.GENERATE)
    assert (made.arguments["start"], made.arguments["replaces"]) == ("2026-05-25", True)
    assert made.arguments["diets"] == ["vegetarian"]
    assert routed.steps[-1].write is not None
    quick = await full_home.route("swap Monday for something vegetarian")
    assert quick is not None
    assert all(step.write is None for step in quick.steps)


@pytest.mark.req("AL-65", "AL-80")
async def test_what_is_swapped_in_fits_the_wish_and_the_eater(full_home: Home):
    from datetime import date

    day = date(2026, 5, 25)
    profile = {"allergies": ["nuts"]}
    recipes = await full_home.rows("recipes", include=["ingredients"])
    planned = await full_home.rows("meal_plans")

    def offered(text: str, *diet: str) -> list[str]:
        eater = Eater(("nuts",), diet)
        brief = PlanBrief(
            day, day, ("dinner",), 1, profile, eater, date(2026, 5, 20), recipes, (), planned,
            {"2026-05-25": Wish.of(text, eater)}, replaces=True,
        )  # fmt: skip
        return [str(row["name"]) for row in gaps_for(brief, brief.slots())["2026-05-25 dinner"]]

    # What is eaten on the day after comes last.
    assert offered("something vegetarian", "vegetarian") == ["Tomato Pasta", "Lentil Soup"]
    assert offered("something quick with pasta") == ["Tomato Pasta"]
    assert offered("something with chicken") == []
    assert offered("something else") == ["Tomato Pasta", "Lentil Soup"]


async def test_days_change_places_and_dishes_move(full_home: Home):
    async def plan() -> dict[str, str]:
        rows = await full_home.rows("meal_plans", include=["recipe"])
        return {row["plan_date"]: row["recipe"]["name"] for row in rows}

    await full_home.say("swap Monday and Tuesday")
    assert await plan() == {"2026-05-25": "Lentil Soup", "2026-05-26": "Butter Chicken"}
    await full_home.say("move Monday's dinner to Thursday")
    assert await plan() == {"2026-05-26": "Butter Chicken", "2026-05-28": "Lentil Soup"}
    await full_home.say("skip Tuesday")
    assert await plan() == {"2026-05-28": "Lentil Soup"}


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("plan dinners for Monday to Wednesday", {"start": "2026-05-25", "end": "2026-05-27"}),
        ("plan vegetarian dinners for next week", {"diets": ["vegetarian"]}),
        ("plan 3 quick dinners for next week without fish", {"count": 3, "without": ["fish"]}),
        (
            "Plan dinners for next week; swap Monday for something vegetarian",
            {"wishes": {"2026-05-25": "something vegetarian"}},
        ),
        ("plan dinner for tomorrow", {"start": "2026-05-21", "end": "2026-05-21"}),
    ],
)
async def test_nothing_that_was_said_about_a_plan_is_lost(
    home: Home, message: str, wanted: dict[str, Any]
):
    routed = await home.route(message, "plan")
    assert routed is not None
    made = next(step for step in routed.steps if step.step_type is StepType.GENERATE)
    assert {name: made.arguments.get(name) for name in wanted} == wanted
    assert ("diets" in made.arguments) == ("diets" in wanted)


@pytest.mark.req("AL-65")
@pytest.mark.parametrize(
    ("message", "allergy"),
    [
        ("my son is allergic to nuts", "son: allergy nuts"),
        ("Tom can't eat gluten", "Tom: allergy gluten"),
    ],
)
async def test_who_eats_along_is_kept_safe_too(home: Home, message: str, allergy: str):
    await home.say(message)
    (profile,) = await home.rows("user_profile")
    assert profile["eaters"] == [allergy]


@pytest.mark.req("AL-65", "AL-149")
@pytest.mark.parametrize(
    "hidden",
    [
        {"ingredients": [{"ingredient": "noodles", "raw_text": "noodles, with peanut topping"}]},
        {"ingredients": [{"ingredient": "noodles", "preparation": "tossed in peanuts"}]},
        {"steps": ["Scatter peanuts on top."]},
        {"notes": "May contain traces of peanuts."},
        {"description": "Noodles as in a satay bar: peanuts everywhere."},
    ],
)
async def test_an_allergen_is_found_wherever_a_recipe_names_it(home: Home, hidden: dict[str, Any]):
    plain = {"name": "Noodles", "servings": 2, "ingredients": ["noodles"], "steps": ["Boil."]}
    await home.write(op="create", table="recipes", records=[{**plain, **hidden}])
    await home.say("I'm allergic to peanuts")
    routed = await home.route("what can I make with noodles")
    assert routed is not None
    query = routed.steps[0].query
    assert query is not None
    rows = (await home.kitchen.read(home.who, query)).rows
    (profile,) = await home.rows("user_profile")
    tables = {"recipes": rows, "inventory_items": [], "user_profile": [profile]}
    match = home.kitchen.compute_functions()["match_recipes"]
    found = match.run(tables, home.who, {})
    assert [each["name"] for each in found["blocked"]] == ["Noodles"]
    entry = {"date": "2026-05-25", "meal_type": "dinner", "recipe_ref": "Noodles"}
    said = await home.kitchen.check_content(home.who, "meal_plan", {"entries": [entry]}, ())
    assert {each.subject for each in said} == {"peanuts"}


async def test_a_remark_about_meat_makes_no_dish_meat(home: Home):
    from callboard.packs.alfred.kitchen.food.checking import check_constraints

    content = {"name": "Lentils", "notes": "Also good with bacon.", "ingredients": ["lentils"]}
    assert check_constraints(content, {"diet": ["vegetarian"]}) == []
    assert check_constraints(content, {}, ["avoid:bacon"]) == []


async def test_a_scaled_recipe_is_told_without_what_nobody_asked_for(home: Home):
    told = {
        name: words.place
        for name in ("id", "created_at", "version", "rating")
        if (words := home.kitchen.table_words(f"scale_recipe.{name}")) is not None
    }
    assert told == dict.fromkeys(("id", "created_at", "version", "rating"), "")
    for table in ("missing_ingredients.missing", "aggregate_shopping.items"):
        lines = await home.kitchen.present_rows(home.who, table, [])
        assert lines == ["- nothing, all of it is there"]
