"""`/digest` (contract.md, Slash commands)."""

import re
from difflib import get_close_matches

from bot.errors import UserError
from bot.slack.grammar import reading
from bot.slack.grammar.options import Parsed, parse
from bot.slack.grammar.requests import (
    AddDigest,
    ChangeDigest,
    DigestNow,
    DigestRequest,
    Help,
    ListDigests,
    OneDigest,
    PauseDigest,
    RemoveDigest,
    ResumeDigest,
    TakeOverDigest,
)
from bot.slack.grammar.tokens import Word
from bot.store.digests import GROUPS, Group
from bot.usecases import schedules

OPTIONS = ("project", "tracker", "priority", "category", "group", "empty", "tz")

_ALONE: dict[str, DigestRequest] = {"list": ListDigests(), "help": Help()}
_ONE: dict[str, type[OneDigest]] = {
    "change": ChangeDigest,
    "edit": ChangeDigest,
    "now": DigestNow,
    "pause": PauseDigest,
    "resume": ResumeDigest,
    "remove": RemoveDigest,
    "delete": RemoveDigest,
    "stop": RemoveDigest,
    "take": TakeOverDigest,
    "takeover": TakeOverDigest,
}
_KNOWN = ("add", *_ALONE, *_ONE)
_NUMBER = re.compile(r"#?([0-9]{1,9})")
_TIME = re.compile(r"[0-9]{1,2}(?:[:.][0-9]{2}|\s?[ap]m)")
_SCHEDULE_LIKE = frozenset({"each", "every", "everyday", "monthly", "morning", "mornings", "yearly"})


def digest_command(text: str) -> DigestRequest:
    """What `/digest <text>` asks for. Raises UserError; it never repeats a key that was typed."""
    reading.without_key(text)
    parsed = parse(text, OPTIONS)
    command = parsed.words[0].text.lower() if parsed.words else "list"
    rest = parsed.after(1)
    if command == "add":
        return _add(rest)
    if command not in _KNOWN:
        raise reading.unknown_word(command, _KNOWN, "/digest")
    if parsed.options:
        raise UserError(f"`/digest {command}` takes no options: leave out `{next(iter(parsed.options))}:`.")
    if command in _ONE:
        return _one(command, rest)
    if rest.words:
        raise UserError(f"`/digest {command}` takes nothing after it: type it alone.")
    return _ALONE[command]


def _one(command: str, said: Parsed) -> OneDigest:
    if command == "take" and said.plain.lower().split()[:1] == ["over"]:
        said = said.after(1)
    if not said.words:
        return _ONE[command]()
    number = _NUMBER.fullmatch(said.plain)
    if number is None or not int(number[1]):
        raise UserError(f"Say which digest by its number: `/digest {command} 3`.")
    return _ONE[command](int(number[1]))


def _add(said: Parsed) -> AddDigest:
    begin = next((n for n, word in enumerate(said.words) if _begins_schedule(word)), len(said.words))
    if begin == len(said.words) and any(map(_meant_as_schedule, said.words[1:])):
        schedules.parse("")
    before = Parsed(said.words[:begin], {}).plain
    option = reading.name(said, "project")
    if before and option:
        raise UserError("The project is named twice: leave out `project:`, or the words before the schedule.")
    typed = reading.name(said, "tz")
    zone = schedules.zone_named(typed) if typed else None
    return AddDigest(
        project=before or option,
        schedule=schedules.parse(said.after(begin).plain) if said.words[begin:] else None,
        zone=zone,
        tracker=reading.names(said, "tracker"),
        priority=reading.names(said, "priority"),
        category=reading.names(said, "category"),
        group=_group(said),
        empty=reading.yes_or_no(said, "empty"),
    )


def _begins_schedule(word: Word) -> bool:
    """In quotes it is a part of the project's name."""
    return not word.quoted and word.text.lower() in schedules.KEYWORDS


def _meant_as_schedule(word: Word) -> bool:
    """Whether a word behind the project's name looks like a schedule that was mistyped."""
    typed = word.text.lower()
    near = get_close_matches(typed, schedules.KEYWORDS, n=1, cutoff=0.7)
    return not word.quoted and bool(near or typed in _SCHEDULE_LIKE or _TIME.fullmatch(typed))


def _group(said: Parsed) -> Group | None:
    typed = reading.name(said, "group")
    if typed is None:
        return None
    group = next((known for known in GROUPS if known == typed.lower()), None)
    if group is None:
        raise UserError(
            f"`group:` is one of {', '.join(f'`{group}`' for group in GROUPS)}: write `group:priority`."
        )
    return group
