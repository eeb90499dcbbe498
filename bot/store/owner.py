"""Whose something is: a Slack user."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Owner:
    """A Slack user by enterprise, team and user id; names and mails are not identities."""

    enterprise_id: str | None
    team_id: str
    user_id: str
