"""Parses `/digest`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from bot.errors import UserError
from bot.features.digests import schedules
from bot.features.digests.buttons import Act
from bot.features.digests.schedules import Schedule
from bot.slack.grammar import values
from bot.slack.grammar.options import Parsed, parse
from bot.slack.grammar.requests import Help
from bot.slack.grammar.tokens import Word
from bot.store.digests import FILTER_KINDS, GROUPS, FilterKind, Group


@dataclass(frozen=True)
class ListDigests:
    """`/digest`: this channel's digests."""


@dataclass(frozen=True, kw_only=True)
class AddDigest:
    """`/digest add`: None or empty if not given; without a schedule, the form opens."""

    project: str | None = None
    schedule: Schedule | None = None
    zone: str | None = None
    filters: Mapping[FilterKind, tuple[str, ...]] = field(default_factory=dict)
    group: Group = "tracker"
    empty: bool = False


@dataclass(frozen=True)
class OnDigest:
    """`/digest pause [3]` and the like; `id` is None if none was typed."""

    act: Act
    id: int | None = None


DigestRequest = ListDigests | AddDigest | OnDigest | Help


class NothingExpected(UserError):
    """`/digest <word>` takes no options, or nothing at all after it; `option` is the one that was typed."""

    word: str
    option: str | None = None


class DigestNumberMissing(UserError):
    """What follows `/digest <word>` is no digest's number."""

    word: str


class ProjectNamedTwice(UserError):
    """The project is named by words and by an option."""


class UnknownGroup(UserError):
    """`group:` has another value than those known."""


OPTIONS = ("project", *FILTER_KINDS, "group", "empty", "tz")

_ALONE: dict[str, DigestRequest] = {"list": ListDigests(), "help": Help()}
_ACTS = {
    "change": Act.CHANGE,
    "edit": Act.CHANGE,
    "now": Act.NOW,
    "pause": Act.PAUSE,
    "resume": Act.RESUME,
    "remove": Act.REMOVE,
    "delete": Act.REMOVE,
    "stop": Act.REMOVE,
    "take": Act.TAKE_OVER,
    "takeover": Act.TAKE_OVER,
}
_KNOWN = ("add", *_ALONE, *_ACTS)
_NUMBER = re.compile(r"#?([0-9]{1,9})")
_TIME = re.compile(r"[0-9]{1,2}(?:[:.][0-9]{2}|\s?[ap]m)")
_SCHEDULE_LIKE = frozenset({"each", "every", "everyday", "monthly", "morning", "mornings", "yearly"})


def digest_command(text: str) -> DigestRequest:
    """The request in `/digest <text>`. Raises UserError, which never repeats a key that was typed."""
    values.reject_api_key(text)
    parsed = parse(text, OPTIONS)
    command = parsed.words[0].text.lower() if parsed.words else "list"
    rest = parsed.after(1)
    if command == "add":
        return _add(rest)
    if command not in _KNOWN:
        raise values.unknown_word(command, _KNOWN, "digest")
    if parsed.options:
        raise NothingExpected(command, next(iter(parsed.options)))
    if command in _ACTS:
        return _on_digest(command, rest)
    if rest.words:
        raise NothingExpected(command)
    return _ALONE[command]


def _on_digest(word: str, parsed: Parsed) -> OnDigest:
    if word == "take" and parsed.plain.lower().split()[:1] == ["over"]:
        parsed = parsed.after(1)
    if not parsed.words:
        return OnDigest(_ACTS[word])
    number = _NUMBER.fullmatch(parsed.plain)
    if number is None or not int(number[1]):
        raise DigestNumberMissing(word)
    return OnDigest(_ACTS[word], int(number[1]))


def _add(parsed: Parsed) -> AddDigest:
    start = next((n for n, word in enumerate(parsed.words) if _starts_schedule(word)), len(parsed.words))
    if start == len(parsed.words) and any(map(_looks_like_schedule, parsed.words[1:])):
        schedules.parse("")
    before = Parsed(parsed.words[:start], {}).plain
    option = values.name(parsed, "project")
    if before and option:
        raise ProjectNamedTwice
    typed = values.name(parsed, "tz")
    zone = schedules.zone_named(typed) if typed else None
    return AddDigest(
        project=before or option,
        schedule=schedules.parse(parsed.after(start).plain) if parsed.words[start:] else None,
        zone=zone,
        filters={kind: names for kind in FILTER_KINDS if (names := values.names(parsed, kind))},
        group=_group(parsed),
        empty=values.yes_or_no(parsed, "empty"),
    )


def _starts_schedule(word: Word) -> bool:
    """A quoted word is part of the project's name."""
    return not word.quoted and word.text.lower() in schedules.KEYWORDS


def _looks_like_schedule(word: Word) -> bool:
    """Whether a word after the project's name looks like a mistyped schedule."""
    typed = word.text.lower()
    near = get_close_matches(typed, schedules.KEYWORDS, n=1, cutoff=0.7)
    return not word.quoted and bool(near or typed in _SCHEDULE_LIKE or _TIME.fullmatch(typed))


def _group(parsed: Parsed) -> Group:
    typed = values.name(parsed, "group") or "tracker"
    group = next((known for known in GROUPS if known == typed.lower()), None)
    if group is None:
        raise UnknownGroup
    return group
