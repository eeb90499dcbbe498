"""What slash commands ask for, as frozen values: names stay as typed, nothing is looked up."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Me:
    """The user who typed the command."""


@dataclass(frozen=True)
class SlackUser:
    """A mentioned user; `name` is what Slack wrote next to the ID, if anything."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Named:
    """A user by their name or ID in the service, as typed."""

    name: str


Person = Me | SlackUser | Named


@dataclass(frozen=True)
class Help:
    """The command's help."""
