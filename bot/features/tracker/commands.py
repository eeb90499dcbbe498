"""`/tracker` (docs/commands.md)."""

import re
from dataclasses import dataclass
from enum import Enum

from bot.errors import UserError
from bot.slack.grammar.errors import KeyTyped
from bot.slack.grammar.options import Parsed
from bot.slack.grammar.requests import Me, Named, Person, SlackUser
from bot.slack.grammar.tokens import words
from bot.slack.grammar.values import person, reject_api_key, unknown_word


class NothingTakenAfter(UserError):
    """Something follows a subcommand that takes nothing."""

    command: str


class NotOneMention(UserError):
    """`/tracker user new` is followed by something other than one mention."""


class UserNotNamed(UserError):
    """`/tracker user` or `/tracker user edit` with something other than a number, a mention or `me`."""

    command: str


class Bare(Enum):
    """Subcommands without arguments, as typed."""

    ACCOUNT = ""
    LINK = "link"
    UNLINK = "unlink"
    WHOAMI = "whoami"
    SHOW_DEFAULT = "default"
    CLEAR_DEFAULT = "default none"
    HELP = "help"


@dataclass(frozen=True)
class Projects:
    """`/tracker projects [text]`."""

    text: str = ""


@dataclass(frozen=True)
class ShowProject:
    """`/tracker project web`: by ID, identifier or name."""

    project: str


@dataclass(frozen=True)
class NewProject:
    """`/tracker project new [name]`: open the form for a new project."""

    name: str = ""


@dataclass(frozen=True)
class ShowUser:
    """`/tracker user 5`: by the service's user ID, by mention, or `me`."""

    who: Person


@dataclass(frozen=True)
class NewUser:
    """`/tracker user new [@slackuser]`: open the form for a new account."""

    user: SlackUser | None = None


@dataclass(frozen=True)
class EditUser:
    """`/tracker user edit 5`."""

    who: Person


@dataclass(frozen=True)
class SetDefault:
    """`/tracker default web`: set the channel's project."""

    project: str


TrackerRequest = Bare | Projects | ShowProject | NewProject | ShowUser | NewUser | EditUser | SetDefault

_ALONE = ("link", "unlink", "whoami", "help")
_COMMANDS = (*_ALONE, "projects", "project", "default", "user")
_SYNONYMS = {
    **dict.fromkeys(("login", "signin", "connect", "auth", "key"), "link"),
    **dict.fromkeys(("logout", "signout", "disconnect"), "unlink"),
    **dict.fromkeys(("me", "who", "account", "status"), "whoami"),
    **dict.fromkeys(("list", "ls"), "projects"),
    "channel": "default",
    **dict.fromkeys(("users", "person", "people"), "user"),
}
_NEW = ("new", "create", "add")
_NONE = ("none", "clear", "remove", "off")
_NUMBER = re.compile(r"(?:#|https?://\S*/users/)?([0-9]{1,9})/?")


def may_hold_key(text: str) -> bool:
    """Whether what follows the first word may be an API key."""
    first = text.split(" ", 1)[0].casefold()
    return _SYNONYMS.get(first, first) == "link"


def tracker_command(text: str) -> TrackerRequest:
    """Parse `/tracker <text>`. Raises UserError, never with a typed API key in its text."""
    reject_api_key(text)
    parsed = Parsed(words(text), {})
    if not parsed.words:
        return Bare.ACCOUNT
    typed = parsed.words[0].text.lower()
    command = _SYNONYMS.get(typed, typed)
    rest = parsed.after(1).text
    if command == "link" and rest:
        raise KeyTyped
    if command in _ALONE:
        if rest:
            raise NothingTakenAfter(command)
        return Bare(command)
    match command:
        case "projects":
            return Projects(rest)
        case "project":
            return _project(parsed.after(1))
        case "default":
            if not rest:
                return Bare.SHOW_DEFAULT
            return Bare.CLEAR_DEFAULT if rest.lower() in _NONE else SetDefault(rest)
        case "user":
            return _user(parsed.after(1))
    raise unknown_word(typed, (*_COMMANDS, *_SYNONYMS), "tracker")


def _project(args: Parsed) -> Projects | ShowProject | NewProject:
    if not args.words:
        return Projects()
    first = args.words[0]
    if first.text.lower() in _NEW and not first.quoted:
        return NewProject(args.after(1).text)
    return ShowProject(args.text)


def _user(args: Parsed) -> ShowUser | NewUser | EditUser:
    first = args.words[0].text.lower() if args.words else "me"
    if first in _NEW:
        mentioned = [word.user for word in args.words[1:]]
        if len(mentioned) > 1 or None in mentioned:
            raise NotOneMention
        return NewUser(*mentioned)
    if first in ("edit", "change", "update"):
        return EditUser(_who(args.after(1), "user edit"))
    return ShowUser(_who(args, "user") if args.words else Me())


def _who(args: Parsed, command: str) -> Person:
    word = args.words[0] if len(args.words) == 1 else None
    who = person(word) if word else None
    if isinstance(who, Me | SlackUser):
        return who
    number = _NUMBER.fullmatch(who.name) if who else None
    if number is None or not int(number[1]):
        raise UserNotNamed(command)
    return Named(number[1])
