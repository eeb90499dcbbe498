"""The Slack user who owns a record."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Owner:
    """A Slack user, identified by enterprise, team, and user ID."""

    enterprise_id: str | None
    team_id: str
    user_id: str
