"""Writing rows: validated, scoped, atomic, once, and undoable; on both databases."""

import itertools
from typing import Any

import pytest
from kitchen_base import NOW_MS, reader_of

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.requests import (
    ReadRequest,
    UndoResult,
    WriteError,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.library.relational.base import Base, dialect_of
from callboard.library.relational.dates import Today
from callboard.library.relational.rules import PlainRules, WriteLimits
from callboard.library.relational.undo import log_tables, undo_last_turn
from callboard.library.relational.writer import RowWriter
from callboard.packs.alfred.kitchen.schema import kitchen_tables, metadata

TODAY = Today.at(NOW_MS, "Europe/Berlin")
LOG = log_tables(metadata)


class Desk:
    """A person at a database: reads, writes, and undoes."""

    def __init__(self, base: Base, user: str = "ann") -> None:
        self.base = base
        self.who = Who(user, "sess-1")
        numbers = itertools.count(1)
        self.writer = RowWriter(
            kitchen_tables(),
            PlainRules(),
            dialect_of(is_sqlite=base.is_sqlite),
            WriteLimits(),
            LOG,
            lambda: f"{user}-new-{next(numbers)}",
        )

    def write(
        self, turn: int = 1, confirmed: WritePreview | None = None, **request: Any
    ) -> WriteResult:
        wanted = WriteRequest.model_validate(request)
        key = WriteKey(session_id="sess-1", turn=turn, step_id="g0.s0")
        return self.base.write_now(
            lambda c: self.writer.write(c, self.who, TODAY, wanted, key, confirmed)
        )

    def preview(self, **request: Any) -> WritePreview:
        wanted = WriteRequest.model_validate(request)
        return self.base.read_now(lambda c: self.writer.preview(c, self.who, TODAY, wanted))

    def undo(self) -> UndoResult:
        tables = kitchen_tables()
        return self.base.write_now(
            lambda c: undo_last_turn(c, self.who, tables, LOG, "2026-05-20T09:00:00.000000Z")
        )

    def rows(self, table: str, **request: Any) -> list[dict[str, Any]]:
        wanted = ReadRequest.model_validate({"table": table, "limit": 200, **request})
        reader = reader_of(self.base, self.who.user_id)
        return self.base.read_now(lambda c: reader.read(c, wanted)).rows


@pytest.fixture
def desk(base: Base) -> Desk:
    return Desk(base)


def named(name: str) -> list[dict[str, Any]]:
    return [{"field": "name", "op": "eq", "value": name}]


PASTA: dict[str, Any] = {
    "name": "Weeknight Pasta 🍝",
    "servings": 3,
    "prep_minutes": 5,
    "ingredients": [{"ingredient_id": "ing-butter", "quantity": 50.12345, "unit": "g"}],
    "steps": [{"text": "Boil."}, {"text": "Eat.", "minutes": 10}],
    "tags": ["quick", "vegetarian"],
}


@pytest.mark.req("AL-136", "AL-140", "AL-148")
def test_a_recipe_is_written_with_its_children_and_read_back(desk: Desk):
    result = desk.write(op="create", table="recipes", records=[PASTA])
    assert (result.created, result.labels) == (1, ["Weeknight Pasta 🍝"])
    row = desk.rows(
        "recipes",
        filters=named("weeknight pasta"),
        include=["ingredients", "steps", "tags"],
    )[0]
    assert row["total_minutes"] == 5
    assert [(line["name"], line["quantity"]) for line in row["ingredients"]] == [("Butter", 50.123)]
    assert [(step["position"], step["text"]) for step in row["steps"]] == [
        (0, "Boil."),
        (1, "Eat."),
    ]
    assert [tag["tag"] for tag in row["tags"]] == ["quick", "vegetarian"]


@pytest.mark.req("AL-140")
def test_an_error_in_a_child_leaves_nothing_behind(desk: Desk):
    before = desk.rows("recipes")
    broken = {**PASTA, "steps": [{"text": "Boil."}, {"text": "Eat.", "minutes": "soon"}]}
    with pytest.raises(WriteError) as refused:
        desk.write(op="create", table="recipes", records=[broken])
    assert (refused.value.kind, refused.value.context["column"]) == ("validation", "minutes")
    assert desk.rows("recipes") == before
    assert desk.rows("recipe_steps") == []


@pytest.mark.req("AL-137", "AL-124")
@pytest.mark.parametrize(
    ("record", "column"),
    [
        ({"name": "X", "user_id": "bob"}, "user_id"),
        ({"name": "X", "id": "1"}, "id"),
        ({"name": "X", "version": 7}, "version"),
        ({"name": "X", "name_key": "y"}, "name_key"),
        ({"name": "X", "cusine": "thai"}, "cusine"),
        ({"name": "X", "servings": 0}, "servings"),
        ({"name": "X", "rating": 6}, "rating"),
        ({"name": "X", "difficulty": "brutal"}, "difficulty"),
        ({"name": ""}, "name"),
        ({"cuisine": "thai"}, "name"),
        ({"name": "X", "servings": float("inf")}, "servings"),
    ],
)
def test_what_may_not_be_set_is_named(desk: Desk, record: dict[str, Any], column: str):
    with pytest.raises(WriteError) as refused:
        desk.write(op="create", table="recipes", records=[record])
    assert (refused.value.kind, refused.value.context["column"]) == ("validation", column)


@pytest.mark.req("AL-138")
def test_a_reference_to_what_is_not_there_or_not_mine_is_named(desk: Desk):
    for recipe_id in ("nowhere", "bob-r0"):
        with pytest.raises(WriteError) as refused:
            desk.write(
                op="create",
                table="meal_plans",
                records=[{"plan_date": "@today", "recipe_id": recipe_id}],
            )
        assert refused.value.kind == "fk_missing"
        assert refused.value.context == {
            "kind": "fk_missing",
            "column": "recipe_id",
            "value": recipe_id,
        }
    desk.write(
        op="create",
        table="meal_plans",
        records=[{"plan_date": "@today+1d", "recipe_id": "ann-r0"}],
    )
    assert [row["plan_date"] for row in desk.rows("meal_plans")] == ["2026-05-21"]


@pytest.mark.req("AL-136")
@pytest.mark.parametrize("op", ["update", "delete"])
def test_a_change_without_a_filter_is_refused(desk: Desk, op: str):
    with pytest.raises(WriteError, match="filter is needed"):
        desk.write(op=op, table="recipes", set={"rating": 5})
    assert len(desk.rows("recipes")) == 6


@pytest.mark.req("AL-142", "AL-143")
def test_many_deletions_are_asked_about_first_and_again_when_things_changed(desk: Desk):
    everything = {"op": "delete", "table": "recipes", "filters": [
        {"not": {"field": "name", "op": "is", "value": None}}
    ]}  # fmt: skip
    preview = desk.preview(**everything)
    assert (preview.match_count, len(preview.labels)) == (6, 5)
    with pytest.raises(WriteError) as refused:
        desk.write(**everything)
    assert refused.value.kind == "needs_confirmation"
    desk.write(op="create", table="recipes", records=[{"name": "One more"}])
    with pytest.raises(WriteError) as refused:
        desk.write(2, preview, **everything)
    assert refused.value.kind == "conflict"
    assert len(desk.rows("recipes")) == 7
    result = desk.write(3, desk.preview(**everything), **everything)
    assert (result.deleted, desk.rows("recipes")) == (7, [])
    assert len(desk.rows("recipes", include_archived=True)) == 7


@pytest.mark.req("AL-144")
def test_the_same_write_twice_is_one_write(desk: Desk):
    request = {"op": "create", "table": "tasks", "records": [{"description": "Soak beans"}]}
    first = desk.write(**request)
    again = desk.write(**request)
    assert again == first
    assert len(desk.rows("tasks")) == 1
    desk.write(2, **request)
    assert len(desk.rows("tasks")) == 2


@pytest.mark.req("AL-143")
def test_a_change_to_a_row_that_somebody_changed_is_refused(desk: Desk):
    update = {"op": "update", "table": "recipes", "filters": named("Lentil Soup")}
    desk.write(1, **update, set={"rating": 3}, versions={"ann-r1": 1})
    with pytest.raises(WriteError) as refused:
        desk.write(2, **update, set={"rating": 5}, versions={"ann-r1": 1})
    assert refused.value.kind == "conflict"
    assert desk.rows("recipes", filters=named("Lentil Soup"))[0]["rating"] == 3


@pytest.mark.req("AL-145")
def test_undo_brings_back_a_turn_as_a_whole(desk: Desk):
    before = desk.rows("recipes", include=["tags", "steps", "ingredients"])
    desk.write(1, op="create", table="recipes", records=[PASTA])
    desk.write(
        1, op="update", table="recipes", filters=named("Weeknight Pasta 🍝"), set={"rating": 2}
    )
    desk.write(
        1,
        op="update",
        table="recipes",
        filters=named("Lentil Soup"),
        set={"notes": "more salt", "tags": ["soup"]},
    )
    undone = desk.undo()
    assert undone.turn == 1
    after = desk.rows("recipes", include=["tags", "steps", "ingredients"])
    assert [_content(row) for row in after] == [_content(row) for row in before]
    with pytest.raises(WriteError, match="nothing to undo"):
        desk.undo()


@pytest.mark.req("AL-145")
def test_undo_refuses_when_a_row_was_changed_since(desk: Desk):
    desk.write(1, op="update", table="recipes", filters=named("Lentil Soup"), set={"rating": 1})
    other = Desk(desk.base)
    other.who = Who("ann", "sess-2")
    request = WriteRequest.model_validate(
        {"op": "update", "table": "recipes", "filters": named("Lentil Soup"), "set": {"rating": 5}}
    )
    key = WriteKey(session_id="sess-2", turn=1, step_id="g0.s0")
    other.base.write_now(lambda c: other.writer.write(c, other.who, TODAY, request, key))
    with pytest.raises(WriteError, match="changed since"):
        desk.undo()
    assert desk.rows("recipes", filters=named("Lentil Soup"))[0]["rating"] == 5


@pytest.mark.req("AL-145")
def test_a_name_that_was_taken_meanwhile_comes_back_as_another(desk: Desk):
    desk.write(1, op="delete", table="recipes", filters=named("Lentil Soup"))
    other = Desk(desk.base)
    key = WriteKey(session_id="sess-2", turn=1, step_id="g0.s0")
    request = WriteRequest.model_validate(
        {"op": "create", "table": "recipes", "records": [{"name": "Lentil soup"}]}
    )
    desk.base.write_now(lambda c: other.writer.write(c, other.who, TODAY, request, key))
    undone = desk.undo()
    assert "restored" in undone.notes[0]
    names = {row["name"] for row in desk.rows("recipes")}
    assert {"Lentil soup", "Lentil Soup (restored)"} <= names


@pytest.mark.req("AL-142")
def test_more_rows_than_allowed_are_refused(desk: Desk):
    with pytest.raises(WriteError) as refused:
        desk.write(
            op="create",
            table="tasks",
            records=[{"description": f"task {number}"} for number in range(101)],
        )
    assert refused.value.kind == "limit"
    for turn_part in range(2):
        desk.write(
            op="create",
            table="tasks",
            records=[{"description": f"task {turn_part}.{number}"} for number in range(100)],
        )
    with pytest.raises(WriteError, match="This turn"):
        desk.write(op="create", table="tasks", records=[{"description": "one too many"}])
    assert len(desk.rows("tasks", limit=200)) == 200


@pytest.mark.req("AL-124")
def test_the_shared_catalogue_is_not_written_by_request(desk: Desk):
    with pytest.raises(WriteError, match="shared by everybody"):
        desk.write(op="create", table="ingredients", records=[{"name": "Unobtainium"}])


def _content(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("version", "updated_at")}
