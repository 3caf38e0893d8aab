"""Recipes with their ingredients, steps and tags, and the catalogue of ingredients."""

from typing import Final

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from callboard.packs.alfred.kitchen.schema.tables import (
    CATEGORIES,
    json_list,
    metadata,
    one_of,
    own_columns,
    time_columns,
)

ingredients: Final = Table(
    "ingredients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    *one_of("category", CATEGORIES, default="other"),
    Column("aisle", Text),
    Column("default_unit", Text),
    Column("g_per_ml", Float),
    json_list("allergen_tags"),
    # Whether it is a food by a name everybody uses; any other name is known to who uses it only.
    Column("is_shared", Boolean, nullable=False, server_default=false(), info={"hidden": True}),
    *time_columns(),
)

ingredient_aliases: Final = Table(
    "ingredient_aliases",
    metadata,
    Column("alias_key", Text, primary_key=True),
    Column("ingredient_id", Text, ForeignKey("ingredients.id", ondelete="CASCADE"), nullable=False),
)

recipes: Final = Table(
    "recipes",
    metadata,
    *own_columns(),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),
    Column("cuisine", Text),
    Column("course", Text),
    Column("description", Text),
    # Unknown servings stay unknown: a number nobody gave would be scaled by.
    Column("servings", Float, info={"gt": 0, "about": "null if the recipe does not say"}),
    Column("yields", Text, info={"about": "what it makes if not portions: 24 cookies"}),
    Column("prep_minutes", Integer, info={"ge": 0}),
    Column("cook_minutes", Integer, info={"ge": 0}),
    # Unknown times stay unknown: an untimed recipe never counts as quick.
    Column(
        "total_minutes",
        Integer,
        Computed(
            "CASE WHEN prep_minutes IS NULL AND cook_minutes IS NULL THEN NULL"
            " ELSE COALESCE(prep_minutes, 0) + COALESCE(cook_minutes, 0) END",
            persisted=True,
        ),
    ),
    *one_of("difficulty", ("easy", "medium", "hard"), nullable=True),
    *one_of("storage", ("full", "link"), default="full"),
    *one_of("source_type", ("manual", "generated", "link"), default="manual"),
    Column("source_url", Text),
    Column("rating", Integer, info={"ge": 1, "le": 5}),
    Column("notes", Text),
    Column("archived_at", Text, info={"kind": "datetime", "writable": False}),
    CheckConstraint("servings > 0"),
    CheckConstraint("prep_minutes >= 0"),
    CheckConstraint("cook_minutes >= 0"),
    CheckConstraint("rating BETWEEN 1 AND 5"),
    Index(
        "recipes_by_name",
        "user_id",
        "name_key",
        unique=True,
        sqlite_where=text("archived_at IS NULL"),
        postgresql_where=text("archived_at IS NULL"),
    ),
    Index("recipes_by_cuisine", "user_id", "cuisine"),
    Index("recipes_by_time", "user_id", "total_minutes"),
    # Holds what all recipes are sorted by when they are matched.
    Index("recipes_in_use", "user_id", "archived_at", "name_key", "rating", "id"),
)

recipe_tags: Final = Table(
    "recipe_tags",
    metadata,
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Index("recipe_tags_by_tag", "user_id", "tag"),
)

recipe_steps: Final = Table(
    "recipe_steps",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("minutes", Integer),
    UniqueConstraint("recipe_id", "position"),
)

recipe_ingredients: Final = Table(
    "recipe_ingredients",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="CASCADE"), nullable=False),
    Column(
        "ingredient_id", Text, ForeignKey("ingredients.id", ondelete="RESTRICT"), nullable=False
    ),
    Column("position", Integer, nullable=False),
    Column("quantity", Float, info={"gt": 0}),
    Column("unit", Text),
    Column("preparation", Text),
    Column("optional", Boolean, nullable=False, server_default=false()),
    Column("raw_text", Text, nullable=False, server_default=""),
    Column("part", Text, info={"about": "the list it stands in: dough, filling"}),
    UniqueConstraint("recipe_id", "position"),
    CheckConstraint("quantity > 0"),
    # Holds all that is asked when many recipes are matched: their rows need not be looked at.
    Index("recipe_ingredients_by_ingredient", "user_id", "ingredient_id", "optional", "recipe_id"),
)

recipe_sizes: Final = Table(
    "recipe_sizes",
    metadata,
    Column("recipe_id", Text, ForeignKey("recipes.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Text, nullable=False),
    # How many ingredients are not optional; triggers keep it.
    Column("required", Integer, nullable=False, server_default="0"),
    Index("recipe_sizes_by_user", "user_id", "recipe_id", "required"),
)
