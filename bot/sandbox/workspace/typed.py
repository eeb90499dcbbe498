"""Convert typed text to Slack's format: mentions by ID, URLs in angle brackets, the rest escaped."""

import re
from collections.abc import Iterator

from bot.sandbox.workspace.model import User
from bot.sandbox.workspace.state import State

LABELLED = re.compile(r"\[([^\[\]\n]{1,300})\]\((https?://[^\s<>\"“”|()]+)\)")
ADDRESS = re.compile(r"https?://[^\s<>\"“”|]+")
MARK = re.compile(r"(?<![\w@#&/])[@#](?=\w)")
TRAILING = ".,;:!?)'*_~"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _names(user: User) -> tuple[str, ...]:
    return user.real_name, user.name, user.first_name


def _person(state: State, text: str, at: int) -> tuple[int, User] | None:
    named = [
        (len(name), user)
        for user in state.users.values()
        for name in _names(user)
        if text[at : at + len(name)].casefold() == name.casefold()
        and not text[at + len(name) : at + len(name) + 1].isalnum()
    ]
    return max(named, key=lambda pair: pair[0]) if named else None


def _pieces(state: State, text: str, *, labelled: bool) -> Iterator[str]:
    done = 0
    position = 0
    while position < len(text):
        labelled_link = None if labelled else LABELLED.match(text, position)
        address = ADDRESS.match(text, position)
        mark = MARK.match(text, position)
        piece, end = "", position
        if labelled_link is not None:
            label, url = labelled_link.groups()
            piece, end = f"<{escaped(url)}|{escaped(label)}>", labelled_link.end()
        elif address is not None:
            url = address.group().rstrip(TRAILING)
            piece, end = f"<{escaped(url)}>", position + len(url)
        elif mark is not None and mark.group() == "@":
            found = _person(state, text, position + 1)
            if found is not None:
                length, user = found
                piece = f"<@{user.id}|{user.name}>" if labelled else f"<@{user.id}>"
                end = position + 1 + length
        elif mark is not None:
            word = re.compile(r"[\w-]+").match(text, position + 1)
            name = word.group() if word else ""
            channel = next(
                (one for one in state.channels.values() if one.name and one.name == name.lower()), None
            )
            if channel is not None:
                piece, end = f"<#{channel.id}|{channel.name}>", position + 1 + len(name)
        if piece:
            yield escaped(text[done:position]) + piece
            done = end
        position = max(end, position + 1)
    yield escaped(text[done:])


def as_message(state: State, text: str) -> str:
    """Return a message's text as Slack stores it."""
    return "".join(_pieces(state, text, labelled=False))


def as_command(state: State, text: str) -> str:
    """Return a command's text with `should_escape` on: mentions include names beside IDs."""
    return "".join(_pieces(state, text, labelled=True))
