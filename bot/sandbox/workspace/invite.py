"""Slack's own `/invite`, which adds users and apps to a channel."""

import re

from bot.sandbox.workspace.exchange import PageError
from bot.sandbox.workspace.model import Channel, Command, User
from bot.sandbox.workspace.state import State
from bot.sandbox.workspace.typed import as_command

INVITE = Command("/invite", "Add people or an app to this channel", "@someone", should_escape=True)
MENTIONED = re.compile(r"<@([A-Z0-9]+)\|")


def invite(state: State, user: User, channel: Channel, typed: str) -> None:
    """Add everyone mentioned in `typed` and confirm to `user`; raises PageError when no one can be added."""
    if channel.kind == "im":
        raise PageError("You can't add people to a direct message.")
    mentioned = [state.users[found] for found in MENTIONED.findall(as_command(state, typed))]
    if not mentioned:
        raise PageError(f"Type who to add, such as {INVITE.command} {INVITE.usage_hint}.")
    for invited in mentioned:
        where = f"#{channel.name}"
        if invited.id in channel.members:
            state.toast(user.id, f"{invited.real_name} is already in {where}.")
        elif invited.team_id != state.team.id:
            state.toast(user.id, f"{invited.real_name} is from another company and can't join {where}.")
        else:
            state.invite(channel.id, invited.id)
            state.toast(user.id, f"{invited.real_name} joined {where}.", "info")
