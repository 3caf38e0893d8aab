"""How many ingredients each recipe cannot do without, counted by the database itself.

Triggers keep the count: whoever writes an ingredient line, and whoever undoes that, cannot forget.
"""

import sqlalchemy as sa
from alembic import op

from callboard.packs.alfred.kitchen.migrations import columns

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count what is there, and from now on."""
    op.create_table(
        "recipe_sizes",
        columns.needed("recipe_id"),
        columns.needed("user_id"),
        sa.Column("required", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("recipe_id"),
        sa.ForeignKeyConstraint(["recipe_id"], ["recipes.id"], ondelete="CASCADE"),
    )
    op.create_index("recipe_sizes_by_user", "recipe_sizes", ["user_id", "recipe_id", "required"])
    op.execute(
        "INSERT INTO recipe_sizes (recipe_id, user_id, required)"
        " SELECT recipe_id, user_id, sum(CASE WHEN optional THEN 0 ELSE 1 END)"
        " FROM recipe_ingredients GROUP BY recipe_id, user_id"
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in _SQLITE if is_sqlite else _POSTGRES:
        op.execute(statement)


def downgrade() -> None:
    """Count no more."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("insert", "delete", "update"):
        on = "" if is_sqlite else " ON recipe_ingredients"
        op.execute(f"DROP TRIGGER recipe_sizes_{event}{on}")
    if not is_sqlite:
        op.execute("DROP FUNCTION count_recipe_line()")
    op.drop_table("recipe_sizes")


_ADDED = (
    "INSERT INTO recipe_sizes (recipe_id, user_id, required)"
    " VALUES (NEW.recipe_id, NEW.user_id, CASE WHEN NEW.optional THEN 0 ELSE 1 END)"
    " ON CONFLICT (recipe_id) DO UPDATE SET required = recipe_sizes.required + excluded.required;"
)
_TAKEN = (
    "UPDATE recipe_sizes SET required = required - CASE WHEN OLD.optional THEN 0 ELSE 1 END"
    " WHERE recipe_id = OLD.recipe_id;"
)
_CHANGED = "UPDATE OF optional, recipe_id"
_SQLITE = (
    f"CREATE TRIGGER recipe_sizes_insert AFTER INSERT ON recipe_ingredients BEGIN {_ADDED} END",
    f"CREATE TRIGGER recipe_sizes_delete AFTER DELETE ON recipe_ingredients BEGIN {_TAKEN} END",
    f"CREATE TRIGGER recipe_sizes_update AFTER {_CHANGED} ON recipe_ingredients"
    f" BEGIN {_TAKEN} {_ADDED} END",
)
_POSTGRES = (
    "CREATE FUNCTION count_recipe_line() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    f" IF TG_OP <> 'INSERT' THEN {_TAKEN} END IF;"
    f" IF TG_OP <> 'DELETE' THEN {_ADDED} END IF;"
    " RETURN NULL; END $$",
    *(
        f"CREATE TRIGGER recipe_sizes_{name} AFTER {event} ON recipe_ingredients"
        " FOR EACH ROW EXECUTE FUNCTION count_recipe_line()"
        for name, event in (("insert", "INSERT"), ("delete", "DELETE"), ("update", _CHANGED))
    ),
)
