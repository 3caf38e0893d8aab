"""What is in the house, and what is to be bought."""

from typing import Final

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Index, Table, Text, text

from callboard.packs.alfred.kitchen.schema.metadata import metadata, one_of, own_columns
from callboard.packs.alfred.kitchen.schema.recipes import CATEGORIES

inventory_items: Final = Table(
    "inventory_items",
    metadata,
    *own_columns(),
    Column(
        "ingredient_id", Text, ForeignKey("ingredients.id", ondelete="RESTRICT"), nullable=False
    ),
    Column("quantity", Float, info={"ge": 0}),
    Column("unit", Text),
    *one_of("location", ("pantry", "fridge", "freezer", "other"), default="pantry"),
    Column("purchased_on", Text, info={"kind": "date"}),
    Column("expires_on", Text, info={"kind": "date"}),
    Column("low_threshold", Float, info={"ge": 0}),
    Column("note", Text),
    CheckConstraint("quantity >= 0"),
    Index(
        "inventory_items_by_place",
        "user_id",
        "ingredient_id",
        "location",
        text("COALESCE(unit, '')"),
        text("COALESCE(expires_on, '')"),
        unique=True,
    ),
    Index("inventory_items_by_expiry", "user_id", "expires_on"),
)

shopping_items: Final = Table(
    "shopping_items",
    metadata,
    *own_columns(),
    Column("ingredient_id", Text, ForeignKey("ingredients.id", ondelete="RESTRICT")),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),
    Column("quantity", Float, info={"gt": 0}),
    Column("unit", Text),
    *one_of("category", CATEGORIES, default="other"),
    *one_of("status", ("needed", "in_cart", "purchased"), default="needed"),
    *one_of("source", ("manual", "recipe", "meal_plan", "low_stock"), default="manual"),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="SET NULL")),
    Column("meal_plan_id", Text, ForeignKey("meal_plans.id", ondelete="SET NULL")),
    Column("purchased_at", Text, info={"kind": "datetime"}),
    CheckConstraint("quantity > 0"),
    Index(
        "shopping_items_open",
        "user_id",
        text("COALESCE(ingredient_id, name_key)"),
        text("COALESCE(unit, '')"),
        unique=True,
        sqlite_where=text("status IN ('needed', 'in_cart')"),
        postgresql_where=text("status IN ('needed', 'in_cart')"),
    ),
    Index("shopping_items_by_status", "user_id", "status"),
)
