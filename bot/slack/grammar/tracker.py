"""`/tracker` (contract.md, Slash commands)."""

import re

from bot.errors import UserError
from bot.slack.grammar.options import Parsed
from bot.slack.grammar.reading import unknown_word
from bot.slack.grammar.requests import (
    Account,
    ClearDefault,
    Link,
    Projects,
    SetDefault,
    ShowProject,
    TrackerHelp,
    TrackerRequest,
    Unlink,
    Whoami,
)
from bot.slack.grammar.tokens import words

_ALONE: dict[str, TrackerRequest] = {
    "link": Link(),
    "unlink": Unlink(),
    "whoami": Whoami(),
    "help": TrackerHelp(),
}
_KNOWN = (*_ALONE, "projects", "project", "default")
_KEY = re.compile(r"[0-9a-fA-F]{40}")
_KEY_TYPED = (
    "Never type your key into a command, where logs may keep it: renew it under “My account” in {service}, "
    "then type `/tracker link` alone and put the new key into its form."
)


def tracker_command(text: str) -> TrackerRequest:
    """What `/tracker <text>` asks for. Raises UserError; it never repeats a key that was typed."""
    if _KEY.search(text):
        raise UserError(_KEY_TYPED)
    parsed = Parsed(words(text), {})
    if not parsed.words:
        return Account()
    command = parsed.words[0].text.lower()
    rest = parsed.after(1).text
    if command == "link" and rest:
        raise UserError(_KEY_TYPED)
    if command in _ALONE:
        if rest:
            raise UserError(f"`/tracker {command}` takes nothing after it: type it alone.")
        return _ALONE[command]
    match command:
        case "projects":
            return Projects(rest)
        case "project":
            return _project(rest)
        case "default":
            return _default(rest)
    raise unknown_word(command, _KNOWN, "/tracker")


def _project(wanted: str) -> ShowProject:
    if not wanted:
        raise UserError(
            "Say which project: `/tracker project website`, or `/tracker projects` for all of them."
        )
    return ShowProject(wanted)


def _default(wanted: str) -> SetDefault | ClearDefault:
    if not wanted:
        raise UserError("Say which project: `/tracker default website`, or `/tracker default none` for none.")
    return ClearDefault() if wanted.lower() == "none" else SetDefault(wanted)
