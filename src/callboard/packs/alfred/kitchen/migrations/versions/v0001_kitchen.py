"""The kitchen as it began: people, catalogue, recipes, plans, stock, lists, and the write log."""

import sqlalchemy as sa
from alembic import op

from callboard.packs.alfred.kitchen.migrations import columns

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    _people()
    _catalogue()
    _recipes()
    _plans()
    _stock()
    _log()


def downgrade() -> None:
    """Take every table away again, those that refer to others first."""
    for table in reversed(_TABLES):
        op.drop_table(table)


_CATEGORIES = (
    "produce", "dairy_eggs", "meat", "seafood", "bakery", "grains", "canned", "frozen", "spices",
    "condiments", "beverages", "household", "other",
)  # fmt: skip
_TABLES = (
    "users", "user_profile", "ingredients", "ingredient_aliases", "recipes", "recipe_tags",
    "recipe_steps", "recipe_ingredients", "meal_plans", "tasks", "cooking_log", "inventory_items",
    "shopping_items", "write_log", "write_outcomes",
)  # fmt: skip


def _people() -> None:
    op.create_table(
        "users",
        columns.needed("id"),
        columns.needed("display_name"),
        columns.text_or("timezone", "UTC"),
        *columns.times(),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "user_profile",
        columns.needed("user_id"),
        columns.text("default_mode"),
        columns.text_or("cooking_frequency", "3x_week"),
        sa.Column("batch_cooking", sa.Boolean(), server_default=sa.false(), nullable=False),
        columns.text_or("planning_horizon", "week"),
        columns.text_or("recipe_storage", "full"),
        columns.text_or("recipe_generation", "detailed"),
        columns.text_or("task_granularity", "reminders"),
        columns.text_or("list_organization", "by_category"),
        columns.texts("diet"),
        columns.texts("allergies"),
        columns.texts("dislikes"),
        columns.texts("favorite_cuisines"),
        columns.texts("equipment"),
        sa.Column("household_size", sa.Integer(), server_default="2", nullable=False),
        columns.text_or("skill_level", "intermediate"),
        columns.text_or("unit_system", "metric"),
        columns.text_or("week_start", "mon"),
        columns.texts("cooking_days"),
        columns.texts("onboarding_state"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.one_of("cooking_frequency", "weekends_only 3x_week daily"),
        columns.one_of("list_organization", "by_aisle by_category unorganized"),
        columns.one_of("planning_horizon", "week few_days day_of"),
        columns.one_of("recipe_generation", "detailed quick ingredients_only"),
        columns.one_of("recipe_storage", "full links_only mixed"),
        columns.one_of("skill_level", "beginner intermediate advanced"),
        columns.one_of("task_granularity", "detailed reminders minimal"),
        columns.one_of("unit_system", "metric us"),
        columns.one_of("week_start", "mon sun"),
        sa.CheckConstraint("household_size >= 1"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id"),
    )


def _catalogue() -> None:
    op.create_table(
        "ingredients",
        columns.needed("id"),
        columns.needed("name"),
        columns.needed("name_key"),
        columns.text_or("category", "other"),
        columns.text("aisle"),
        columns.text("default_unit"),
        sa.Column("g_per_ml", sa.Float(), nullable=True),
        columns.texts("allergen_tags"),
        *columns.times(),
        columns.one_of("category", " ".join(_CATEGORIES)),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name_key"),
    )
    op.create_table(
        "ingredient_aliases",
        columns.needed("alias_key"),
        columns.needed("ingredient_id"),
        sa.ForeignKeyConstraint(["ingredient_id"], ["ingredients.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("alias_key"),
    )


def _recipes() -> None:
    op.create_table(
        "recipes",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.needed("name"),
        columns.needed("name_key"),
        columns.text("cuisine"),
        columns.text("course"),
        columns.text("description"),
        sa.Column("servings", sa.Float(), server_default="2", nullable=False),
        sa.Column("prep_minutes", sa.Integer(), nullable=True),
        sa.Column("cook_minutes", sa.Integer(), nullable=True),
        sa.Column(
            "total_minutes",
            sa.Integer(),
            sa.Computed(
                "CASE WHEN prep_minutes IS NULL AND cook_minutes IS NULL"
                " THEN NULL ELSE COALESCE(prep_minutes, 0)"
                " + COALESCE(cook_minutes, 0) END",
                persisted=True,
            ),
            nullable=True,
        ),
        columns.text("difficulty"),
        columns.text_or("storage", "full"),
        columns.text_or("source_type", "manual"),
        columns.text("source_url"),
        sa.Column("rating", sa.Integer(), nullable=True),
        columns.text("notes"),
        columns.text("archived_at"),
        columns.one_of("difficulty", "easy medium hard"),
        columns.one_of("source_type", "manual generated link"),
        columns.one_of("storage", "full link"),
        sa.CheckConstraint("cook_minutes >= 0"),
        sa.CheckConstraint("prep_minutes >= 0"),
        sa.CheckConstraint("rating BETWEEN 1 AND 5"),
        sa.CheckConstraint("servings > 0"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_recipes_user_id", "recipes", ["user_id"])
    op.create_index("recipes_by_cuisine", "recipes", ["user_id", "cuisine"])
    op.create_index(
        "recipes_by_name",
        "recipes",
        ["user_id", "name_key"],
        unique=True,
        sqlite_where=sa.text("archived_at IS NULL"),
        postgresql_where=sa.text("archived_at IS NULL"),
    )
    op.create_index("recipes_by_time", "recipes", ["user_id", "total_minutes"])
    op.create_index(
        "recipes_in_use", "recipes", ["user_id", "archived_at", "name_key", "rating", "id"]
    )
    op.create_table(
        "recipe_tags",
        columns.needed("recipe_id"),
        columns.needed("tag"),
        columns.needed("user_id"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("recipe_id", "tag"),
    )
    op.create_index("recipe_tags_by_tag", "recipe_tags", ["user_id", "tag"])
    op.create_table(
        "recipe_steps",
        columns.needed("id"),
        columns.needed("user_id"),
        columns.needed("recipe_id"),
        sa.Column("position", sa.Integer(), nullable=False),
        columns.needed("text"),
        sa.Column("minutes", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("recipe_id", "position"),
    )
    op.create_table(
        "recipe_ingredients",
        columns.needed("id"),
        columns.needed("user_id"),
        columns.needed("recipe_id"),
        columns.needed("ingredient_id"),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("quantity", sa.Float(), nullable=True),
        columns.text("unit"),
        columns.text("preparation"),
        sa.Column("optional", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("raw_text", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("quantity > 0"),
        sa.ForeignKeyConstraint(["ingredient_id"], ["ingredients.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("recipe_id", "position"),
    )
    op.create_index(
        "recipe_ingredients_by_ingredient",
        "recipe_ingredients",
        ["user_id", "ingredient_id", "optional", "recipe_id"],
    )


def _plans() -> None:
    op.create_table(
        "meal_plans",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.needed("plan_date"),
        columns.text_or("meal_type", "dinner"),
        sa.Column("position", sa.Integer(), server_default="0", nullable=False),
        columns.text("recipe_id"),
        columns.text("note"),
        sa.Column("servings", sa.Float(), nullable=True),
        columns.text_or("status", "planned"),
        columns.one_of("meal_type", "breakfast lunch dinner snack"),
        columns.one_of("status", "planned cooked skipped"),
        sa.CheckConstraint("recipe_id IS NOT NULL OR note IS NOT NULL"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "plan_date", "meal_type", "position"),
    )
    op.create_index("ix_meal_plans_user_id", "meal_plans", ["user_id"])
    op.create_index("meal_plans_by_recipe", "meal_plans", ["user_id", "recipe_id"])
    op.create_table(
        "tasks",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.needed("description"),
        columns.text_or("kind", "other"),
        columns.text("due_at"),
        columns.text_or("status", "open"),
        sa.Column("priority", sa.Integer(), server_default="1", nullable=False),
        columns.text("recipe_id"),
        columns.text("meal_plan_id"),
        columns.text("completed_at"),
        columns.one_of("kind", "prep shopping cooking cleanup other"),
        columns.one_of("status", "open done cancelled"),
        sa.CheckConstraint("priority BETWEEN 0 AND 2"),
        sa.ForeignKeyConstraint(["meal_plan_id"], ["meal_plans.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_tasks_user_id", "tasks", ["user_id"])
    op.create_index("tasks_by_status", "tasks", ["user_id", "status"])
    op.create_table(
        "cooking_log",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.text("recipe_id"),
        columns.needed("recipe_name"),
        columns.text("meal_plan_id"),
        columns.needed("cooked_at"),
        sa.Column("servings", sa.Float(), nullable=True),
        sa.Column("rating", sa.Integer(), nullable=True),
        sa.Column("minutes", sa.Integer(), nullable=True),
        columns.text("notes"),
        columns.texts("substitutions"),
        sa.Column("inventory_deducted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.CheckConstraint("rating BETWEEN 1 AND 5"),
        sa.ForeignKeyConstraint(["meal_plan_id"], ["meal_plans.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("cooking_log_by_recipe", "cooking_log", ["user_id", "recipe_id", "cooked_at"])
    op.create_index("ix_cooking_log_user_id", "cooking_log", ["user_id"])


def _stock() -> None:
    op.create_table(
        "inventory_items",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.needed("ingredient_id"),
        sa.Column("quantity", sa.Float(), nullable=True),
        columns.text("unit"),
        columns.text_or("location", "pantry"),
        columns.text("purchased_on"),
        columns.text("expires_on"),
        sa.Column("low_threshold", sa.Float(), nullable=True),
        columns.text("note"),
        columns.one_of("location", "pantry fridge freezer other"),
        sa.CheckConstraint("quantity >= 0"),
        sa.ForeignKeyConstraint(["ingredient_id"], ["ingredients.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("inventory_items_by_expiry", "inventory_items", ["user_id", "expires_on"])
    op.create_index("ix_inventory_items_user_id", "inventory_items", ["user_id"])
    op.create_index(
        "inventory_items_by_place",
        "inventory_items",
        [
            "user_id",
            "ingredient_id",
            "location",
            sa.text("COALESCE(unit, '')"),
            sa.text("COALESCE(expires_on, '')"),
        ],
        unique=True,
    )
    op.create_table(
        "shopping_items",
        columns.needed("id"),
        columns.needed("user_id"),
        *columns.times(),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        columns.text("ingredient_id"),
        columns.needed("name"),
        columns.needed("name_key"),
        sa.Column("quantity", sa.Float(), nullable=True),
        columns.text("unit"),
        columns.text_or("category", "other"),
        columns.text_or("status", "needed"),
        columns.text_or("source", "manual"),
        columns.text("recipe_id"),
        columns.text("meal_plan_id"),
        columns.text("purchased_at"),
        columns.one_of("category", " ".join(_CATEGORIES)),
        columns.one_of("source", "manual recipe meal_plan low_stock"),
        columns.one_of("status", "needed in_cart purchased"),
        sa.CheckConstraint("quantity > 0"),
        sa.ForeignKeyConstraint(["ingredient_id"], ["ingredients.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["meal_plan_id"], ["meal_plans.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_shopping_items_user_id", "shopping_items", ["user_id"])
    op.create_index("shopping_items_by_status", "shopping_items", ["user_id", "status"])
    op.create_index(
        "shopping_items_open",
        "shopping_items",
        ["user_id", sa.text("COALESCE(ingredient_id, name_key)"), sa.text("COALESCE(unit, '')")],
        unique=True,
        sqlite_where=sa.text("status IN ('needed', 'in_cart')"),
        postgresql_where=sa.text("status IN ('needed', 'in_cart')"),
    )


def _log() -> None:
    op.create_table(
        "write_log",
        sa.Column(
            "seq",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        columns.needed("user_id"),
        columns.needed("session_id"),
        sa.Column("turn", sa.Integer(), nullable=False),
        columns.needed("step_id"),
        columns.needed("table_name"),
        columns.needed("op"),
        sa.Column("row_key", sa.JSON(), nullable=False),
        columns.needed("label"),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        columns.needed("at"),
        columns.text("undone_at"),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("write_log_by_turn", "write_log", ["user_id", "session_id", "turn"])
    op.create_table(
        "write_outcomes",
        columns.needed("key"),
        sa.Column("result", sa.JSON(), nullable=False),
        columns.needed("at"),
        sa.PrimaryKeyConstraint("key"),
    )
