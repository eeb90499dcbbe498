"""Issues that were meant to be private and that the service made visible."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "created_issues",
        sa.Column("privacy_refused", sa.Boolean, nullable=False, server_default=sa.false()),
    )
