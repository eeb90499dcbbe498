"""What a digest lists, and what a personal digest's owner has seen."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("digests", sa.Column("kind", sa.Text, nullable=False, server_default="new"))
    op.add_column("digests", sa.Column("stale_days", sa.Integer))
    op.add_column("digests", sa.Column("seen", sa.JSON))
    op.add_column("digest_runs", sa.Column("seen", sa.JSON))
