"""Errors in reading `/issue`, with the draft of what was understood."""

from bot.errors import BotError, Refused, UserError, WrongField
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


class ValueGone(UserError):
    """The option that was chosen isn't in its field's list anymore."""


class IssueRefused(Refused):
    """The service refused the issue; `fields` are those that its messages name, as the form names them."""

    def __init__(self, refused: Refused, fields: tuple[str, ...]) -> None:
        super().__init__(refused.method, refused.path, refused.status or 0, refused.errors)
        self.fields = fields


def fields_of(error: BotError) -> tuple[str, ...]:
    """The names, in the form, of the fields that an error is about."""
    match error:
        case NotUnderstood(problem=problem, others=others):
            return tuple(field for each in (problem, *others) for field in fields_of(each))
        case WrongField(field=field):
            return (field,)
        case IssueRefused(fields=fields):
            return fields
    return ()
