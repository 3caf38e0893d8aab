"""Plain requests become complete steps: verbs, nouns, amounts, days; unsure is None."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kitchen_home import Home, leaves_it

from callboard.choreography.turn.shapes import StepType, ThinkStep
from callboard.library.relational.dates import Today
from callboard.packs.alfred.kitchen.router.dates import find_when, read_day, read_days
from callboard.packs.alfred.kitchen.router.routing import routes_for
from callboard.packs.alfred.kitchen.router.words import Item, read_items

pytestmark = pytest.mark.anyio


async def routed(home: Home, message: str, mode: str = "quick", *refs: str) -> list[ThinkStep]:
    found = await home.route(message, mode, *refs)
    assert found is not None, message
    return list(found.steps)


def write_of(step: ThinkStep) -> dict[str, Any]:
    assert step.write is not None
    return step.write.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def read_of(step: ThinkStep) -> dict[str, Any]:
    assert step.query is not None
    return step.query.model_dump(mode="json", by_alias=True, exclude_defaults=True)


@pytest.mark.req("AL-54")
@pytest.mark.parametrize(
    ("message", "table", "records"),
    [
        ("add eggs to my shopping list", "shopping_items", [{"name": "eggs"}]),
        ("Add 6 eggs", "shopping_items", [{"name": "eggs", "quantity": 6}]),
        (
            "please add paper towels to the list, thanks",
            "shopping_items",
            [{"name": "paper towels"}],
        ),
        (
            "put 2 l milk and a dozen eggs in the fridge",
            "inventory_items",
            [
                {"ingredient": "milk", "quantity": 2, "unit": "l", "location": "fridge"},
                {"ingredient": "eggs", "quantity": 12, "location": "fridge"},
            ],
        ),
        ("I need to buy bread", "shopping_items", [{"name": "bread"}]),
        (
            "add ½ cup sugar to the pantry",
            "inventory_items",
            [{"ingredient": "sugar", "quantity": 0.5, "unit": "cup", "location": "pantry"}],
        ),
        (
            "add 3 smidgens of saffron to the pantry",
            "inventory_items",
            [
                {
                    "ingredient": "saffron",
                    "quantity": 3,
                    "unit": "smidgens",
                    "location": "pantry",
                }
            ],
        ),
        (
            "add yogurt expiring on Friday to the fridge",
            "inventory_items",
            [{"ingredient": "yogurt", "location": "fridge", "expires_on": "2026-05-22"}],
        ),
        (
            "add 🍎 and שקשוקה to the list",
            "shopping_items",
            [{"name": "apple"}, {"name": "שקשוקה"}],
        ),
        ("add mac and cheese to the list", "shopping_items", [{"name": "mac and cheese"}]),
        (
            "freeze 500g chicken",
            "inventory_items",
            [{"ingredient": "chicken", "quantity": 500, "unit": "g", "location": "freezer"}],
        ),
    ],
)
async def test_additions_are_complete_writes(
    empty_home: Home, message: str, table: str, records: list[dict[str, Any]]
):
    (step,) = await routed(empty_home, message)
    wanted = {"op": "upsert", "table": table, "records": records}
    assert (step.step_type, write_of(step)) == (StepType.WRITE, wanted)


@pytest.mark.req("AL-54")
async def test_two_places_in_one_message_are_two_steps(empty_home: Home):
    steps = await routed(empty_home, "add milk to the list and 6 eggs to the fridge")
    assert [step.write.table for step in steps if step.write] == [
        "shopping_items",
        "inventory_items",
    ]


@pytest.mark.req("AL-54", "AL-122")
@pytest.mark.parametrize(
    ("message", "table", "filters"),
    [
        (
            "what's in the freezer?",
            "inventory_items",
            [{"field": "location", "op": "eq", "value": "freezer"}],
        ),
        (
            "show my shopping list",
            "shopping_items",
            [{"field": "status", "op": "in", "value": ["needed", "in_cart"]}],
        ),
        ("what do I have", "inventory_items", None),
        (
            "what's expiring soon",
            "inventory_items",
            [{"field": "expires_on", "op": "lte", "value": "@today+3d"}],
        ),
        ("show my tasks", "tasks", [{"field": "status", "op": "in", "value": ["open"]}]),
        (
            "show me quick vegan italian recipes with chicken",
            "recipes",
            [
                {"field": "total_minutes", "op": "lte", "value": 30},
                {"field": "tags", "op": "cs", "value": ["vegan"]},
                {"field": "cuisine", "op": "ilike", "value": "italian"},
                {"field": "ingredients.name", "op": "ilike", "value": "%chicken%"},
            ],
        ),
        (
            "recipes without onions under 20 minutes",
            "recipes",
            [
                {"field": "total_minutes", "op": "lte", "value": 20},
                {"not": {"field": "ingredients.name", "op": "ilike", "value": "%onion%"}},
            ],
        ),
        ("show my recipes", "recipes", None),
        (
            "what's planned this week",
            "meal_plans",
            [{"field": "plan_date", "op": "between", "value": ["2026-05-20", "2026-05-24"]}],
        ),
        (
            "what did we cook last week",
            "cooking_log",
            [
                {"field": "cooked_at", "op": "gte", "value": "@week_start-7d"},
                {"field": "cooked_at", "op": "lt", "value": "@week_start"},
            ],
        ),
        ("what am I allergic to", "user_profile", None),
    ],
)
async def test_questions_about_what_there_is_are_complete_reads(
    empty_home: Home, message: str, table: str, filters: list[Any] | None
):
    (step,) = await routed(empty_home, message)
    query = read_of(step)
    assert (query["table"], query.get("filters")) == (table, filters)
    await empty_home.rows(**query)


@pytest.mark.req("AL-88")
async def test_what_is_in_two_places_is_asked_about_before_it_goes(home: Home):
    await home.say("add milk to the list")
    asked = await home.route("remove milk")
    assert asked is not None
    assert (asked.steps, "shopping list or from the inventory" in asked.question) == ((), True)
    (step,) = await routed(home, "remove milk (the shopping list)")
    assert write_of(step)["table"] == "shopping_items"
    await home.say("remove the milk from the fridge")
    assert [row["name"] for row in await home.rows("shopping_items")] == ["milk"]
    (alone,) = await routed(home, "remove milk")
    assert write_of(alone)["table"] == "shopping_items"


async def test_using_some_leaves_the_rest(home: Home):
    await home.say("used 100 g butter")
    await home.say("remove 2 eggs from the fridge")
    stock = {
        row["ingredient"]["name"]: row["quantity"]
        for row in await home.rows("inventory_items", include=["ingredient"])
    }
    assert (stock["butter"], stock["egg"]) == (150, 4)


async def test_what_ran_out_leaves_the_house_and_goes_on_the_list(home: Home):
    await home.say("we're out of milk")
    assert [row["name"] for row in await home.rows("shopping_items")] == ["milk"]
    milk = [{"field": "ingredient.name", "op": "eq", "value": "milk"}]
    assert await home.rows("inventory_items", filters=milk) == []


@pytest.mark.req("AL-147")
async def test_what_was_bought_is_ticked_off_and_put_away(home: Home):
    await home.say("add 500 g rice to my shopping list")
    await home.say("bought rice and 3 onions")
    assert [row["status"] for row in await home.rows("shopping_items")] == ["purchased"]
    stock = {
        row["ingredient"]["name"]: row["quantity"]
        for row in await home.rows("inventory_items", include=["ingredient"])
    }
    assert (stock["rice"], stock["onion"]) == (500, 3)


@pytest.mark.req("AL-44")
async def test_what_can_be_made_reads_three_tables_at_once_and_then_reckons(home: Home):
    steps = await routed(home, "What can I make with what I have?", "explore")
    assert [(s.id, s.step_type.value, s.compute) for s in steps] == [
        ("g0.s0", "read", None),
        ("g0.s1", "read", None),
        ("g0.s2", "read", None),
        ("g1.s0", "analyze", "match_recipes"),
    ]
    tables = [step.query.table for step in steps if step.query]
    assert tables == ["recipes", "inventory_items", "user_profile"]
    assert steps[3].inputs == ["g0.s0", "g0.s1", "g0.s2"]


@pytest.mark.req("AL-44")
async def test_write_then_read_then_reckon_are_three_groups(home: Home):
    steps = await routed(home, "Add eggs to inventory, then suggest a recipe", "explore")
    assert [(s.group, s.step_type.value) for s in steps] == [
        (0, "write"),
        (1, "read"),
        (1, "read"),
        (1, "read"),
        (2, "analyze"),
    ]


@pytest.mark.req("AL-44", "AL-64")
async def test_saving_and_buying_what_is_missing_is_one_plan(home: Home):
    message = "Save that recipe and add what's missing to shopping"
    steps = await routed(home, message, "plan", "temp_recipe_1")
    assert [(s.group, s.step_type.value) for s in steps] == [
        (0, "write"),
        (1, "read"),
        (1, "read"),
        (2, "analyze"),
        (3, "write"),
    ]
    assert write_of(steps[0])["from_content"] == "temp_recipe_1"
    assert write_of(steps[4])["from_result"] == "g2.s0.missing"
    assert leaves_it(await home.route(message, "plan"))


@pytest.mark.req("AL-80", "AL-78")
async def test_a_plan_is_for_the_days_that_were_named_or_the_profiles_own(home: Home):
    steps = await routed(home, "Plan dinners for next week", "plan")
    made = next(step for step in steps if step.step_type is StepType.GENERATE)
    wanted = {"start": "2026-05-25", "end": "2026-05-31", "meals": ["dinner"]}
    assert (made.content_type, made.arguments) == ("meal_plan", wanted)
    saved = steps[-1]
    assert (saved.step_type, write_of(saved)["from_content"]) == (StepType.WRITE, made.id)
    more = await routed(home, "Plan dinners for next week; make it 4", "plan")
    assert next(s for s in more if s.content_type).arguments["count"] == 4
    await home.write(
        op="upsert",
        table="user_profile",
        records=[{"planning_horizon": "few_days", "dislikes": ["olives"]}],
    )
    plain = await home.route("plan my meals", "plan")
    assert plain is not None
    arguments = next(s for s in plain.steps if s.content_type).arguments
    assert (arguments["start"], arguments["end"]) == ("2026-05-20", "2026-05-22")
    assert plain.question == ""
    assert any("2026-05-20 to 2026-05-22" in each for each in plain.assumptions)


async def test_in_a_quick_turn_a_plan_is_only_drafted(home: Home):
    steps = await routed(home, "plan my whole month")
    assert [s.step_type for s in steps if s.step_type is StepType.WRITE] == []
    assert steps[-1].content_type == "meal_plan"


async def test_something_new_is_generated_from_a_wish(home: Home):
    steps = await routed(home, "Make me a weeknight pasta for 3", "create")
    assert steps[-1].content_type == "recipe"
    assert steps[-1].arguments == {"wish": "weeknight pasta", "servings": 3}


@pytest.mark.req("AL-83", "AL-84")
async def test_a_wish_that_contradicts_itself_is_asked_about_but_not_in_a_hurry(home: Home):
    asked = await home.route("Make me a vegan butter chicken", "create")
    assert asked is not None
    assert (asked.steps, "vegan" in asked.question) == ((), True)
    answered = await home.route("Make me a vegan butter chicken (vegan)", "create")
    assert answered is not None
    assert answered.steps[-1].content_type == "recipe"
    quick = await home.route("Make me a vegan butter chicken")
    assert quick is not None
    assert quick.question == ""
    assert any("vegan" in each for each in quick.assumptions)


async def test_a_reminder_has_its_moment_in_utc(home: Home):
    (step,) = await routed(home, "remind me to soak beans tomorrow at 6pm")
    assert write_of(step)["records"] == [
        {"description": "soak beans", "kind": "prep", "due_at": "2026-05-21T16:00:00.000000Z"}
    ]
    await home.say("remind me to soak beans tomorrow at 6pm")
    await home.say("mark soak beans as done")
    assert [row["status"] for row in await home.rows("tasks")] == ["done"]


async def test_what_people_say_about_themselves_goes_into_their_profile(home: Home):
    for message in (
        "I'm allergic to peanuts",
        "I'm also allergic to shellfish and eggs",
        "I'm vegan",
        "I don't like cilantro or olives",
        "I love thai food",
        "we are 4 people",
    ):
        await home.say(message)
    (profile,) = await home.rows("user_profile")
    assert set(profile["allergies"]) >= {"peanuts"}
    assert len(profile["allergies"]) == 3
    assert (profile["diet"], profile["household_size"]) == (["vegan"], 4)
    assert profile["dislikes"] == ["cilantro", "olives"]
    assert profile["favorite_cuisines"] == ["thai"]


async def test_a_dish_goes_on_a_day_and_leaves_it(home: Home):
    await home.say("add butter chicken to Tuesday")
    await home.say("plan leftovers for Friday dinner")
    rows = await home.rows("meal_plans", include=["recipe"], order_by=[{"column": "plan_date"}])
    assert [(r["plan_date"], r["note"], (r["recipe"] or {}).get("name")) for r in rows] == [
        ("2026-05-22", "leftovers", None),
        ("2026-05-26", None, "Butter Chicken"),
    ]
    await home.say("remove Friday's dinner")
    assert [row["plan_date"] for row in await home.rows("meal_plans")] == ["2026-05-26"]


@pytest.mark.req("AL-54")
@pytest.mark.parametrize(
    "message",
    [
        "hello there",
        "no salads",
        "delete everything",
        "I wonder whether the weather will hold",
        "what should I wear tomorrow",
        "add it to the thing over there",
        "remind me to",
        "a" * 3_000,
    ],
)
async def test_what_is_not_plain_is_left_to_somebody_else(home: Home, message: str):
    assert leaves_it(await home.route(message))


@pytest.mark.req("AL-73")
@pytest.mark.parametrize(
    ("message", "mode"),
    [
        ("add milk to my list", "quick"),
        ("What's in the fridge?", "quick"),
        ("I'm making butter chicken", "cook"),
        ("any ideas for tonight?", "explore"),
        ("what can I make with lentils", "explore"),
        ("plan my whole month", "plan"),
        ("make me a new pasta recipe", "create"),
        ("hm", None),
    ],
)
async def test_a_message_sounds_like_a_mode(empty_home: Home, message: str, mode: str | None):
    assert empty_home.kitchen.mode_of(message) == mode


TODAY = Today.at(1_779_265_800_000, "Europe/Berlin")
BEFORE_SUMMER = Today.at(1_774_700_000_000, "Europe/Berlin")


@pytest.mark.parametrize(
    ("phrase", "day"),
    [
        ("today", "2026-05-20"),
        ("tomorrow", "2026-05-21"),
        ("the day after tomorrow", "2026-05-22"),
        ("Wednesday", "2026-05-20"),
        ("on Tuesday", "2026-05-26"),
        ("next Tuesday", "2026-05-26"),
        ("next Wednesday", "2026-05-27"),
        ("in 2 weeks", "2026-06-03"),
        ("30 May", "2026-05-30"),
        ("May 3rd", "2027-05-03"),
        ("2026-02-30", None),
        ("31 June", None),
        ("someday", None),
    ],
)
def test_days_are_read_as_people_say_them(phrase: str, day: str | None):
    found = read_day(phrase, TODAY)
    assert (None if found is None else found.isoformat()) == day


@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("next week", "2026-05-25", "2026-05-31"),
        ("this weekend", "2026-05-23", "2026-05-24"),
        ("next month", "2026-06-01", "2026-06-30"),
        ("the next 3 days", "2026-05-20", "2026-05-22"),
    ],
)
def test_periods_are_read_as_people_say_them(phrase: str, start: str, end: str):
    days = read_days(phrase, TODAY)
    assert days is not None
    assert (days.dates[0], days.dates[-1]) == (start, end)


def test_a_time_keeps_its_hour_across_the_change_to_summer_time():
    assert BEFORE_SUMMER.day.isoformat() == "2026-03-28"
    before = find_when("feed the dough today at 20:00", BEFORE_SUMMER)
    after = find_when("feed the dough tomorrow at 20:00", BEFORE_SUMMER)
    missing = find_when("feed the dough tomorrow at 2:30 am", BEFORE_SUMMER)
    assert before is not None and after is not None and missing is not None
    assert before.at == "2026-03-28T19:00:00.000000Z"
    assert after.at == "2026-03-29T18:00:00.000000Z"
    # Half past two does not exist that night; it is the moment an hour after half past one.
    assert missing.at == "2026-03-29T01:30:00.000000Z"
    assert after.rest == "feed the dough"


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("6 eggs", [Item("eggs", 6)]),
        ("1 1/2 cups oats, 1,5 l milk", [Item("oats", 1.5, "cup"), Item("milk", 1.5, "l")]),
        ("half a kilo of flour", [Item("flour", 0.5, "kg")]),
        ("eggs x2 and a bottle of olive oil", [Item("eggs", 2), Item("olive oil", 1, "bottle")]),
        ("- milk\n- 2 x tomatoes", [Item("milk"), Item("tomatoes", 2)]),
        ("7up", [Item("7up")]),
        ("half and half", [Item("half and half")]),
        ("a few onions", [Item("onions")]),
        ("12", []),
    ],
)
def test_lists_are_read_with_amounts(text: str, items: list[Item]):
    assert list(read_items(text)) == items


@given(st.text(max_size=300))
def test_reading_items_and_days_never_fails(text: str):
    for item in read_items(text):
        assert item.name.strip()
        assert item.quantity is None or item.quantity > 0
    read_day(text, TODAY)
    read_days(text, TODAY)
    find_when(text, TODAY)


_SAID = """add remove delete show all my the recipes to from in list fridge plan dinner next week
for 2 and then mark as done set servings of remind me tomorrow at 6pm I'm allergic what can make
'; DROP TABLE recipes;-- % * _ 🍎 ½ save that missing shopping Tuesday ( ) { $name g0.s0.id"""
_WORDS = st.sampled_from([*_SAID.split(), "\x00"])


@pytest.mark.req("AL-134", "AL-54")
@settings(max_examples=60)
@given(message=st.one_of(st.lists(_WORDS, max_size=14).map(" ".join), st.text(max_size=120)))
def test_whatever_is_said_routing_never_fails_and_asks_only_for_known_tables(
    message: str, tmp_path_factory: pytest.TempPathFactory
):
    import asyncio

    from kitchen_home import open_home

    home = _SHARED.get("home") or open_home(tmp_path_factory.mktemp("router"))
    _SHARED["home"] = home
    known = set(home.kitchen.tables.names())

    async def look() -> None:
        found = await home.route(message, "quick", "temp_recipe_1")
        for step in () if found is None else found.steps:
            named = step.query.table if step.query else (step.write.table if step.write else None)
            assert named is None or named in known
            if step.write is not None and step.write.op in ("update", "delete"):
                assert step.write.filters
            if step.query is not None and "g0." not in message:
                await home.kitchen.read(home.who, step.query)

    asyncio.run(look())


_SHARED: dict[str, Home] = {}


@pytest.fixture(scope="module", autouse=True)
def close_shared():
    yield
    if "home" in _SHARED:
        _SHARED.pop("home").kitchen.close()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("add 2 eggs", ["stock"]),
        ("buy milk", ["stock"]),
        ("add 2 eggs to the shopping list", ["stock"]),
        ("used 2 eggs", ["taking"]),
        ("add a task: call mum", ["tasks", "stock"]),
        ("add pasta for friday", ["provisions", "meals", "stock"]),
    ],
)
def test_the_first_word_says_who_is_asked(text: str, asked: list[str]) -> None:
    assert routes_for(text) == asked
