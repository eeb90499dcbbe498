"""Errors of the platform that more than one of its modules raises or words."""

from bot.errors import BotError, UserError


class FormSentAlready(UserError):
    """A form that acts only once was submitted again."""


class PressedAlready(UserError):
    """Something that everyone sees was asked for twice within seconds."""


class FormExpired(UserError):
    """A saved form or request is gone; `command` starts over."""

    command: str | None = None


class ResumedAlready(UserError):
    """A saved request was resumed before, or is gone."""


class NotYourPost(UserError):
    """Someone else caused the post that the user wants to delete."""

    first_name: str


class PostNotDeleted(UserError):
    """Slack didn't confirm that a post is deleted."""


class Interrupted(BotError):
    """The process stopped, or crashed, while it was handling a request."""


class FormNotOpened(BotError):
    """Slack didn't show a form in place of another."""


class DatabaseUnavailable(BotError):
    """A request couldn't be claimed in the database; the log has the reference."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference


class InternalError(BotError):
    """A bug; the log has the reference."""

    def __init__(self, reference: str) -> None:
        super().__init__(reference)
        self.reference = reference
