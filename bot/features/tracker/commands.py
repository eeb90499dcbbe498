"""`/tracker` (docs/commands.md)."""

import re
from enum import Enum

from bot.access.people import Who
from bot.errors import UserError
from bot.slack.language.options import Parsed
from bot.slack.language.tokens import SlackUser, words
from bot.slack.language.values import key_typed, person, reject_api_key, unknown_word
from bot.store.owner import Owner


class Act(Enum):
    ACCOUNT = ""
    LINK = "link"
    UNLINK = "unlink"
    WHOAMI = "whoami"
    HELP = "help"
    LIST_PROJECTS = "projects"
    SHOW_PROJECT = "project"
    NEW_PROJECT = "project new"
    SHOW_DEFAULT = "default"
    SET_DEFAULT = "default web"
    CLEAR_DEFAULT = "default none"
    SHOW_EMOJI = "emoji"
    SET_EMOJI = "emoji :ticket:"
    CLEAR_EMOJI = "emoji off"
    SHOW_USER = "user"
    NEW_USER = "user new"
    EDIT_USER = "user edit"


TrackerRequest = tuple[Act, *tuple[Who | SlackUser, ...]]  # what to do, and with what, if that was typed

_ALONE = ("link", "unlink", "whoami", "help")
_COMMANDS = (*_ALONE, "projects", "project", "default", "emoji", "user")
_SYNONYMS = {
    **dict.fromkeys(("login", "signin", "connect", "auth", "key"), "link"),
    **dict.fromkeys(("logout", "signout", "disconnect"), "unlink"),
    **dict.fromkeys(("me", "who", "account", "status"), "whoami"),
    **dict.fromkeys(("list", "ls"), "projects"),
    "channel": "default",
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
    reject_api_key(text)
    parsed = Parsed(words(text), {})
    if not parsed.words:
        return (Act.ACCOUNT,)
    typed = parsed.words[0].text.lower()
    command = _SYNONYMS.get(typed, typed)
    rest = parsed.after(1).text
    if command == "link" and rest:
        raise key_typed()
    if command in _ALONE:
        if rest:
            raise UserError("Type `{/tracker} {command}` on its own.", command=command)
        return (Act(command),)
    match command:
        case "projects":
            return (Act.LIST_PROJECTS, rest)
        case "project":
            return _project(parsed.after(1))
        case "default":
            return _of_channel(rest, Act.SHOW_DEFAULT, Act.SET_DEFAULT, Act.CLEAR_DEFAULT)
        case "emoji":
            return _of_channel(rest, Act.SHOW_EMOJI, Act.SET_EMOJI, Act.CLEAR_EMOJI)
        case "user":
            return _user(parsed.after(1), asker)
    raise unknown_word(typed, (*_COMMANDS, *_SYNONYMS), "tracker")


def _of_channel(typed: str, show: Act, change: Act, clear: Act) -> TrackerRequest:
    if not typed:
        return (show,)
    return (clear,) if typed.lower() in _NONE else (change, typed)


def _project(args: Parsed) -> TrackerRequest:
    if not args.words:
        return (Act.LIST_PROJECTS, "")
    first = args.words[0]
    if first.text.lower() in _NEW and not first.quoted:
        return (Act.NEW_PROJECT, args.after(1).text)
    return (Act.SHOW_PROJECT, args.text)


def _user(args: Parsed, asker: Owner) -> TrackerRequest:
    first = args.words[0].text.lower() if args.words else "me"
    if first in _NEW:
        mentioned = [word.user for word in args.words[1:]]
        if len(mentioned) > 1 or None in mentioned:
            raise UserError(
                "Mention one person, such as `{/tracker user new} @gwen`, or type `{/tracker user new}` "
                "on its own."
            )
        return (Act.NEW_USER, *filter(None, mentioned))
    if first in ("edit", "change", "update"):
        return (Act.EDIT_USER, _who(args.after(1), "user edit", asker))
    return (Act.SHOW_USER, _who(args, "user", asker) if args.words else "me")


def _who(args: Parsed, command: str, asker: Owner) -> Who:
    who = person(args.words[0], asker) if len(args.words) == 1 else ""
    if isinstance(who, Owner) or who == "me":
        return who
    number = _NUMBER.fullmatch(who)
    if number is None or not int(number[1]):
        raise UserError(
            "Mention the person or use their ID: `{/tracker} {command} @name` or `{/tracker} {command} 5`.",
            command=command,
        )
    return number[1]
