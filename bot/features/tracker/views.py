"""The greeting in a channel that the bot was invited to."""

from bot.features.accounts.views import LINK, LinkAccount
from bot.features.help import views as help_views
from bot.slack.surfaces.blocks import Message, actions, button, section
from bot.slack.text.mrkdwn import escape
from bot.slack.text.wording import Wording


def greeting(wording: Wording, channel_id: str, *, linked: bool, named: bool) -> Message:
    """What the person who invited the bot does first, unless it's done."""
    tracker, issue = wording.command("tracker"), wording.command("issue")
    link = f"Link your {escape(wording.service)} account. Everyone here links their own."
    first = [] if linked else [link]
    first += [] if named else [escape(f"Set this channel's project: `{tracker} default <project>`")]
    first.append(f"Create an issue: `{issue} new The login page is blank`")
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(first, start=1))
    text = f"Thanks for inviting me to <#{channel_id}>. To start:\n{steps}"
    buttons = [] if linked else [button(LINK, LinkAccount(), style="primary")]
    return Message(text, (section(text), actions([*buttons, help_views.help_button()])))
