"""Option values → names, numbers and people. Functions raise `grammar.errors`."""

import re
from collections.abc import Collection

from bot.service.conventions import issue_number as linked_issue
from bot.slack.grammar.errors import (
    ForeignLink,
    GivenTwice,
    KeyTyped,
    ListEmpty,
    ListTooLong,
    NotAPercentage,
    NotCombinable,
    NotIssueNumbers,
    NotYesOrNo,
    UnknownWord,
)
from bot.slack.grammar.options import CUSTOM_FIELD, Parsed, nearest
from bot.slack.grammar.requests import Me, Named, Person
from bot.slack.grammar.tokens import Value

MOST = 100
"""How many values a list takes: as many as a form's select shows."""
_NUMBER = re.compile(r"(?:#|https?://\S*/issues/)?([0-9]{1,12})(?:[?#/]\S*)?")
_YES_NO = {
    **dict.fromkeys(("yes", "y", "true", "on", "1"), True),
    **dict.fromkeys(("no", "n", "false", "off", "0"), False),
}
_PERCENT = re.compile(r"([0-9]{1,3}) ?%?")
_KEY = re.compile(r"[0-9a-fA-F]{40}")
_NAMED_BY_LINK = re.compile(
    r"(?:^attach\s++|^\s*+|parent:\s*+)<?(https?://[^|>\s]{1,2000}/issues/[0-9][^|>\s]{0,2000})",
    re.IGNORECASE,
)
"""Where a command accepts a link in place of an issue number."""
_SELF = ("me", "@me", "myself")


def own_text(text: str, base_url: str) -> str:
    """Return the command's text. Raises ForeignLink if it links to an issue of another service."""
    for url in _NAMED_BY_LINK.findall(text):
        if linked_issue(base_url, url) is None:
            raise ForeignLink
    return text


def reject_api_key(text: str) -> None:
    """Raise KeyTyped, without repeating it, if an API key was typed."""
    if _KEY.search(text):
        raise KeyTyped


def one(parsed: Parsed, key: str) -> Value | None:
    """The value of an option that can be given only once."""
    values = parsed.options.get(key, ())
    if len(values) > 1:
        raise GivenTwice(key, len(values))
    return values[0] if values else None


def name(parsed: Parsed, key: str) -> str | None:
    """The text of an option that can be given only once."""
    value = one(parsed, key)
    return None if value is None else value.text


def listed(parsed: Parsed, key: str) -> tuple[Value, ...]:
    """The values of an option that accepts several, separated by commas or repeated."""
    values = tuple(part for value in parsed.options.get(key, ()) for part in value.parts())
    if key in parsed.options and not values:
        raise ListEmpty(key)
    if len(values) > MOST:
        raise ListTooLong(key, len(values), MOST)
    return values


def names(parsed: Parsed, key: str) -> tuple[str, ...]:
    return tuple(value.text for value in listed(parsed, key))


def keyword(found: tuple[str, ...], words: Collection[str]) -> str | None:
    """The keyword, if `found` is one of `words`. Raises NotCombinable."""
    said = [value.lower() for value in found]
    meant = next((word for word in said if word in words), None)
    if meant and len(said) > 1:
        raise NotCombinable(meant)
    return meant


def person(value: Value) -> Person:
    """`me`, a mention, or a name."""
    if value.user:
        return value.user
    return Me() if value.text.lower() in _SELF else Named(value.text)


def people(parsed: Parsed, key: str) -> tuple[Person, ...]:
    return tuple(person(value) for value in listed(parsed, key))


def issue_number(text: str) -> int | None:
    """The issue number in `42`, `#42` or a link, or None."""
    match = _NUMBER.fullmatch(text.strip())
    return int(match[1]) or None if match else None


def numbers(parsed: Parsed, key: str) -> tuple[int, ...]:
    """Issue numbers, separated by commas or repeated."""
    found = tuple(issue_number(text) for text in names(parsed, key))
    if None in found:
        raise NotIssueNumbers(key)
    return tuple(number for number in found if number is not None)


def yes_or_no(parsed: Parsed, key: str) -> bool:
    """Whether the option is `yes`; False if it is missing."""
    said = name(parsed, key)
    if said is None:
        return False
    if said.lower() not in _YES_NO:
        raise NotYesOrNo(key)
    return _YES_NO[said.lower()]


def percent(parsed: Parsed, key: str) -> int | None:
    """The percentage in `50` or `50%`; None if the option is missing. Raises NotAPercentage."""
    said = name(parsed, key)
    if said is None:
        return None
    match = _PERCENT.fullmatch(said)
    if match is None or int(match[1]) > 100:  # noqa: PLR2004 - it is a percentage
        raise NotAPercentage(key)
    return int(match[1])


def custom_fields(parsed: Parsed) -> dict[int, str]:
    """The values of `cf_<id>:` options by ID."""
    keys = [key for key in parsed.options if key.startswith(CUSTOM_FIELD)]
    return {int(key.removeprefix(CUSTOM_FIELD)): name(parsed, key) or "" for key in keys}


def unknown_word(word: str, known: Collection[str], command: str) -> UnknownWord:
    return UnknownWord(command, nearest(word, known))
