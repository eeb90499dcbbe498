"""What slash commands ask for, as frozen values: names stay as typed, nothing is looked up."""

from dataclasses import dataclass

from bot.store.owner import Owner


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


def who(person: Person, user: Owner) -> Owner | str:
    """A person as the use cases take them: a Slack user in the workspace of `user`, `me`, or a name."""
    match person:
        case Me():
            return "me"
        case SlackUser():
            return Owner(user.enterprise_id, user.team_id, person.id)
        case _:
            return person.name
