"""Servings may be unknown; what a recipe makes, and which of its lists a line stands in.

Numbers that are there stay: whether a 2 was said or filled in cannot be told any more.
"""

import re

import sqlalchemy as sa
from alembic import op

from callboard.packs.alfred.kitchen.migrations import columns

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let servings be unknown."""
    op.add_column("recipes", columns.text("yields"))
    op.add_column("recipe_ingredients", columns.text("part"))
    if op.get_bind().dialect.name == "sqlite":
        _rebuild_sqlite(_NEEDED, "servings FLOAT")
    else:
        op.alter_column("recipes", "servings", nullable=True, server_default=None)


def downgrade() -> None:
    """Have servings always; what is unknown becomes two."""
    op.drop_column("recipe_ingredients", "part")
    op.drop_column("recipes", "yields")
    op.execute("UPDATE recipes SET servings = 2 WHERE servings IS NULL")
    if op.get_bind().dialect.name == "sqlite":
        _rebuild_sqlite(_FREE, "servings FLOAT DEFAULT '2' NOT NULL")
    else:
        op.alter_column("recipes", "servings", nullable=False, server_default="2")


_NEEDED = re.compile(r"\bservings FLOAT DEFAULT '2' NOT NULL")
_FREE = re.compile(r"\bservings FLOAT\b(?! DEFAULT)")
_NAMED = re.compile(r"^CREATE TABLE \"?recipes\"? ")


def _rebuild_sqlite(before: re.Pattern[str], after: str) -> None:
    """Put a table with another column in the place of the one that is there.

    Keys are not followed meanwhile: else every line and step would go with the old table.
    """
    bind = op.get_bind()
    if bind.exec_driver_sql("PRAGMA foreign_keys").scalar_one():
        raise RuntimeError("the table of recipes cannot be replaced while keys are followed")
    text = str(bind.execute(sa.text(_TABLE)).scalar_one())
    changed, count = before.subn(after, text)
    if count != 1 or not _NAMED.match(changed):
        raise RuntimeError(f"the table of recipes is not as it was made: {text[:200]}")
    beside = [str(row[0]) for row in bind.execute(sa.text(_BESIDE))]
    listed = bind.exec_driver_sql("PRAGMA table_info(recipes)").fetchall()
    named = ", ".join(f'"{row[1]}"' for row in listed)
    bind.exec_driver_sql(_NAMED.sub("CREATE TABLE recipes_next ", changed))
    bind.exec_driver_sql(f"INSERT INTO recipes_next ({named}) SELECT {named} FROM recipes")  # noqa: S608 - names of columns
    bind.exec_driver_sql("DROP TABLE recipes")
    bind.exec_driver_sql("ALTER TABLE recipes_next RENAME TO recipes")
    for each in beside:
        bind.exec_driver_sql(each)
    if bind.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise RuntimeError("a line or step would be left without its recipe")


_TABLE = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'recipes'"
_BESIDE = (
    "SELECT sql FROM sqlite_master"
    " WHERE tbl_name = 'recipes' AND type <> 'table' AND sql IS NOT NULL"
)
