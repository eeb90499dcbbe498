"""Option values → names, numbers and people. Functions raise UserError for values that can't be read."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum
from functools import partial
from itertools import chain
from zoneinfo import ZoneInfo

from bot.errors import Offer, UnknownWord, UserError
from bot.service.conventions import issue_number as linked_issue
from bot.slack.language.options import CUSTOM_FIELD, Parsed
from bot.slack.language.phrases import AND, SELF
from bot.slack.language.tokens import Atom, Token, Word
from bot.slack_limits import MAX_SELECT_OPTIONS
from bot.spelling import word_meant
from bot.store.owner import Owner

MAX_VALUES = MAX_SELECT_OPTIONS  # how many values a list takes
_NUMBER = re.compile(
    r"https?://\S*/issues/([0-9]{1,12})(?:[?#/]\S*|[:,])?|#?([0-9]{1,12})(?:[:,]|[?!\uff1f]+)?"
)
_YES_NO = {
    **dict.fromkeys(("yes", "y", "true", "on", "1"), True),
    **dict.fromkeys(("no", "n", "false", "off", "0"), False),
}
_PERCENT = re.compile(r"([0-9]{1,3}) ?%?")
_NAMED_BY_LINK = re.compile(
    r"(?:^attach\s++|^\s*+|parent:\s*+)<?(https?://[^|>\s]{1,2000}/issues/[0-9][^|>\s]{0,2000})",
    re.IGNORECASE,
)
"""Where a command accepts a link in place of an issue number."""
_EASTERNMOST = timezone(timedelta(hours=14))  # where each day begins first


class NoZone(Enum):
    """An unknown time zone. Unlike None, it isn't taken for the system's."""

    UNKNOWN = "unknown"


class ZoneUnknown(UserError):
    says = "I couldn't get your time zone from Slack. Try again in a minute."
    offers = (Offer("Try again"),)


@dataclass(frozen=True)
class CommandContext:
    """Who types, and what that makes of dates, durations and links: those to issues start with `base_url`.

    No other zone takes the place of an unknown one: `known_zone` and `today` raise ZoneUnknown.
    """

    owner: Owner
    zone: ZoneInfo | NoZone
    locale: str = ""
    base_url: str | None = None
    now: datetime = field(default_factory=partial(datetime.now, UTC))

    def known_zone(self) -> ZoneInfo:
        if self.zone is NoZone.UNKNOWN:
            raise ZoneUnknown
        return self.zone

    def today(self) -> date:
        return self.now.astimezone(self.known_zone()).date()

    def is_ahead(self, day: date) -> bool:
        """Whether the day hasn't begun; if the zone is unknown, whether it hasn't begun anywhere."""
        zone = _EASTERNMOST if self.zone is NoZone.UNKNOWN else self.zone
        return day > self.now.astimezone(zone).date()


@dataclass(frozen=True)
class Help:
    """The command's help."""


@dataclass(frozen=True)
class OneIssue:
    """An issue, by its number alone."""

    number: int


def own_text(text: str, base_url: str) -> str:
    """Return the command's text. Raises UserError if it links to an issue of another service."""
    for url in _NAMED_BY_LINK.findall(text):
        if linked_issue(base_url, url) is None:
            raise UserError("That link isn't an issue in {service}. Use the issue's number, such as `42`.")
    return text


def one(parsed: Parsed, key: str) -> Token | None:
    """The value of an option that can be given only once."""
    values = parsed.options.get(key, ())
    if len(values) > 1:
        raise UserError("You used `{key}:` {times} times. Use it once.", key=key, times=len(values))
    return values[0] if values else None


def name(parsed: Parsed, key: str) -> str | None:
    """The text of an option that can be given only once."""
    value = one(parsed, key)
    return None if value is None else value.text


def listed(parsed: Parsed, key: str) -> tuple[Token, ...]:
    """The values of an option that accepts several, separated by commas or repeated."""
    values = tuple(chain.from_iterable(value.parts() for value in parsed.options.get(key, ())))
    if key in parsed.options and not values:
        raise UserError("`{key}:` needs a value right after the colon.", key=key)
    if len(values) > MAX_VALUES:
        count = f"{len(values):,}"
        raise UserError(
            "`{key}:` has {count} values. The limit is {most}.", key=key, count=count, most=MAX_VALUES
        )
    return values


def names(parsed: Parsed, key: str) -> tuple[str, ...]:
    return tuple(value.text for value in listed(parsed, key))


def keyword(typed: tuple[str, ...], words: Collection[str]) -> str | None:
    """The keyword, if `typed` has one of `words`. Raises UserError if there is anything else."""
    lowered = [value.lower() for value in typed]
    meant = next((word for word in lowered if word in words), None)
    if meant and len(lowered) > 1:
        raise UserError(
            "`{keyword}` can't be combined with anything else. Use it alone or remove it.", keyword=meant
        )
    return meant


def person(value: Token, asker: Owner) -> Owner | str:
    """`me`, the Slack user of a mention, who is in the asker's workspace, or a name as typed."""
    if value.user:
        return Owner(asker.enterprise_id, asker.team_id, value.user.id)
    return "me" if value.text.lower() in SELF else value.text


def people(parsed: Parsed, key: str, asker: Owner) -> tuple[Owner | str, ...]:
    return tuple(person(value, asker) for value in listed(parsed, key))


def issue_number(text: str) -> int | None:
    """The issue number in `42`, `#42`, `42:` or a link, or None."""
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1] or match[2]) or None if match else None


def with_percents(line: str, number: int) -> str:
    """Return the line with `50 %` as one word, unless 50 is the number of the issue."""
    return re.sub(rf"(?<!\b{number}) %", "%", line)


def several_issues(words: Sequence[Word]) -> tuple[tuple[int, ...], tuple[Word, ...]]:
    """Return the issues that are named side by side, as in `12, 13 and 14 close`, and the other words."""
    apart = list(chain.from_iterable(map(_parts, words)))
    at = next((n for n, word in enumerate(apart) if _numbered(word)), len(apart))
    numbers: list[int] = []
    end = at
    for n, word in enumerate(apart[at:], at):
        if number := _numbered(word):
            numbers.append(number)
            end = n + 1
        elif word.text.lower() not in AND:
            break
    return tuple(dict.fromkeys(numbers)), (*apart[:at], *apart[end:])


def _numbered(word: Word) -> int | None:
    return None if word.quoted else issue_number(word.text)


def _parts(word: Word) -> Iterator[Word]:
    """Return the numbers in `290,308`; any other word unchanged."""
    parts = [part for part in word.source.split(",") if part]
    several = not word.quoted and len(parts) > 1 and all(map(issue_number, parts))
    yield from (Word((Atom(part),), part) for part in parts) if several else (word,)


def numbers(parsed: Parsed, key: str) -> tuple[int, ...]:
    """Issue numbers, separated by commas or repeated."""
    issues = tuple(issue_number(text) for text in names(parsed, key))
    if None in issues:
        raise UserError("`{key}:` takes issue numbers, such as `{key}:42`.", key=key)
    return tuple(number for number in issues if number is not None)


def saved_query(parsed: Parsed, key: str) -> int | None:
    """The number of a saved query; None if the option is missing."""
    typed = name(parsed, key)
    number = issue_number(typed or "")
    if typed and number is None:
        raise UserError(
            "`{key}:` takes a saved query's number, such as `{key}:7`. Find it in the query's URL.", key=key
        )
    return number


def yes_or_no(parsed: Parsed, key: str) -> bool:
    """Whether the option is `yes`; False if it is missing."""
    answer = name(parsed, key)
    if answer is None:
        return False
    if answer.lower() not in _YES_NO:
        raise UserError("`{key}:` takes `yes` or `no`, such as `{key}:yes`.", key=key)
    return _YES_NO[answer.lower()]


def percent(parsed: Parsed, key: str) -> int | None:
    """The percentage in `50` or `50%`; None if the option is missing."""
    text = name(parsed, key)
    if text is None:
        return None
    match = _PERCENT.fullmatch(text)
    if match is None or int(match[1]) > 100:  # noqa: PLR2004 - it is a percentage
        raise UserError("`{key}:` takes a percentage, such as `{key}:50%`.", key=key)
    return int(match[1])


def custom_fields(parsed: Parsed) -> dict[int, str]:
    """The values of `cf_<id>:` options by ID."""
    keys = [key for key in parsed.options if key.startswith(CUSTOM_FIELD)]
    return {int(key.removeprefix(CUSTOM_FIELD)): name(parsed, key) or "" for key in keys}


def unknown_word(word: str, known: Collection[str], command: str) -> UnknownWord:
    return UnknownWord(command, word, word_meant(word, known))
