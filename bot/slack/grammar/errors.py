"""What can be wrong with a command's text. Typed text is cut, and never repeated where it may be a secret."""

from datetime import date
from decimal import Decimal

from bot.errors import UserError


class UnclosedQuote(UserError):
    """A quote is opened and never closed."""


class UnknownOption(UserError):
    """A key that the command doesn't have: the nearest one, or else all that it has."""

    key: str
    nearest: str | None
    known: tuple[str, ...]


class UnknownField(UnknownOption):
    """As UnknownOption, but it may name one of the project's custom fields.

    `project` is the project that the command names, if any.
    """

    project: str | None


class AmbiguousField(UserError):
    """Several custom fields have the name: their keys."""

    name: str
    keys: tuple[str, ...]


class ValueMissing(UserError):
    """Nothing follows an option's colon."""

    key: str


class ListEmpty(UserError):
    """An option that takes several values has only separators."""

    key: str


class ListTooLong(UserError):
    key: str
    count: int
    most: int


class GivenTwice(UserError):
    """An option that can be given only once is given several times."""

    key: str
    times: int


class NotCombinable(UserError):
    """A keyword is combined with other values."""

    keyword: str


class NotIssueNumbers(UserError):
    key: str


class NotAPercentage(UserError):
    key: str


class NotYesOrNo(UserError):
    key: str


class UnknownWord(UserError):
    """A command has no such subcommand; `nearest` is the best match. The word may be a secret."""

    command: str
    nearest: str | None


class ForeignLink(UserError):
    """A link doesn't lead to an issue of the service."""


class KeyTyped(UserError):
    """An API key was typed into a command, where logs may keep it."""


class NotADate(UserError):
    typed: str


class AmbiguousDate(UserError):
    """A numeric date could be day first or month first."""

    typed: str
    month_first: date
    day_first: date


class NotADayOfWork(UserError):
    """What should be the date on which time was spent can't be read."""

    typed: str


class NoDaysInRange(UserError):
    typed: str


class TooFarAway(UserError):
    """A number of days leads out of the calendar."""

    typed: str


class NotADuration(UserError):
    typed: str


class DurationOutOfRange(UserError):
    longest: Decimal
