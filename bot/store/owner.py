"""The Slack user who owns a record."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row


@dataclass(frozen=True)
class Owner:
    """A Slack user, identified by enterprise, team, and user ID."""

    enterprise_id: str | None
    team_id: str
    user_id: str

    @classmethod
    def of(cls, row: Row[Any]) -> "Owner":
        return cls(row.enterprise_id or None, row.team_id, row.user_id)

    @classmethod
    def named(cls, text: str) -> "Owner":
        """The owner that `name` names."""
        enterprise_id, team_id, user_id = text.split(":")
        return cls(enterprise_id or None, team_id, user_id)

    @property
    def name(self) -> str:
        """The owner in one column, for a record that isn't theirs."""
        return ":".join(self.columns.values())

    @property
    def columns(self) -> dict[str, str]:
        """The values of an owner's columns; a missing enterprise is empty, because keys can't be null."""
        return {"enterprise_id": self.enterprise_id or "", "team_id": self.team_id, "user_id": self.user_id}
