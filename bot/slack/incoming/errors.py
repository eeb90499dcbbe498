"""Errors of the platform that more than one of its modules raises or tells."""

from bot.errors import BotError, UserError


class FormSentAlready(UserError):
    """A form that acts only once was submitted again."""

    says = "You already submitted this form. Check whether it went through before you submit another."


class FormExpired(UserError):
    """A saved form or request is gone; `command` starts over."""

    says = "{what} {again}"
    command: str | None = None
    what: str = "This form has expired."

    @property
    def again(self) -> UserError:
        if self.command is None:
            return UserError("Start over.")
        return UserError("Start over with `/{prefix}{command}`.", command=self.command)


class Interrupted(BotError):
    """The process stopped, or crashed, while it was handling a request."""

    says = "I was restarted while working on this. Check whether it went through."
