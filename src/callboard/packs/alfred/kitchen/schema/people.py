"""Who cooks here, and what is known about them."""

from typing import Final

from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Integer, Table, Text, false

from callboard.packs.alfred.kitchen.schema.metadata import (
    json_list,
    metadata,
    one_of,
    time_columns,
)

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
