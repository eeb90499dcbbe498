"""Issues and time by their age, so that what is old is found."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("created_issues", "time_entries"):
        op.create_index(f"ix_{table}_created_at", table, ["created_at"])
