"""What a slash command asks for, as frozen values: nothing is looked up, names stay as typed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Me:
    """Whoever typed the command."""


@dataclass(frozen=True)
class SlackUser:
    """Someone mentioned; `name` is what Slack wrote beside the id, maybe empty."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Named:
    """Someone by the name or id that the service knows them by, as typed."""

    name: str


Person = Me | SlackUser | Named


@dataclass(frozen=True)
class Help:
    """The command's help."""
