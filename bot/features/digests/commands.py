"""Parses `/digest`."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TypeVar

from bot.errors import UserError
from bot.features.digests import schedules
from bot.features.digests.buttons import Act
from bot.features.digests.errors import collected
from bot.features.digests.plans import DEFAULT_SCHEDULE, DigestSettings
from bot.features.digests.schedules import Schedule
from bot.features.users.people import Who
from bot.slack.grammar import values
from bot.slack.grammar.errors import UnclosedQuote
from bot.slack.grammar.options import Parsed, understand
from bot.slack.grammar.requests import Help, who
from bot.slack.grammar.tokens import Word
from bot.store.digest_plans import FILTER_KINDS, GROUPS, STALE_DAYS, FilterKind, Group, Kind
from bot.store.owner import Owner

T = TypeVar("T")


@dataclass(frozen=True)
class ListDigests:
    """`/digest`: this channel's digests."""


@dataclass(frozen=True)
class AddDigest:
    """`/digest add …`, or just a schedule. Unless it is `scheduled`, the form opens.

    `problems` are the errors in the command; the rest is what was understood.
    """

    wanted: DigestSettings = field(default_factory=DigestSettings)
    scheduled: bool = False
    problems: tuple[UserError, ...] = ()


@dataclass(frozen=True, kw_only=True)
class PersonalDigest:
    """`/digest me`, with what to do or a schedule to set up. `problems` are as in `AddDigest`."""

    act: Act | None = None
    schedule: Schedule | None = None
    zone: str | None = None
    problems: tuple[UserError, ...] = ()


@dataclass(frozen=True)
class OnDigest:
    """`/digest pause [3]` and the like; `id` is None if none was typed."""

    act: Act
    id: int | None = None


DigestRequest = ListDigests | AddDigest | PersonalDigest | OnDigest | Help


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


class UnknownKind(UserError):
    """`kind:` has another value than those known, or `stale:` no number of days, or they contradict."""


EXCLUSIONS: Mapping[FilterKind, str] = {kind: f"-{kind}" for kind in FILTER_KINDS}
OPTIONS = ("project", "kind", "stale", *FILTER_KINDS, *EXCLUSIONS.values(), "group", "empty", "tz")

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
_KNOWN = ("add", "me", *_ALONE, *_ACTS)
_KIND_WORDS: Mapping[str, Kind] = {
    "new": "new",
    "due": "due",
    "overdue": "due",
    "stale": "stale",
    "closed": "closed",
}
_DAYS = re.compile(r"([1-9][0-9]{0,2}) ?(?:(w)(?:eeks?)?|d(?:ays?)?)?", re.IGNORECASE)
_NUMBER = re.compile(r"#?([0-9]{1,9})")
_TIME = re.compile(r"[0-9]{1,2}(?:[:.][0-9]{2}|\s?[ap]m)")
_SCHEDULE_WORDS, _PROJECT_WORDS = 12, 40
_SCHEDULE_LIKE = frozenset({"each", "every", "everyday", "monthly", "morning", "mornings", "yearly"})


def digest_command(text: str, asker: Owner) -> DigestRequest:
    """The request in `/digest <text>`. Raises UserError, which never repeats a key that was typed."""
    values.reject_api_key(text)
    parsed, problems = _understood(text)
    command = parsed.words[0].text.lower() if parsed.words else "list"
    rest = parsed.after(1)
    if command == "add":
        return _add(rest, problems, asker)
    if command == "me":
        return _personal(rest, problems)
    if command not in _KNOWN and any(map(_starts_schedule, parsed.words)):
        return _add(parsed, problems, asker)
    if problems:
        raise problems[0]
    if command not in _KNOWN:
        raise values.unknown_word(command, _KNOWN, "digest")
    if parsed.options:
        raise NothingExpected(command, next(iter(parsed.options)))
    if command in _ACTS:
        return _on_digest(command, rest)
    if rest.words:
        raise NothingExpected(command)
    return _ALONE[command]


def _understood(text: str) -> tuple[Parsed, list[UserError]]:
    """The command as far as it can be read, and the errors in it; without a quote that isn't closed."""
    parsed = understand(text, OPTIONS)
    problems = list(parsed.problems)
    if any(isinstance(problem, UnclosedQuote) for problem in problems):
        parsed = understand(text.translate(schedules.QUOTES), OPTIONS)
    words = tuple(word for word in parsed.words if not word.text.endswith(":"))  # options without a value
    return replace(parsed, words=words), problems


def _on_digest(word: str, parsed: Parsed) -> OnDigest:
    if word == "take" and parsed.plain.lower().split()[:1] == ["over"]:
        parsed = parsed.after(1)
    if not parsed.words:
        return OnDigest(_ACTS[word])
    number = _NUMBER.fullmatch(parsed.plain)
    if number is None or not int(number[1]):
        raise DigestNumberMissing(word)
    return OnDigest(_ACTS[word], int(number[1]))


def _personal(parsed: Parsed, problems: list[UserError]) -> PersonalDigest:
    if (act := parsed.plain.lower()) in _ACTS and not parsed.options:
        return PersonalDigest(act=_ACTS[act])
    if other := next((key for key in parsed.options if key != "tz"), None):
        problems.append(NothingExpected("me", other))
    zone = None
    with collected(problems):
        zone = _zone(parsed, "tz")
    return PersonalDigest(schedule=_schedule(parsed, problems), zone=zone, problems=tuple(problems))


def _add(parsed: Parsed, problems: list[UserError], asker: Owner) -> AddDigest:
    words = parsed.words
    starts = [n for n, word in enumerate(words) if _starts_schedule(word)]
    mistyped = [n for n, word in enumerate(words[:_PROJECT_WORDS]) if n and _looks_like_schedule(word)]
    start = next(iter([*starts, *mistyped]), len(words))
    project = Parsed(words[:start], {}).plain

    def given(read: Callable[[Parsed, str], T], key: str) -> T | None:
        try:
            return read(parsed, key)
        except UserError as error:
            problems.append(error)
            return None

    option = given(values.name, "project")
    if project and option:
        problems.append(ProjectNamedTwice())
    zone = given(_zone, "tz")

    def chosen(parsed: Parsed, key: str) -> tuple[Who, ...]:
        if key.removeprefix("-") in ("author", "to"):
            return tuple(who(person, asker) for person in values.people(parsed, key))
        return values.names(parsed, key)

    kind, stale_days = given(_kind, "kind") or ("new", STALE_DAYS)
    schedule = _schedule(parsed.after(start), problems)
    wanted = DigestSettings(
        project=project or option,
        schedule=schedule or DEFAULT_SCHEDULE,
        zone=zone or "",
        kind=kind,
        stale_days=stale_days,
        filters={kind: names for kind in FILTER_KINDS if (names := given(chosen, kind))},
        excluded={kind: names for kind, key in EXCLUSIONS.items() if (names := given(chosen, key))},
        group=given(_group, "group") or "tracker",
        empty=given(values.yes_or_no, "empty") or False,
    )
    return AddDigest(wanted, schedule is not None, tuple(problems))


def _schedule(typed: Parsed, problems: list[UserError]) -> Schedule | None:
    """The schedule, or else what the first words mean without the rest; None for no words."""
    try:
        return schedules.parse(typed.plain) if typed.words else None
    except UserError as error:
        problems.append(error)
    for end in range(min(len(typed.words), _SCHEDULE_WORDS), 0, -1):
        with suppress(UserError):
            return schedules.parse(Parsed(typed.words[:end], {}).plain)
    return None


def _starts_schedule(word: Word) -> bool:
    """A quoted word is part of the project's name."""
    return not word.quoted and word.text.lower() in schedules.KEYWORDS


def _looks_like_schedule(word: Word) -> bool:
    """Whether a word after the project's name looks like a mistyped schedule."""
    typed = word.text.lower()
    near = get_close_matches(typed, schedules.KEYWORDS, n=1, cutoff=0.7)
    return not word.quoted and bool(near or typed in _SCHEDULE_LIKE or _TIME.fullmatch(typed))


def _kind(parsed: Parsed, key: str) -> tuple[Kind, int]:
    """`kind:due`, `kind:stale`, `kind:stale:14d` or `stale:14d`."""
    word, _, days = (values.name(parsed, key) or "").lower().partition(":")
    days = days or values.name(parsed, "stale") or ""
    kind = _KIND_WORDS.get(word or ("stale" if days else "new"))
    number = _DAYS.fullmatch(days)
    if kind is None or (days and (kind != "stale" or number is None)):
        raise UnknownKind
    return kind, int(number[1]) * (7 if number[2] else 1) if number else STALE_DAYS


def _zone(parsed: Parsed, key: str) -> str | None:
    typed = values.name(parsed, key)
    return schedules.zone_named(typed) if typed else None


def _group(parsed: Parsed, key: str) -> Group:
    typed = values.name(parsed, key) or "tracker"
    group = next((known for known in GROUPS if known == typed.lower()), None)
    if group is None:
        raise UnknownGroup
    return group
