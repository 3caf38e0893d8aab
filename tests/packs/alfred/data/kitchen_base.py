"""A kitchen's database with a few known rows, on SQLite or on a real Postgres."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Base, dialect_of
from callboard.library.relational.dates import Today
from callboard.library.relational.reading import Reader
from callboard.packs.alfred.kitchen.schema import kitchen_tables, metadata
from callboard.packs.alfred.kitchen.schema import recipes as r
from callboard.packs.alfred.kitchen.schema import tables as s
from callboard.packs.alfred.kitchen.schema.tables import user_profile, users

# A Wednesday.
NOW_MS = 1_779_265_800_000
AT = "2026-05-20T08:30:00.000000Z"
TIMES = {"created_at": AT, "updated_at": AT}

RECIPES: list[dict[str, Any]] = [
    {"name": "Butter Chicken", "cuisine": "indian", "prep_minutes": 10, "cook_minutes": 15},
    {"name": "Lentil Soup", "cuisine": "turkish", "prep_minutes": 10, "cook_minutes": 40},
    {"name": "Greek Salad", "cuisine": "greek", "prep_minutes": 15, "rating": 4},
    {"name": "Café Crème 100%_pure", "cuisine": None, "notes": "Ask GRANDMA"},
    {"name": "'; DROP TABLE recipes;--", "cuisine": "Indian", "cook_minutes": 5, "rating": 5},
    {"name": "שקשוקה 🍳", "cuisine": "israeli", "prep_minutes": 0, "cook_minutes": 25},
]
TAGS = {0: ["curry", "chicken"], 1: ["vegan", "soup"], 2: ["vegan", "salad"], 5: ["eggs"]}
LINES = {0: ["Chicken thigh", "Butter"], 1: ["Red lentil", "Onion"], 2: ["Tomato", "Onion"]}
STOCK: list[dict[str, Any]] = [
    {"ingredient": "Butter", "quantity": 250.0, "unit": "g", "expires_on": "2026-05-21"},
    {"ingredient": "Onion", "quantity": 3.0, "unit": None, "expires_on": "2026-05-30"},
    {"ingredient": "Tomato", "quantity": None, "unit": None, "expires_on": None},
]


def fill(base: Base) -> None:
    """Put in the same rows for two people."""
    with base._engine.begin() as connection:
        metadata.create_all(connection)
        names = sorted({name for lines in LINES.values() for name in lines})
        for name in names:
            connection.execute(
                insert(r.ingredients).values(
                    id=f"ing-{name_key(name)}", name=name, name_key=name_key(name), **TIMES
                )
            )
        connection.execute(
            insert(r.ingredient_aliases).values(alias_key="scallion", ingredient_id="ing-onion")
        )
        for user in ("ann", "bob"):
            _fill_user(connection, user)


def _fill_user(connection: Any, user: str) -> None:
    own = {"user_id": user, **TIMES}
    connection.execute(insert(users).values(id=user, display_name=user.title(), **TIMES))
    connection.execute(insert(user_profile).values(user_id=user, allergies=["nuts"], **TIMES))
    for number, recipe in enumerate(RECIPES):
        recipe_id = f"{user}-r{number}"
        values = {"id": recipe_id, "name_key": name_key(recipe["name"]), **own, **recipe}
        connection.execute(insert(r.recipes).values(**values))
        for tag in TAGS.get(number, []):
            connection.execute(
                insert(r.recipe_tags).values(recipe_id=recipe_id, tag=tag, user_id=user)
            )
        for position, name in enumerate(LINES.get(number, [])):
            connection.execute(
                insert(r.recipe_ingredients).values(
                    id=f"{recipe_id}-i{position}",
                    user_id=user,
                    recipe_id=recipe_id,
                    ingredient_id=f"ing-{name_key(name)}",
                    position=position,
                    raw_text=name,
                )
            )
    for number, item in enumerate(STOCK):
        values = {k: v for k, v in item.items() if k != "ingredient"}
        connection.execute(
            insert(s.inventory_items).values(
                id=f"{user}-s{number}",
                ingredient_id=f"ing-{name_key(item['ingredient'])}",
                **own,
                **values,
            )
        )


@contextmanager
def sqlite_base(folder: Path) -> Iterator[Base]:
    """Return a filled database in a file."""
    base = Base(f"sqlite:///{folder / 'kitchen.db'}")
    try:
        fill(base)
        yield base
    finally:
        base.close()


def reader_of(base: Base, user: str = "ann") -> Reader:
    """Return what reads one person's rows."""
    today = Today.at(NOW_MS, "Europe/Berlin")
    return Reader(kitchen_tables(), user, today, dialect_of(is_sqlite=base.is_sqlite))
