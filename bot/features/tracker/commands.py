"""`/tracker` (docs/commands.md)."""

import re
from dataclasses import dataclass
from enum import Enum

from bot.access.people import Who
from bot.errors import UserError
from bot.service.conventions import KEY
from bot.slack.language.keys import LINK, key_typed
from bot.slack.language.options import Parsed
from bot.slack.language.questions import reject_question
from bot.slack.language.tokens import SlackUser, words
from bot.slack.language.values import person, unknown_word
from bot.store.owner import Owner


class Bare(Enum):
    """Subcommands without arguments, as typed."""

    ACCOUNT = ""
    LINK = "link"
    UNLINK = "unlink"
    LOGOUT = "logout"
    WHOAMI = "whoami"
    SHOW_DEFAULT = "default"
    CLEAR_DEFAULT = "default none"
    SHOW_EMOJI = "emoji"
    CLEAR_EMOJI = "emoji off"
    HELP = "help"


@dataclass(frozen=True)
class ListProjects:
    """`/tracker projects [text]`."""

    text: str = ""


@dataclass(frozen=True)
class OneProject:
    """`/tracker project web`: by ID, identifier or name."""

    project: str


@dataclass(frozen=True)
class OpenProjectForm:
    """`/tracker project new [name]`: open the form for a new project."""

    name: str = ""


@dataclass(frozen=True)
class ShowUser:
    """`/tracker user 5`: by the service's user ID, by mention, or `me`."""

    who: Who


@dataclass(frozen=True)
class OpenAccountForm:
    """`/tracker user new [@slackuser]`: open the form for a new account."""

    user: SlackUser | None = None


@dataclass(frozen=True)
class EditUser:
    """`/tracker user edit 5`."""

    who: Who


@dataclass(frozen=True)
class SetDefault:
    """`/tracker default web`: set the channel's project."""

    project: str


@dataclass(frozen=True)
class SetEmoji:
    """`/tracker emoji :ticket:`: create issues in the channel by reacting with it."""

    emoji: str


TrackerRequest = (
    Bare
    | ListProjects
    | OneProject
    | OpenProjectForm
    | ShowUser
    | OpenAccountForm
    | EditUser
    | SetDefault
    | SetEmoji
)

_ALONE = ("link", "unlink", "logout", "whoami", "help")
_TALK = frozenset({"my", "account", "me", "am", "i", "up", "please", "in", "out", "the", "to"})
_COMMANDS = (*_ALONE, "projects", "project", "default", "emoji", "user")
_SYNONYMS = {
    **dict.fromkeys(LINK, "link"),
    **dict.fromkeys(("signout", "disconnect", "logoff"), "logout"),
    **dict.fromkeys(("me", "who", "who's", "account", "status"), "whoami"),
    **dict.fromkeys(("list", "ls"), "projects"),
    **dict.fromkeys(("channel", "use"), "default"),
    **dict.fromkeys(("reaction", "reactions"), "emoji"),
    **dict.fromkeys(("users", "person", "people"), "user"),
}
_NEW = ("new", "create", "add")
_NONE = ("none", "clear", "remove", "off")
_NUMBER = re.compile(r"(?:#|https?://\S*/users/)?([0-9]{1,9})/?")


def may_hold_key(text: str) -> bool:
    """Whether what follows the first word may be an API key."""
    first = text.split(" ", 1)[0].casefold()
    return _SYNONYMS.get(first, first) == "link"


def tracker_command(text: str, asker: Owner) -> TrackerRequest:
    """Parse `/tracker <text>` of `asker`. Raises UserError, never with a typed API key in its text."""
    if KEY.search(text):  # nothing else here looks like one
        raise key_typed()
    parsed = Parsed(words(text), {})
    if not parsed.words:
        return Bare.ACCOUNT
    typed = parsed.words[0].text.lower().rstrip("?!.,")
    command = _SYNONYMS.get(typed, typed)
    if parsed.plain.lower().rstrip("?!.") in ("settings", "my account", "my settings"):
        return Bare.ACCOUNT
    if (
        typed.startswith("who")
        and parsed.words[1:]
        and not _TALK.issuperset(parsed.plain.lower().rstrip("?!.").split()[1:])
    ):
        found = parsed.after(1 + (parsed.words[1].text.lower() in ("is", "are")))
        return ShowUser(_who(found, "user", asker))
    rest = parsed.after(1).text
    rest = "" if command in _ALONE and _TALK.issuperset(rest.lower().rstrip("?!.").split()) else rest
    if command == "link" and rest:
        raise key_typed()
    if command in _ALONE:
        if rest:
            raise UserError("Type `{/tracker} {command}` on its own.", command=command)
        return Bare(command)
    match command:
        case "projects":
            return ListProjects(rest)
        case "project":
            return _project(parsed.after(1))
        case "default" | "emoji":
            reject_question(text, parsed.words)
            return _emoji(rest) if command == "emoji" else _default(rest)
        case "user":
            return _user(parsed.after(1), asker)
    raise unknown_word(typed, (*_COMMANDS, *_SYNONYMS), "tracker")


def _default(typed: str) -> Bare | SetDefault:
    if not typed:
        return Bare.SHOW_DEFAULT
    return Bare.CLEAR_DEFAULT if typed.lower() in _NONE else SetDefault(typed)


def _emoji(typed: str) -> Bare | SetEmoji:
    if not typed:
        return Bare.SHOW_EMOJI
    return Bare.CLEAR_EMOJI if typed.lower() in _NONE else SetEmoji(typed)


def _project(args: Parsed) -> ListProjects | OneProject | OpenProjectForm:
    if not args.words:
        return ListProjects()
    first = args.words[0]
    if first.text.lower() in _NEW and not first.quoted:
        return OpenProjectForm(args.after(1).text)
    return OneProject(args.text)


def _user(args: Parsed, asker: Owner) -> ShowUser | OpenAccountForm | EditUser:
    first = args.words[0].text.lower() if args.words else "me"
    if first in _NEW:
        mentioned = [word.user for word in args.words[1:]]
        if len(mentioned) > 1 or None in mentioned:
            raise UserError(
                "Mention one person, such as `{/tracker user new} @gwen`, or type `{/tracker user new}` "
                "on its own."
            )
        return OpenAccountForm(*mentioned)
    if first in ("edit", "change", "update"):
        return EditUser(_who(args.after(1), "user edit", asker))
    return ShowUser(_who(args, "user", asker) if args.words else "me")


def _who(args: Parsed, command: str, asker: Owner) -> Who:
    who = person(args.words[0], asker) if len(args.words) == 1 else args.plain
    if isinstance(who, Owner) or who == "me":
        return who
    who = who.rstrip("?!.")
    number = _NUMBER.fullmatch(who)
    if number is None and command == "user" and re.fullmatch(r"[^\W\d_][\w .'’-]{1,60}", who):
        return who  # by name
    if number is None or not int(number[1]):
        raise UserError(
            "Mention the person or use their ID: `{/tracker} {command} @name` or `{/tracker} {command} 5`.",
            command=command,
        )
    return number[1]
