"""Reads the values of an issue's options in a command."""

from dataclasses import dataclass
from datetime import date

from bot.errors import UserError
from bot.features.issues.fields import Field, Kind, Value
from bot.slack.grammar import dates, values
from bot.slack.grammar.durations import hours
from bot.slack.grammar.options import Parsed
from bot.slack.grammar.requests import who
from bot.store.owner import Owner


class SeveralIssues(UserError):
    """An option that takes one issue was given several."""

    option: str


@dataclass(frozen=True)
class OptionReader:
    """Reads the values of options; `today` is the user's, and links to issues start with `base_url`."""

    today: date
    user: Owner
    base_url: str | None

    def value(self, parsed: Parsed, field: Field) -> Value | None:
        """The value of an option; None if it is missing. Raises UserError."""
        key = field.key
        match field.kind:
            case Kind.PERSON:
                typed = values.one(parsed, key)
                return who(values.person(typed), self.user) if typed else None
            case Kind.PEOPLE:
                return tuple(who(person, self.user) for person in values.people(parsed, key))
            case Kind.ISSUE:
                return self._issue(parsed, key)
            case Kind.FLAG:
                return values.yes_or_no(parsed, key)
            case Kind.PERCENT:
                return values.percent(parsed, key)
        text = values.name(parsed, key)
        if text and field.kind is Kind.DAY:
            return dates.day(text, self.today)
        return hours(text) if text and field.kind is Kind.HOURS else text

    def _issue(self, parsed: Parsed, key: str) -> int | None:
        if self.base_url:
            for text in values.names(parsed, key):
                values.own_text(text, self.base_url)
        numbers = values.numbers(parsed, key)
        if len(numbers) > 1:
            raise SeveralIssues(key)
        return numbers[0] if numbers else None
