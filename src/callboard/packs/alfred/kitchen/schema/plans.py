"""What is planned, what is to be done, and what was cooked."""

from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from callboard.packs.alfred.kitchen.schema.metadata import (
    json_list,
    metadata,
    one_of,
    own_columns,
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
