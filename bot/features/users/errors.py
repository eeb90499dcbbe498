"""What can go wrong with users that the service doesn't report itself."""

from bot.errors import UserError


class AdministratorsOnly(UserError):
    """Only the service's administrators create and change accounts."""


class AlreadyLinked(UserError):
    """The Slack user is linked, as `name` if the link can be read, and only they can change that."""

    name: str | None


class UserNotLinked(UserError):
    """The mentioned Slack user isn't linked."""


class NoSuchUser(UserError):
    """The service has no user with that ID, or hides them from the caller."""

    user_id: int


class CreationUnconfirmed(UserError):
    """The account may have been created; users can't be looked up."""
