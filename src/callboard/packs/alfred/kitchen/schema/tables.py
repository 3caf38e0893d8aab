"""The kitchen's tables but for recipes: people, stock, lists, plans, and the log of changes."""

from typing import Any, Final

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from callboard.library.relational.undo import log_tables

CATEGORIES: Final = (
    "produce", "dairy_eggs", "meat", "seafood", "bakery", "grains", "canned", "frozen", "spices",
    "condiments", "beverages", "household", "other",
)  # fmt: skip
metadata: Final = MetaData()


def own_columns() -> tuple[Column[Any], ...]:
    """Return the columns of every row that belongs to a user."""
    return (
        Column("id", Text, primary_key=True),
        Column(
            "user_id", Text, ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True
        ),
        *time_columns(),
        Column("version", Integer, nullable=False, server_default="1"),
    )


def time_columns() -> tuple[Column[Any], ...]:
    """Return when a row came and when it last changed."""
    return (
        Column("created_at", Text, nullable=False, info={"kind": "datetime"}),
        Column("updated_at", Text, nullable=False, info={"kind": "datetime"}),
    )


def json_list(name: str, about: str = "") -> Column[Any]:
    """Return a column that holds a list of texts."""
    listed = JSON().with_variant(JSONB(), "postgresql")
    info = {"kind": "list", "about": about}
    return Column(name, listed, nullable=False, server_default="[]", info=info)


def one_of(
    name: str, options: tuple[str, ...], *, default: str | None = None, nullable: bool = False
) -> tuple[Column[Any], CheckConstraint]:
    """Return a column that holds one of some words, and the constraint that sees to it."""
    listed = ", ".join(f"'{option}'" for option in options)
    column: Column[Any] = Column(
        name, Text, nullable=nullable, server_default=default, info={"enum": options}
    )
    return column, CheckConstraint(f"{name} IS NULL OR {name} IN ({listed})")


# Registered here and once: two threads that need it first must not both do it.
write_log: Final = log_tables(metadata)


users: Final = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("timezone", Text, nullable=False, server_default="UTC"),
    *time_columns(),
)

user_profile: Final = Table(
    "user_profile",
    metadata,
    Column("user_id", Text, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("default_mode", Text),
    *one_of("cooking_frequency", ("weekends_only", "3x_week", "daily"), default="3x_week"),
    Column("batch_cooking", Boolean, nullable=False, server_default=false()),
    *one_of("planning_horizon", ("week", "few_days", "day_of"), default="week"),
    *one_of("recipe_storage", ("full", "links_only", "mixed"), default="full"),
    *one_of("recipe_generation", ("detailed", "quick", "ingredients_only"), default="detailed"),
    *one_of("task_granularity", ("detailed", "reminders", "minimal"), default="reminders"),
    *one_of("list_organization", ("by_aisle", "by_category", "unorganized"), default="by_category"),
    json_list("diet", "what is kept to: vegan, vegetarian, gluten_free, …"),
    json_list("allergies", "what must never be eaten"),
    json_list("dislikes", "what is better left out"),
    json_list("eaters", "limits of others in the house: `son: allergy gluten`"),
    json_list("favorite_cuisines"),
    json_list("equipment"),
    Column("household_size", Integer, nullable=False, server_default="2", info={"ge": 1}),
    *one_of("skill_level", ("beginner", "intermediate", "advanced"), default="intermediate"),
    *one_of("unit_system", ("metric", "us"), default="metric"),
    *one_of("week_start", ("mon", "sun"), default="mon"),
    json_list("cooking_days", "days on which is cooked: mon, tue, …"),
    json_list("onboarding_state"),
    *time_columns(),
    Column("version", Integer, nullable=False, server_default="1"),
    CheckConstraint("household_size >= 1"),
)


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


meal_plans: Final = Table(
    "meal_plans",
    metadata,
    *own_columns(),
    Column("plan_date", Text, nullable=False, info={"kind": "date"}),
    *one_of("meal_type", ("breakfast", "lunch", "dinner", "snack"), default="dinner"),
    Column("position", Integer, nullable=False, server_default="0"),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="RESTRICT")),
    Column("note", Text),
    Column("servings", Float, info={"gt": 0}),
    *one_of("status", ("planned", "cooked", "skipped"), default="planned"),
    UniqueConstraint("user_id", "plan_date", "meal_type", "position"),
    CheckConstraint("recipe_id IS NOT NULL OR note IS NOT NULL"),
    Index("meal_plans_by_recipe", "user_id", "recipe_id"),
)

tasks: Final = Table(
    "tasks",
    metadata,
    *own_columns(),
    Column("description", Text, nullable=False),
    *one_of("kind", ("prep", "shopping", "cooking", "cleanup", "other"), default="other"),
    Column("due_at", Text, info={"kind": "datetime"}),
    *one_of("status", ("open", "done", "cancelled"), default="open"),
    Column("priority", Integer, nullable=False, server_default="1", info={"ge": 0, "le": 2}),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="SET NULL")),
    Column("meal_plan_id", Text, ForeignKey("meal_plans.id", ondelete="SET NULL")),
    Column("completed_at", Text, info={"kind": "datetime", "writable": False}),
    CheckConstraint("priority BETWEEN 0 AND 2"),
    Index("tasks_by_status", "user_id", "status"),
)

cooking_log: Final = Table(
    "cooking_log",
    metadata,
    *own_columns(),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="SET NULL")),
    # As it was called then: the log outlives the recipe.
    Column("recipe_name", Text, nullable=False),
    Column("meal_plan_id", Text, ForeignKey("meal_plans.id", ondelete="SET NULL")),
    Column("cooked_at", Text, nullable=False, info={"kind": "datetime"}),
    Column("servings", Float),
    Column("rating", Integer, info={"ge": 1, "le": 5}),
    Column("minutes", Integer),
    Column("notes", Text),
    json_list("substitutions"),
    Column("inventory_deducted", Boolean, nullable=False, server_default=false()),
    CheckConstraint("rating BETWEEN 1 AND 5"),
    Index("cooking_log_by_recipe", "user_id", "recipe_id", "cooked_at"),
)
