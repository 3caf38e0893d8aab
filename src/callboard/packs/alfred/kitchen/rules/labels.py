"""Labels: how people name the kitchen's rows."""

from collections.abc import Mapping
from typing import Any

from callboard.library.relational.dates import Moment
from callboard.library.relational.tables import Described, Tables

Row = Mapping[str, Any]


def label_of_row(moment: Moment, tables: Tables, table: Described, row: Row) -> str:
    """Return how people name a row."""
    match table.name:
        case "inventory_items":
            return _name_in(moment, tables, "ingredients", row.get("ingredient_id"))
        case "meal_plans":
            return meal_label(moment, tables, row)
        case "user_profile":
            return "your profile"
        case _:
            return str(row.get(table.label) or row.get("id") or "")


def meal_label(moment: Moment, tables: Tables, row: Row) -> str:
    """Return a planned meal as `dinner on 2026-05-21: Lentil Soup`."""
    recipe = row.get("recipe_id")
    what = _name_in(moment, tables, "recipes", recipe) if recipe else str(row.get("note") or "")
    return f"{row.get('meal_type')} on {row.get('plan_date')}: {what}"


def _name_in(moment: Moment, tables: Tables, table: str, row_id: Any) -> str:
    from sqlalchemy import select

    columns: Any = tables[table].table.c
    found = moment.connection.execute(select(columns.name).where(columns.id == row_id)).scalar()
    return "" if found is None else str(found)
