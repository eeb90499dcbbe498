"""Where logged time was announced, and digests that were removed and can be restored."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("time_entries", sa.Column("post_channel_id", sa.Text))
    op.add_column("time_entries", sa.Column("post_ts", sa.Text))
    op.add_column("digests", sa.Column("removed_at", sa.DateTime(timezone=True)))
    op.add_column("digests", sa.Column("removed_paused", sa.Text))
