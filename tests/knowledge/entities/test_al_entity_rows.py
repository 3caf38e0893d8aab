"""A registry survives in the database, and so does what was generated."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from callboard.core.vocabulary import BatchKind, Entity, EntityState
from callboard.knowledge.entities import (
    EntityRegistry,
    StoredContent,
    archive_content,
    by_label,
    by_ordinal,
    find_content,
    link_content,
    list_events,
    load_content,
    load_registry,
    of_class,
    save_content,
    save_registry,
)
from callboard.store.database import Database
from stores import open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_store(tmp_path / "callboard.db")
    yield opened
    opened.close()


async def test_a_registry_is_read_back_as_it_was(database: Database):
    registry = EntityRegistry()
    temp = registry.new_temp_id("recipe")
    registry.add(
        Entity(
            temp,
            "recipe",
            "Crème “brûlée” 🍮",
            slot="s",
            batch_id="b",
            batch_kind=BatchKind.SET,
            tags=("dessert", "חלב"),
        ),
        1,
    )
    registry.promote(temp, "db-1", 2)
    registry.pin("db-1", 2)
    await database.write(lambda c: save_registry(c, "sess", registry, 10))
    again = database.read(lambda c: load_registry(c, "sess"))
    assert again.all() == registry.all()
    assert again.get(temp).id == "db-1"
    assert again.new_temp_id("recipe") == "temp_recipe_2"
    assert database.read(lambda c: load_registry(c, "other")).all() == ()
    changes = [each.change for each in database.read(lambda c: list_events(c, "sess"))]
    assert changes == ["added pending", "saved as db-1"]


@pytest.mark.req("AL-16")
async def test_content_outlives_its_entity_and_is_found_by_its_label(database: Database):
    soup = StoredContent("temp_recipe_1", "recipe", "Lentil soup", {"name": "Lentil soup", "n": 1})
    await database.write(lambda c: save_content(c, "sess", soup, 1))
    await database.write(lambda c: link_content(c, "sess", "temp_recipe_1", "db-9"))
    await database.write(lambda c: archive_content(c, "sess", "temp_recipe_1", 5))
    found = database.read(lambda c: find_content(c, "sess", "lentil"))
    assert [(each.payload, each.db_id, each.archived_at) for each in found] == [
        (soup.payload, "db-9", 5)
    ]
    assert database.read(lambda c: load_content(c, "other", "temp_recipe_1")) is None


ROW = tuple(
    Entity(f"e{number}", "recipe", label, state=EntityState.ACTIVE, tags=tags)
    for number, (label, tags) in enumerate(
        [
            ("Greek Salad", ()),
            ("Butter Chicken", ("curry",)),
            ("Tabouleh", ("salads",)),
            ("Chicken Tacos", ()),
        ]
    )
)


@pytest.mark.req("AL-23")
def test_a_class_is_matched_in_labels_and_tags_singular_or_plural():
    assert [each.label for each in of_class(ROW, "salads")] == ["Greek Salad", "Tabouleh"]
    assert [each.label for each in of_class(ROW, "curries")] == ["Butter Chicken"]
    assert [each.label for each in of_class(ROW, "chicken")] == ["Butter Chicken", "Chicken Tacos"]
    assert of_class(ROW, "chick") == ()
    assert of_class(ROW, "") == ()


@pytest.mark.req("AL-35")
def test_names_are_found_in_spite_of_a_typing_error_and_refused_when_too_far():
    assert by_label(ROW, "buter chicken")[0].label == "Butter Chicken"
    assert by_label(ROW, "tacos")[0].label == "Chicken Tacos"
    assert by_label(ROW, "lasagne") == ()
    assert len(by_label(ROW, "chicken")) == 2


def test_a_place_in_the_row_is_found():
    assert by_ordinal(ROW, "the first one") == ROW[0]
    assert by_ordinal(ROW, "#2") == ROW[1]
    assert by_ordinal(ROW, "the last") == ROW[-1]
    assert by_ordinal(ROW, "3rd please") == ROW[2]
    assert by_ordinal(ROW, "the ninth") is None
    assert by_ordinal(ROW, "that creamy one") is None
