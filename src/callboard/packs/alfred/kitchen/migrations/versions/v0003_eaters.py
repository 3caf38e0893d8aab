"""What others in a house must not eat is kept; a name only its owner uses is seen by them only."""

import sqlalchemy as sa
from alembic import op

from callboard.packs.alfred.kitchen.migrations import columns

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the limits of others, and say of every name in the catalogue whether it is common."""
    from callboard.packs.alfred.kitchen.food.household import is_common

    op.add_column("user_profile", columns.texts("eaters"))
    shared = sa.Column("is_shared", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("ingredients", shared)
    here = op.get_bind()
    names = sa.table("ingredients", sa.column("id"), sa.column("name"), sa.column("is_shared"))
    rows = here.execute(sa.select(names.c.id, names.c.name)).all()
    common = [{"row": row[0]} for row in rows if is_common(str(row[1]))]
    if common:
        marked = names.update().where(names.c.id == sa.bindparam("row")).values(is_shared=sa.true())
        here.execute(marked, common)


def downgrade() -> None:
    """Forget both."""
    op.drop_column("ingredients", "is_shared")
    op.drop_column("user_profile", "eaters")
