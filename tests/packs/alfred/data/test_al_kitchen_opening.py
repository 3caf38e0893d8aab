"""Opening a kitchen: migrations, people, the sample kitchen, and very many at once."""

import asyncio
import itertools
import multiprocessing
import threading
from pathlib import Path
from typing import Any

import pytest
from kitchen_desk import TODAY, KitchenDesk
from sqlalchemy import create_engine, inspect, make_url, text

from callboard.choreography.turn.requests import WriteError
from callboard.library.relational.base import Base
from callboard.packs.alfred.kitchen.migrations.upgrading import (
    HEAD,
    NewerKitchen,
    alembic_config,
    bring_up_to_date,
    stored_revision,
)
from callboard.packs.alfred.kitchen.opening import (
    FILE_NAME,
    UnknownPerson,
    add_person,
    categories,
    counts,
    kitchen_log,
    kitchen_url,
    open_kitchen,
    people,
    person,
)
from callboard.packs.alfred.kitchen.schema import metadata
from callboard.packs.alfred.kitchen.seeding import seed
from callboard.studio.database import claim
from callboard.studio.project import Project
from warm_kitchen import furnish

NOW = "2026-05-20T08:30:00.000000Z"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'kitchen.db'}"
    server = request.getfixturevalue("postgres_url")
    schema = f"m{abs(hash(tmp_path))}"
    admin = create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    admin.dispose()
    options = {"options": f"-csearch_path={schema}"}
    return make_url(server).update_query_dict(options).render_as_string(hide_password=False)


def test_a_kitchen_laid_for_the_tests_is_the_users_own_and_has_nothing_left_to_upgrade(
    tmp_path: Path,
) -> None:
    project = Project.init(tmp_path)
    furnish(project)
    claim(project, FILE_NAME)
    base = Base(kitchen_url(project.folder))
    try:
        assert not bring_up_to_date(base)
    finally:
        base.close()


@pytest.mark.req("AL-123")
def test_an_empty_database_becomes_a_kitchen(url: str):
    base = open_kitchen(url)
    try:
        assert base.read_now(stored_revision) == HEAD
        assert not bring_up_to_date(base)
        kitchen_log()
        found = base.read_now(lambda c: _shape(inspect(c)))
        wanted = _shape_of_metadata(url)
        assert found == wanted
    finally:
        base.close()


@pytest.mark.req("AL-123")
def test_the_newest_revision_is_the_one_that_is_looked_for():
    from alembic.script import ScriptDirectory

    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [HEAD]


@pytest.mark.req("AL-123", "AL-149")
def test_a_kitchen_of_before_is_upgraded_and_its_recipes_are_counted(url: str):
    from alembic import command

    base = open_kitchen(url)
    try:
        base.write_now(lambda c: add_person(c, "ann", "Ann", NOW))
        base.write_now(lambda c: _lines(c, "old", (False, True, False)))
        config = alembic_config()

        def back(connection: Any) -> None:
            config.attributes["connection"] = connection
            command.downgrade(config, "0001")

        base.rebuild_now(back)
        assert not base.read_now(lambda c: inspect(c).has_table("recipe_sizes"))
        assert bring_up_to_date(base)
        base.write_now(lambda c: _lines(c, "new", (False, False, False, True)))
        assert base.read_now(_sizes) == {"old": 2, "new": 3}
        base.write_now(
            lambda c: c.execute(
                text("UPDATE recipe_ingredients SET optional = true WHERE position = 0")
            )
        )
        assert base.read_now(_sizes) == {"old": 1, "new": 2}
        base.write_now(
            lambda c: c.execute(text("DELETE FROM recipe_ingredients WHERE position = 2"))
        )
        base.write_now(lambda c: c.execute(text("DELETE FROM recipes WHERE id = 'old'")))
        assert base.read_now(_sizes) == {"new": 1}
    finally:
        base.close()


def test_names_of_a_kitchen_of_before_are_shared_if_everybody_uses_them(url: str):
    from alembic import command

    base = open_kitchen(url)
    try:
        base.write_now(lambda c: add_person(c, "ann", "Ann", NOW))
        config = alembic_config()

        def back(connection: Any) -> None:
            config.attributes["connection"] = connection
            command.downgrade(config, "0002")
            for name in ("red lentils", "Aunt Zelda's tonic"):
                row = {"id": name, "name": name, "key": name.casefold(), "at": NOW}
                connection.execute(
                    text(
                        "INSERT INTO ingredients (id, name, name_key, created_at, updated_at)"
                        " VALUES (:id, :name, :key, :at, :at)"
                    ),
                    row,
                )

        base.rebuild_now(back)
        assert bring_up_to_date(base)
        shared = "SELECT name FROM ingredients WHERE is_shared"
        assert base.read_now(lambda c: list(c.execute(text(shared)).scalars())) == ["red lentils"]
        kept = "SELECT eaters FROM user_profile"
        assert base.read_now(lambda c: str(c.execute(text(kept)).scalar_one())) == "[]"
    finally:
        base.close()


def _lines(connection: Any, name: str, optional: tuple[bool, ...]) -> None:
    own = {"id": name, "name": name, "name_key": name, "created_at": NOW, "updated_at": NOW}
    tables = metadata.tables
    connection.execute(tables["ingredients"].insert().values(**own))
    connection.execute(tables["recipes"].insert().values(user_id="ann", **own))
    for position, is_optional in enumerate(optional):
        line = {"id": f"{name}-{position}", "recipe_id": name, "ingredient_id": name}
        values = {**line, "user_id": "ann", "position": position, "optional": is_optional}
        connection.execute(tables["recipe_ingredients"].insert().values(**values))


def _sizes(connection: Any) -> dict[str, int]:
    rows = connection.execute(text("SELECT recipe_id, required FROM recipe_sizes"))
    return {str(recipe): int(required) for recipe, required in rows}


@pytest.mark.req("AL-123")
def test_a_kitchen_of_a_newer_callboard_is_refused(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'kitchen.db'}"
    base = open_kitchen(url)
    base.write_now(lambda c: c.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    base.close()
    with pytest.raises(NewerKitchen, match="9999"):
        open_kitchen(url)


@pytest.mark.req("AL-123")
def test_many_open_an_empty_kitchen_at_once(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'kitchen.db'}"
    outcomes: list[str | None] = []
    start = threading.Barrier(6)

    def enter() -> None:
        start.wait()
        base = open_kitchen(url)
        outcomes.append(base.read_now(stored_revision))
        base.close()

    threads = [threading.Thread(target=enter) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [HEAD] * 6


@pytest.mark.req("AL-123", "AL-124")
def test_the_sample_kitchen_is_filled_for_one_person(url: str):
    base = open_kitchen(url)
    try:
        for user in ("ann", "bob"):
            assert base.write_now(lambda c, u=user: add_person(c, u, u.title(), NOW))
            assert not base.write_now(lambda c, u=user: add_person(c, u, "Again", NOW))
        assert [row["display_name"] for row in base.read_now(people)] == ["Ann", "Bob"]
        numbers = itertools.count(1)
        filled = seed(base, "ann", TODAY, lambda: f"id-{next(numbers)}")
        assert filled["recipes"] >= 40
        assert filled["inventory_items"] >= 45
        assert filled["shopping_items"] >= 20
        assert seed(base, "ann", TODAY, lambda: f"id-{next(numbers)}") == filled
        assert set(base.read_now(lambda c: counts(c, "bob")).values()) == {0}
        by_category = base.read_now(lambda c: categories(c, "ann"))
        assert sum(by_category["shopping_items"].values()) == filled["shopping_items"]
        assert by_category["inventory_items"]["dairy_eggs"] > 3
        with pytest.raises(UnknownPerson, match="zoe"):
            base.read_now(lambda c: person(c, "zoe"))
    finally:
        base.close()


@pytest.mark.req("AL-140", "AL-51")
def test_a_hundred_people_write_into_one_file_and_nothing_is_lost(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'kitchen.db'}"
    base = open_kitchen(url)

    def fill(connection: Any) -> None:
        for number in range(100):
            add_person(connection, f"user{number}", f"User {number}", NOW)

    base.write_now(fill)
    context = multiprocessing.get_context("spawn")
    parts = [range(start, start + 25) for start in range(0, 100, 25)]
    processes = [context.Process(target=_write_for, args=(url, part)) for part in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    for number in range(100):
        desk = KitchenDesk(base, f"user{number}")
        assert [(row["name"], row["quantity"]) for row in desk.rows("shopping_items")] == [
            ("Eggs", 6)
        ]
        assert len(desk.rows("tasks")) == 1
    base.close()


def _write_for(url: str, users: range) -> None:
    """Write for some people at once, as one process of the house does."""
    base = Base(url)

    async def work(number: int) -> None:
        desk = KitchenDesk(base, f"user{number}")
        for turn in range(1, 4):
            await base.write(desk.writing("shopping_items", turn, name="Eggs", quantity=2))
        await base.write(desk.writing("tasks", 4, description="Soak beans"))

    async def all_of_them() -> None:
        await asyncio.gather(*(work(number) for number in users))

    asyncio.run(all_of_them())
    base.close()


@pytest.mark.req("AL-143", "AL-141")
def test_two_at_one_list_lose_nothing(base: Base):
    """Two doors of one household, the same list: both add, both see the sum."""
    kitchen = [KitchenDesk(base, "ann", f"sess-{number}") for number in range(2)]
    start = threading.Barrier(2)
    failures: list[WriteError] = []

    def shop(desk: KitchenDesk) -> None:
        start.wait()
        for turn in range(1, 11):
            try:
                desk.add("shopping_items", turn, name="eggs", quantity=1)
            except WriteError as error:
                failures.append(error)

    threads = [threading.Thread(target=shop, args=(desk,)) for desk in kitchen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = kitchen[0].rows("shopping_items")
    assert ([row["quantity"] for row in rows], failures) == ([20], [])


@pytest.mark.req("AL-41", "AL-140")
def test_power_loss_between_two_steps_keeps_the_first_and_repeats_nothing(tmp_path: Path):
    url = f"sqlite:///{tmp_path / 'kitchen.db'}"
    base = open_kitchen(url)
    base.write_now(lambda c: add_person(c, "ann", "Ann", NOW))
    base.close()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_die_in_the_second_step, args=(url,))
    process.start()
    process.join()
    assert process.exitcode == 9
    again = open_kitchen(url)
    desk = KitchenDesk(again)
    assert [row["name"] for row in desk.rows("shopping_items")] == ["Eggs"]
    assert desk.rows("inventory_items") == []
    # The plan is taken up again: the first step is known, the second is done now.
    desk.add("shopping_items", 1, name="Eggs", quantity=6)
    desk.add("inventory_items", 1, ingredient="Milk", quantity=1, unit="l")
    assert [row["quantity"] for row in desk.rows("shopping_items")] == [6]
    assert desk.stock() == {"Milk": [(1, "l")]}
    again.close()


def _die_in_the_second_step(url: str) -> None:
    import os

    desk = KitchenDesk(Base(url))
    desk.add("shopping_items", 1, name="Eggs", quantity=6)
    from callboard.library.relational.changes import RowChanges

    def die(*_: Any, **__: Any) -> None:
        os._exit(9)

    # After the row is in and before the transaction ends.
    RowChanges._note = die  # type: ignore[method-assign]
    desk.add("inventory_items", 1, ingredient="Milk", quantity=1, unit="l")


def _shape(inspector: Any) -> dict[str, Any]:
    """Return tables with their columns and indexes."""
    shape: dict[str, Any] = {}
    for table in inspector.get_table_names():
        if table == "alembic_version":
            continue
        columns = {(col["name"], col["nullable"]) for col in inspector.get_columns(table)}
        keys = {
            (tuple(key["constrained_columns"]), key["referred_table"], str(key["options"]))
            for key in inspector.get_foreign_keys(table)
        }
        shape[table] = (columns, keys, inspector.get_pk_constraint(table)["constrained_columns"])
    return shape


def _shape_of_metadata(url: str) -> dict[str, Any]:
    """Return the same of the tables as the code describes them, made beside the others."""
    if url.startswith("sqlite"):
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            metadata.create_all(connection)
            shape = _shape(inspect(connection))
            names = _index_names(connection)
    else:
        other = make_url(url)
        engine = create_engine(other, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("CREATE SCHEMA IF NOT EXISTS made"))
            connection.execute(text("SET search_path TO made"))
            metadata.create_all(connection)
            shape = _shape(inspect(connection))
            connection.execute(text("DROP SCHEMA made CASCADE"))
            names = set()
    engine.dispose()
    if names:
        migrated = create_engine(url)
        with migrated.connect() as connection:
            assert _index_names(connection) == names
        migrated.dispose()
    return shape


def _index_names(connection: Any) -> set[tuple[str, str]]:
    found = connection.execute(
        text("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    )
    return {(str(name), "".join(str(sql).split())) for name, sql in found}
