"""Errors in reading `/issue`, with the draft of what was understood."""

from bot.errors import UserError
from bot.features.issues.fields import Draft


class NotUnderstood(UserError):
    """A new issue, or a change to one, is understood only in part: `draft`.

    `problem` comes first, then `others`.
    """

    draft: Draft
    problem: UserError
    others: tuple[UserError, ...]


class UnknownSubcommand(UserError):
    """The text isn't a subcommand, and may be the subject of a new issue."""

    text: str
    draft: Draft
