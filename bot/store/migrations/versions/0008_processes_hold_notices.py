"""Notices are held by a process until they are sent, and a search for a digest's message goes on."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("digests", sa.Column("notice_holder", sa.Text))
    op.add_column("digest_runs", sa.Column("searched_to", sa.Text))
