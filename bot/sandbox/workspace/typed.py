"""Convert typed text to Slack's format: mentions by ID, URLs in angle brackets, the rest escaped."""

import re
from collections.abc import Iterable

from bot.sandbox.workspace.state import State

LABELLED = r"\[(?P<label>[^\[\]\n]{1,300})\]\((?P<url>https?://[^\s<>\"“”|()]+)\)"
ADDRESS = r"(?P<address>https?://[^\s<>\"“”|]*[^\s<>\"“”|.,;:!?)'*_~])"
MENTION = r"(?<![\w@#&/])(?:@(?P<person>(?ai:{people}))(?![^\W_])|\#(?P<channel>(?ai:{channels}))(?![\w-]))"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def as_message(state: State, text: str) -> str:
    """Return a message's text as Slack stores it."""
    return _encoded(state, text, (LABELLED, ADDRESS, MENTION), with_names=False)


def as_command(state: State, text: str) -> str:
    """Return a command's text with `should_escape` on: mentions include names beside IDs."""
    return _encoded(state, text, (ADDRESS, MENTION), with_names=True)


def _encoded(state: State, text: str, tokens: Iterable[str], *, with_names: bool) -> str:
    names = [(name, u) for u in state.users.values() for name in (u.real_name, u.name, u.first_name)]
    people = {name.casefold(): user for name, user in reversed(names)}
    channels = {channel.name: channel for channel in state.channels.values() if channel.name}
    longest_first = sorted((re.escape(name) for name, _ in names), key=len, reverse=True)
    pattern = "|".join(tokens).replace("{people}", "|".join(longest_first))
    pattern = pattern.replace("{channels}", "|".join(map(re.escape, channels)))

    def encoded(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "url":
                return f"<{escaped(found['url'])}|{escaped(found['label'])}>"
            case "address":
                return f"<{escaped(found['address'])}>"
            case "channel":
                channel = channels[found["channel"].lower()]
                return f"<#{channel.id}|{channel.name}>"
            case _:
                user = people[found["person"].casefold()]
                return f"<@{user.id}|{user.name}>" if with_names else f"<@{user.id}>"

    result, end = "", 0
    for found in re.finditer(pattern, text):
        result += escaped(text[end : found.start()]) + encoded(found)
        end = found.end()
    return result + escaped(text[end:])
