"""Reading rows through the filter language, on both databases."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kitchen_base import NOW_MS, RECIPES, TAGS, reader_of, sqlite_base
from sqlalchemy import text

from callboard.choreography.turn.requests import QueryError, ReadRequest, ReadResult
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Base
from callboard.library.relational.dates import Today, resolve_date
from callboard.library.relational.tables import render_schema
from callboard.packs.alfred.kitchen.schema import kitchen_tables


def read(base: Base, user: str = "ann", **request: Any) -> ReadResult:
    wanted = ReadRequest.model_validate(request)
    return base.read_now(lambda connection: reader_of(base, user).read(connection, wanted))


def names(base: Base, *filters: Any, user: str = "ann") -> list[str]:
    found = read(base, user, table="recipes", filters=list(filters), limit=200)
    return [row["name"] for row in found.rows]


def condition(field: str, op: str, value: Any) -> dict[str, Any]:
    return {"field": field, "op": op, "value": value}


@pytest.mark.req("AL-123", "AL-125", "AL-126")
def test_conditions_are_anded_and_name_columns(base: Base):
    found = names(
        base, condition("cuisine", "ilike", "INDIAN"), condition("total_minutes", "lte", 30)
    )
    assert found == ["Butter Chicken", "'; DROP TABLE recipes;--"]


@pytest.mark.req("AL-128")
def test_relations_match_without_multiplying_rows(base: Base):
    assert names(base, condition("ingredients.name", "ilike", "%ONION%")) == [
        "Lentil Soup",
        "Greek Salad",
    ]
    assert names(base, condition("tags", "cs", ["vegan", "soup"])) == ["Lentil Soup"]
    assert names(base, condition("tags", "ov", ["eggs", "curry"])) == [
        "Butter Chicken",
        "שקשוקה 🍳",
    ]
    assert names(base, {"not": condition("tags", "cs", ["vegan"])})[0] == "Butter Chicken"


@pytest.mark.req("AL-133")
def test_names_are_compared_by_key_and_alias(base: Base):
    assert names(base, condition("name", "eq", "butter CHICKENS")) == ["Butter Chicken"]
    assert names(base, condition("ingredients.name", "eq", "Scallions")) == [
        "Lentil Soup",
        "Greek Salad",
    ]


@pytest.mark.req("AL-133")
def test_an_alias_of_an_ingredient_is_no_other_name_of_a_recipe(base: Base):
    """A recipe called as an alias is found by its name, and only by its name."""
    with_alias = "UPDATE recipes SET name = 'Scallions', name_key = 'scallion' WHERE id = :id"
    soup = read(base, table="recipes", filters=[condition("name", "eq", "Lentil Soup")]).rows[0]
    base.write_now(lambda c: c.execute(text(with_alias), {"id": soup["id"]}))
    assert names(base, condition("name", "eq", "scallions")) == ["Scallions"]
    assert names(base, condition("name", "in", ["Scallion"])) == ["Scallions"]
    assert "Scallions" not in names(base, condition("name", "neq", "Scallions"))
    assert names(base, condition("name", "eq", "onion")) == []
    found = read(base, table="ingredients", filters=[condition("name", "eq", "Scallions")])
    assert [row["name"] for row in found.rows] == ["Onion"]


@pytest.mark.req("AL-129", "AL-124")
def test_moments_are_compared_in_one_time_zone(base: Base):
    created = read(base, table="recipes", columns=["created_at"]).rows[0]["created_at"]
    when = datetime.fromisoformat(created)
    same = when.astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
    later = (when + timedelta(minutes=1)).astimezone(ZoneInfo("America/New_York")).isoformat()
    count = len(RECIPES)
    assert len(names(base, condition("created_at", "eq", same))) == count
    assert len(names(base, condition("created_at", "lt", later))) == count
    assert names(base, condition("created_at", "gt", same)) == []


@pytest.mark.req("AL-127")
def test_null_matches_neither_a_condition_nor_its_negation(base: Base):
    assert "Café Crème 100%_pure" not in names(base, condition("cuisine", "neq", "greek"))
    assert "Café Crème 100%_pure" not in names(base, {"not": condition("cuisine", "eq", "greek")})
    assert "Café Crème 100%_pure" in names(base, condition("cuisine", "neq_or_null", "greek"))
    either = {"or": [condition("cuisine", "is", None), condition("cuisine", "eq", "greek")]}
    assert names(base, either) == ["Greek Salad", "Café Crème 100%_pure"]


@pytest.mark.req("AL-126", "AL-130")
def test_wildcards_are_those_of_like_only(base: Base):
    assert names(base, condition("name", "ilike", "café*")) == ["Café Crème 100%_pure"]
    assert names(base, condition("name", "like", "café*")) == []
    assert names(base, condition("", "search", "100%_p")) == ["Café Crème 100%_pure"]
    assert names(base, condition("", "search", "grandma")) == ["Café Crème 100%_pure"]
    assert names(base, condition("name", "ilike", "caf_%")) == []


@pytest.mark.req("AL-124", "AL-131")
def test_another_persons_rows_are_out_of_reach(base: Base):
    everything = {"or": [condition("name", "is", None), {"not": condition("name", "is", None)}]}
    found = read(base, "bob", table="recipes", filters=[everything])
    assert {row["id"].split("-")[0] for row in found.rows} == {"bob"}
    assert "user_id" not in found.rows[0]
    for field in ("user_id", "name_key"):
        with pytest.raises(QueryError) as refused:
            names(base, condition(field, "eq", "bob"))
        assert refused.value.kind == "unknown_column"


@pytest.mark.req("AL-129")
def test_dates_are_those_of_the_user(base: Base):
    soon = read(
        base,
        table="inventory_items",
        filters=[condition("expires_on", "between", ["@today", "@today+3d"])],
        include=["ingredient"],
    )
    assert [row["ingredient"]["name"] for row in soon.rows] == ["Butter"]


@pytest.mark.req("AL-129")
@pytest.mark.parametrize(
    ("token", "date"),
    [
        ("@today", "2026-05-20"),
        ("@today-1d", "2026-05-19"),
        ("@week_start", "2026-05-18"),
        ("@week_end", "2026-05-24"),
        ("@month_start", "2026-05-01"),
        ("@month_end", "2026-05-31"),
    ],
)
def test_tokens(token: str, date: str):
    today = Today.at(NOW_MS, "Europe/Berlin")
    assert resolve_date(token, today, as_moment=False) == date


@pytest.mark.req("AL-129")
def test_a_day_begins_at_the_users_midnight_also_when_the_clocks_change():
    # In Berlin, 2026-03-29 has 23 hours.
    today = Today.at(1_774_825_200_000, "Europe/Berlin")
    assert today.now.isoformat() == "2026-03-30T01:00:00+02:00"
    assert resolve_date("@today", today, as_moment=True) == "2026-03-29T22:00:00.000000Z"
    assert resolve_date("@today-1d", today, as_moment=True) == "2026-03-28T23:00:00.000000Z"
    assert Today.at(NOW_MS, "Europe").now.utcoffset() == timedelta(0)
    sunday = Today.at(NOW_MS, "America/New_York", week_starts_sunday=True)
    assert resolve_date("@week_start", sunday, as_moment=False) == "2026-05-17"


@pytest.mark.req("AL-133", "AL-130")
@pytest.mark.parametrize(
    ("request_", "kind", "told"),
    [
        ({"table": "recipez"}, "unknown_table", "recipes"),
        (
            {"table": "recipes", "filters": [condition("cusine", "eq", "x")]},
            "unknown_column",
            "cuisine",
        ),
        (
            {"table": "recipes", "filters": [condition("servings", "like", "2")]},
            "bad_operator",
            "eq",
        ),
        (
            {"table": "recipe_ingredients", "filters": [condition("optional", "gt", True)]},
            "bad_operator",
            "is",
        ),
        (
            {"table": "recipes", "filters": [condition("difficulty", "eq", "brutal")]},
            "bad_value",
            "easy",
        ),
        (
            {"table": "recipes", "filters": [condition("servings", "eq", "two; DROP")]},
            "bad_value",
            "a number",
        ),
        (
            {"table": "inventory_items", "filters": [condition("expires_on", "eq", "@someday")]},
            "bad_value",
            "@today",
        ),
        ({"table": "recipes", "columns": ["user_id"]}, "unknown_column", "name"),
        ({"table": "recipes", "include": ["users"]}, "unknown_column", "ingredients"),
        ({"table": "users"}, "unknown_table", "recipes"),
        ({"table": "write_log"}, "unknown_table", "recipes"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(
    tmp_path: Path, request_: dict[str, Any], kind: str, told: str
):
    with sqlite_base(tmp_path) as base, pytest.raises(QueryError) as refused:
        read(base, **request_)
    assert refused.value.kind == kind
    assert told in refused.value.context["allowed"]


@pytest.mark.req("AL-130")
def test_too_much_at_once_is_refused(tmp_path: Path):
    deep: dict[str, Any] = condition("name", "eq", "x")
    for _ in range(5):
        deep = {"not": deep}
    many = [condition("name", "eq", str(n)) for n in range(21)]
    with sqlite_base(tmp_path) as base:
        for filters in ([deep], many, [condition("name", "in", ["x"] * 101)]):
            with pytest.raises(QueryError) as refused:
                read(base, table="recipes", filters=filters)
            assert refused.value.kind == "too_complex"


@pytest.mark.req("AL-132")
def test_reads_cannot_write_and_cannot_run_for_long(base: Base):
    with pytest.raises(Exception, match=r"readonly|read-only"):
        base.read_now(lambda c: c.execute(text("DELETE FROM recipes")))
    hasty = Base(base.url, read_seconds=0.05)
    forever = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000000)"
        " SELECT COUNT(*) FROM n"
    )
    try:
        with pytest.raises(QueryError) as refused:
            hasty.read_now(lambda c: c.execute(text(forever)).scalar())
        assert refused.value.kind == "timeout"
        assert hasty.read_now(lambda c: c.execute(text("SELECT 1")).scalar()) == 1
    finally:
        hasty.close()


@pytest.mark.req("AL-134", "AL-125")
def test_counts_limits_order_and_figures(base: Base):
    first = read(base, table="recipes", order_by=[{"column": "name", "dir": "desc"}], limit=2)
    assert (first.row_count, first.total_count, first.truncated) == (2, len(RECIPES), True)
    none = read(base, table="recipes", filters=[condition("cuisine", "eq", "martian")])
    assert (none.rows, none.total_count, none.truncated) == ([], 0, False)
    assert read(base, table="recipes", count_only=True).total_count == len(RECIPES)
    grouped = read(
        base,
        table="recipe_tags",
        group_by=["tag"],
        aggregates=[{"fn": "count"}],
    )
    assert {row["tag"]: row["count"] for row in grouped.rows}["vegan"] == 2
    pages = [read(base, table="recipe_tags", group_by=["tag"], limit=2, offset=o) for o in (0, 2)]
    assert [(page.total_count, page.truncated) for page in pages] == [
        (len(grouped.rows), True),
        (len(grouped.rows), len(grouped.rows) > 4),
    ]
    assert [row["tag"] for page in pages for row in page.rows] == [
        row["tag"] for row in grouped.rows[:4]
    ]
    with pytest.raises(QueryError) as refused:
        read(base, table="recipes", aggregates=[{"fn": "sum", "column": "name"}])
    assert "servings" in refused.value.context["allowed"]
    whole = read(
        base,
        table="recipes",
        filters=[condition("name", "eq", "greek salad")],
        include=["ingredients", "tags"],
    ).rows[0]
    assert [line["name"] for line in whole["ingredients"]] == ["Tomato", "Onion"]
    assert [tag["tag"] for tag in whole["tags"]] == ["salad", "vegan"]


@pytest.mark.req("AL-134")
@pytest.mark.parametrize(
    "value", ["'; DROP TABLE recipes;--", '"', "\\", "%", "🍳", "x" * 10_000, "\u202eabc", "\x01"]
)
def test_hostile_values_are_only_ever_data(base: Base, value: str):
    for op in ("eq", "ilike", "like", "neq"):
        names(base, condition("name", op, value))
    names(base, condition("", "search", value))
    names(base, condition("tags", "ov", [value]))
    assert read(base, table="recipes", count_only=True).total_count == len(RECIPES)


# The oracle: the same filters over the same rows, with three values of truth.
Truth = bool | None
ROWS = [
    {
        "name": each["name"],
        "cuisine": each.get("cuisine"),
        "rating": each.get("rating"),
        "prep_minutes": each.get("prep_minutes"),
        "tags": TAGS.get(number, []),
    }
    for number, each in enumerate(RECIPES)
]
COMPARE = {
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "gt": lambda a, b: a > b,
    "gte": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "lte": lambda a, b: a <= b,
}


def judge(part: dict[str, Any], row: dict[str, Any]) -> Truth:
    if "and" in part:
        parts = [judge(each, row) for each in part["and"]]
        return False if False in parts else None if None in parts else True
    if "or" in part:
        parts = [judge(each, row) for each in part["or"]]
        return True if True in parts else None if None in parts else False
    if "not" in part:
        inner = judge(part["not"], row)
        return None if inner is None else not inner
    return judge_condition(part["op"], row[part["field"]], part["value"], part["field"])


def judge_condition(op: str, value: Any, wanted: Any, field: str) -> Truth:
    if op == "is":
        return value is None
    if op == "neq_or_null":
        return value is None or value != wanted
    if op == "in" and not wanted:
        return False
    if op in ("cs", "ov"):
        return (all if op == "cs" else any)(each in value for each in wanted)
    if value is None:
        return None
    if op == "in":
        return value in wanted
    if op == "between":
        return wanted[0] <= value <= wanted[1]
    if field == "name" and op in ("eq", "neq"):
        return COMPARE[op](name_key(value), name_key(wanted))
    return COMPARE[op](value, wanted)


NUMBERS = st.integers(-1, 45)
CUISINES = st.sampled_from(["indian", "Indian", "greek", "turkish", "nowhere", "'"])
CONDITIONS = st.one_of(
    st.tuples(
        st.sampled_from(["rating", "prep_minutes"]),
        st.sampled_from([*COMPARE, "neq_or_null"]),
        NUMBERS,
    ),
    st.tuples(
        st.sampled_from(["rating", "prep_minutes"]),
        st.just("between"),
        st.lists(NUMBERS, min_size=2, max_size=2),
    ),
    st.tuples(st.just("cuisine"), st.sampled_from(["eq", "neq", "neq_or_null"]), CUISINES),
    st.tuples(st.just("cuisine"), st.just("in"), st.lists(CUISINES, max_size=3)),
    st.tuples(st.sampled_from(["cuisine", "rating"]), st.just("is"), st.none()),
    st.tuples(
        st.just("name"),
        st.sampled_from(["eq", "neq"]),
        st.sampled_from([each["name"] for each in RECIPES]),
    ),
    st.tuples(
        st.just("tags"),
        st.sampled_from(["cs", "ov"]),
        st.lists(st.sampled_from(["vegan", "soup", "eggs", "none"]), max_size=2),
    ),
).map(lambda each: condition(*each))
FILTERS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"and": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"or": parts}),
        inner.map(lambda part: {"not": part}),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def shared_base(tmp_path_factory: pytest.TempPathFactory):
    with sqlite_base(tmp_path_factory.mktemp("kitchen")) as base:
        yield base


@pytest.mark.req("AL-134", "AL-127")
@settings(max_examples=80, deadline=None)
@given(filters=st.lists(FILTERS, min_size=1, max_size=2))
def test_every_filter_means_what_it_says(shared_base: Base, filters: list[dict[str, Any]]):
    wanted = [row["name"] for row in ROWS if all(judge(each, row) is True for each in filters)]
    try:
        assert names(shared_base, *filters) == wanted
    except QueryError as refused:
        assert refused.kind == "too_complex"


@pytest.mark.req("AL-60")
def test_a_schema_is_short_and_hides_what_code_owns():
    tables = kitchen_tables()
    for subdomain in tables.subdomains():
        shown = render_schema(tables, subdomain)
        assert len(shown) / 4 <= 600
        assert "user_id" not in shown
        assert "name_key" not in shown
    assert "name* text" in render_schema(tables, "recipes")
    assert "easy|medium|hard" in render_schema(tables, "recipes")
