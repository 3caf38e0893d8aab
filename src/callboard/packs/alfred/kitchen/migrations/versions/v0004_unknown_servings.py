"""Servings may be unknown; what a recipe makes, and which of its lists a line stands in.

Numbers that are there stay: whether a 2 was said or filled in cannot be told any more.
"""

import re
from typing import Any

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
        _edit_sqlite(_NEEDED, "servings FLOAT")
    else:
        op.alter_column("recipes", "servings", nullable=True, server_default=None)


def downgrade() -> None:
    """Have servings always; what is unknown becomes two."""
    op.drop_column("recipe_ingredients", "part")
    op.drop_column("recipes", "yields")
    op.execute("UPDATE recipes SET servings = 2 WHERE servings IS NULL")
    if op.get_bind().dialect.name == "sqlite":
        _edit_sqlite(_FREE, "servings FLOAT DEFAULT '2' NOT NULL")
    else:
        op.alter_column("recipes", "servings", nullable=False, server_default="2")


_NEEDED = re.compile(r"\bservings FLOAT DEFAULT '2' NOT NULL")
_FREE = re.compile(r"\bservings FLOAT\b(?! DEFAULT)")


def _edit_sqlite(before: re.Pattern[str], after: str) -> None:
    """Change the column where SQLite keeps the table's text.

    A new table under the old name would take every line and step along when the old one goes.
    """
    bind = op.get_bind()
    raw: Any = bind.connection.driver_connection
    # Some systems ship an SQLite that guards its schema; newer Pythons can ask it to let go.
    if hasattr(raw, "setconfig"):
        raw.setconfig(_DEFENSIVE, False)
    text = str(bind.execute(sa.text(_READ)).scalar_one())
    changed, count = before.subn(after, text)
    if count != 1:
        raise RuntimeError(f"the table of recipes is not as it was made: {text[:200]}")
    version = int(bind.exec_driver_sql("PRAGMA schema_version").scalar_one())
    bind.exec_driver_sql("PRAGMA writable_schema=ON")
    bind.execute(sa.text(_WRITE), {"sql": changed})
    bind.exec_driver_sql(f"PRAGMA schema_version={version + 1}")
    bind.exec_driver_sql("PRAGMA writable_schema=OFF")


_DEFENSIVE = 1010
_READ = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'recipes'"
_WRITE = "UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = 'recipes'"
