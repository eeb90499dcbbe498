"""`/tracker` (contract.md, Slash commands)."""

import re
from dataclasses import dataclass

from bot.errors import UserError
from bot.slack.grammar import values
from bot.slack.grammar.options import Parsed
from bot.slack.grammar.requests import Me, SlackUser
from bot.slack.grammar.tokens import words
from bot.slack.grammar.values import person, unknown_word


@dataclass(frozen=True)
class Account:
    """`/tracker`: the caller's account state."""


@dataclass(frozen=True)
class Link:
    """`/tracker link`: the form for the key."""


@dataclass(frozen=True)
class Unlink:
    """`/tracker unlink`."""


@dataclass(frozen=True)
class Whoami:
    """`/tracker whoami`."""


@dataclass(frozen=True)
class Projects:
    """`/tracker projects [text]`."""

    text: str = ""


@dataclass(frozen=True)
class ShowProject:
    """`/tracker project web`: by id, identifier or name."""

    project: str


@dataclass(frozen=True)
class NewProject:
    """`/tracker project new [name]`: the form for a new project."""

    name: str = ""


@dataclass(frozen=True)
class ShowUser:
    """`/tracker user 5`: by the service's number, by a mention, or oneself."""

    who: Me | SlackUser | int


@dataclass(frozen=True)
class NewUser:
    """`/tracker user new [@slackuser]`: the form for an account, maybe for somebody mentioned."""

    user: SlackUser | None = None


@dataclass(frozen=True)
class EditUser:
    """`/tracker user edit 5`."""

    who: Me | SlackUser | int


UserRequest = ShowUser | NewUser | EditUser


@dataclass(frozen=True)
class ShowDefault:
    """`/tracker default`: which project is this channel's."""


@dataclass(frozen=True)
class SetDefault:
    """`/tracker default web`: this channel's project."""

    project: str


@dataclass(frozen=True)
class ClearDefault:
    """`/tracker default none`: this channel has no project any more."""


@dataclass(frozen=True)
class TrackerHelp:
    """`/tracker help`."""


TrackerRequest = (
    Account
    | Link
    | Unlink
    | Whoami
    | Projects
    | ShowProject
    | NewProject
    | UserRequest
    | ShowDefault
    | SetDefault
    | ClearDefault
    | TrackerHelp
)


_ALONE: dict[str, TrackerRequest] = {
    "link": Link(),
    "unlink": Unlink(),
    "whoami": Whoami(),
    "help": TrackerHelp(),
}
_KNOWN = (*_ALONE, "projects", "project", "default", "user")
_NUMBER = re.compile(r"(?:#|https?://\S*/users/)?([0-9]{1,9})/?")


def tracker_command(text: str) -> TrackerRequest:
    """What `/tracker <text>` asks for. Raises UserError; it never repeats a key that was typed."""
    values.reject_api_key(text)
    parsed = Parsed(words(text), {})
    if not parsed.words:
        return Account()
    command = parsed.words[0].text.lower()
    rest = parsed.after(1).text
    if command == "link" and rest:
        raise UserError(values.KEY_TYPED)
    if command in _ALONE:
        if rest:
            raise UserError(f"`/tracker {command}` takes nothing after it: type it alone.")
        return _ALONE[command]
    match command:
        case "projects":
            return Projects(rest)
        case "project":
            return _project(parsed.after(1))
        case "default":
            return _default(rest)
        case "user":
            return _user(parsed.after(1))
    raise unknown_word(command, _KNOWN, "/tracker")


def _project(said: Parsed) -> ShowProject | NewProject:
    if not said.words:
        raise UserError(
            "Say which project: `/tracker project website`, or `/tracker projects` for all of them."
        )
    first = said.words[0]
    if first.text.lower() == "new" and not first.quoted:
        return NewProject(said.after(1).text)
    return ShowProject(said.text)


def _user(said: Parsed) -> UserRequest:
    match said.words[0].text.lower() if said.words else "":
        case "new":
            return _new_user(said.after(1))
        case "edit":
            return EditUser(_who(said.after(1), "/tracker user edit"))
        case _:
            return ShowUser(_who(said, "/tracker user"))


def _new_user(said: Parsed) -> NewUser:
    if not said.words:
        return NewUser()
    mentioned = said.words[0].user if len(said.words) == 1 else None
    if mentioned is None:
        raise UserError(
            "Mention the one person who gets the account, from the list that Slack offers after `@`, or type "
            "`/tracker user new` alone."
        )
    return NewUser(mentioned)


def _who(said: Parsed, command: str) -> Me | SlackUser | int:
    word = said.words[0] if len(said.words) == 1 else None
    who = person(word) if word else None
    if isinstance(who, Me | SlackUser):
        return who
    number = _NUMBER.fullmatch(word.text) if word else None
    if number is None or not int(number[1]):
        raise UserError(f"Say who by number or mention: `{command} 5`, `{command} @name` or `{command} me`.")
    return int(number[1])


def _default(wanted: str) -> ShowDefault | SetDefault | ClearDefault:
    if not wanted:
        return ShowDefault()
    return ClearDefault() if wanted.lower() == "none" else SetDefault(wanted)
