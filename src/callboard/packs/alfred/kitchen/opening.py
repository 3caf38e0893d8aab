"""Opening a kitchen: its database, brought up to date, and the people who cook there."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from callboard.core.canonical import digest_bytes
from callboard.core.errors import NotFound
from callboard.library.relational.base import Base, dialect_of
from callboard.library.relational.rules import WriteLimits
from callboard.library.relational.tables import Tables
from callboard.library.relational.undo import LogTables
from callboard.library.relational.writer import RowWriter
from callboard.packs.alfred.kitchen.rules.kitchen_rules import KitchenRules
from callboard.store.sqlite.structure import OBJECTS, refuse_unknown

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable

FILE_NAME: Final = "kitchen.db"
COUNTED: Final = (
    "recipes",
    "inventory_items",
    "shopping_items",
    "meal_plans",
    "tasks",
    "cooking_log",
)
"""The tables whose rows are told as a number."""
TRIGGERS: Final = {
    "recipe_sizes_insert": "1b05ac0e47edb81907b930f2a69d3c1e",
    "recipe_sizes_delete": "86d3ea812646d32efbc0cf739f9cc64c",
    "recipe_sizes_update": "e0852ac0783b26f6c4aa162b380e3aee",
}
"""The triggers of a kitchen's file, each with the digest of its SQL."""


class UnknownPerson(NotFound):
    """Somebody who has no place in this kitchen."""

    code = "unknown_person"


def kitchen_url(folder: Path, url: str = "") -> str:
    """Return the address of a project's kitchen: the one that was set, or a file of its own."""
    return url or f"sqlite:///{folder / FILE_NAME}"


def open_kitchen(url: str) -> Base:
    """Open a kitchen's database; tables are made or changed first if they are not up to date."""
    from callboard.packs.alfred.kitchen.migrations.upgrading import bring_up_to_date

    base = Base(url)
    try:
        # Before it is written to: a trigger somebody added would act in the cook's name.
        refuse_strangers(base)
        bring_up_to_date(base)
    except BaseException:
        base.close()
        raise
    return base


def refuse_strangers(base: Base) -> None:
    """Refuse a kitchen's file that holds triggers, views or tables Callboard has not made."""
    if not base.is_sqlite:
        return
    from sqlalchemy import text

    from callboard.packs.alfred.kitchen.migrations.upgrading import VERSION_TABLE
    from callboard.packs.alfred.kitchen.schema import metadata

    def look(connection: "Connection") -> list[Any]:
        return [tuple(row) for row in connection.execute(text(OBJECTS))]

    # An index changes no row; those of older revisions differ from today's.
    found = [row for row in base.read_now(look) if row[0] != "index" and not _is_ours(row)]
    known = {f"table {name}": None for name in (*metadata.tables, VERSION_TABLE)}
    way_out = "Do not use it if you did not do this: put a backup in its place."
    refuse_unknown(found, known, Path(base.url.removeprefix("sqlite:///")), way_out)


def _is_ours(row: tuple[str, str, str, str]) -> bool:
    """Say whether an object is a trigger of our own, to the letter."""
    kind, name, _, sql = row
    return kind == "trigger" and TRIGGERS.get(name) == digest_bytes(sql.encode())[:32]


def kitchen_log() -> LogTables:
    """Return the write log that lies in the kitchen's own database."""
    from callboard.packs.alfred.kitchen.schema import write_log

    return write_log


def kitchen_writer(base: Base, tables: Tables, new_id: Callable[[], str]) -> RowWriter:
    """Return what writes rows of a kitchen by its rules."""
    dialect = dialect_of(is_sqlite=base.is_sqlite)
    rules = KitchenRules(tables, new_id)
    return RowWriter(tables, rules, dialect, WriteLimits(), kitchen_log(), new_id)


def add_person(
    connection: "Connection", user_id: str, display_name: str, now: str, timezone: str = "UTC"
) -> bool:
    """Give somebody a place and an empty profile; say whether they are new."""
    from callboard.packs.alfred.kitchen.schema.tables import user_profile, users

    times = {"created_at": now, "updated_at": now}
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    # Two doors may let the same person in at once.
    person: Any = insert(users).values(
        id=user_id, display_name=display_name, timezone=timezone, **times
    )
    unless_known: Any = person.on_conflict_do_nothing(index_elements=["id"])
    is_new = connection.execute(unless_known.returning(users.c.id)).first() is not None
    profile: Any = insert(user_profile).values(user_id=user_id, **times)
    connection.execute(profile.on_conflict_do_nothing(index_elements=["user_id"]))
    return is_new


def people(connection: "Connection") -> list[Mapping[str, Any]]:
    """Return who cooks here, the first to come first."""
    from sqlalchemy import select

    from callboard.packs.alfred.kitchen.schema.tables import users

    query = select(users).order_by(users.c.created_at, users.c.id)
    return [dict(row) for row in connection.execute(query).mappings()]


def person(connection: "Connection", user_id: str) -> Mapping[str, Any]:
    """Return one of them; somebody who has no place here raises."""
    found = connection.execute(_person(), {"user_id": user_id}).mappings().first()
    if found is None:
        raise UnknownPerson(
            f"Nobody called {user_id!r} cooks here", fix="Add them to the household first."
        )
    return dict(found)


def counts(connection: "Connection", user_id: str) -> dict[str, int]:
    """Return how many rows somebody has, by table; what is put away or done does not count."""
    row = connection.execute(_counts(), {"user_id": user_id}).one()
    return dict(zip(COUNTED, map(int, row), strict=True))


def categories(connection: "Connection", user_id: str) -> dict[str, dict[str, int]]:
    """Return how many rows of stock and of the shopping list there are, by category."""
    from sqlalchemy import func, select

    from callboard.packs.alfred.kitchen.schema import metadata

    items, listed = metadata.tables["inventory_items"], metadata.tables["shopping_items"]
    catalogue = metadata.tables["ingredients"]
    queries = {
        "inventory_items": select(catalogue.c.category, func.count())
        .join(items, items.c.ingredient_id == catalogue.c.id)
        .where(items.c.user_id == user_id)
        .group_by(catalogue.c.category)
        .order_by(catalogue.c.category),
        "shopping_items": select(listed.c.category, func.count())
        .where(listed.c.user_id == user_id, *_open(listed))
        .group_by(listed.c.category)
        .order_by(listed.c.category),
    }
    return {
        name: {str(row[0]): int(row[1]) for row in connection.execute(query)}
        for name, query in queries.items()
    }


# Asked with every message, so made only once.
@cache
def _person() -> "Executable":
    from sqlalchemy import bindparam, select

    from callboard.packs.alfred.kitchen.schema.tables import users

    return select(users).where(users.c.id == bindparam("user_id"))


@cache
def _counts() -> "Executable":
    from sqlalchemy import bindparam, func, select

    from callboard.packs.alfred.kitchen.schema import metadata

    tables: list[Any] = [metadata.tables[name] for name in COUNTED]
    mine = [each.c.user_id == bindparam("user_id") for each in tables]
    queries = [
        select(func.count()).where(where, *_open(table))
        for table, where in zip(tables, mine, strict=True)
    ]
    return select(*(each.scalar_subquery() for each in queries))


def _open(table: Any) -> list[Any]:
    match table.name:
        case "recipes":
            return [table.c.archived_at.is_(None)]
        case "shopping_items":
            return [table.c.status.in_(("needed", "in_cart"))]
        case "tasks":
            return [table.c.status == "open"]
        case _:
            return []
