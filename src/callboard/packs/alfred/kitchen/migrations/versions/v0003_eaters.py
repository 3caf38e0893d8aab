"""What others in a house must not eat is kept with the profile of whoever cooks for them."""

from alembic import op

from callboard.packs.alfred.kitchen.migrations import columns

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the limits of others."""
    op.add_column("user_profile", columns.texts("eaters"))


def downgrade() -> None:
    """Forget them."""
    op.drop_column("user_profile", "eaters")
