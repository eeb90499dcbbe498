"""Replies to the commands and the reactions."""

from bot.access.projects import KnownProject
from bot.features.accounts.views import LINK, LinkAccount
from bot.features.related.views import CreateFromMessage
from bot.slack.surfaces.blocks import Message, button_row, section
from bot.slack.text.mrkdwn import bold, prose
from bot.slack.text.wording import Wording


def turned_on(emoji: str, project: KnownProject | None, wording: Wording, *, bot_is_member: bool) -> Message:
    """The emoji that creates issues in this channel, and the missing requirements."""
    command = wording.command("tracker")
    where = f"in {bold(project.name)}" if project else "in this channel's project"
    text = f"React with :{emoji}: to a message here to create an issue from it {where}."
    if project is None:
        text += f" Set the project first: `{command} default <project>`."
    if not bot_is_member:
        text += " I'm not in this channel yet. Invite me with `/invite @Issue Bot`."
    text += f"\nTurn it off: `{command} emoji off`."
    return Message(text, (section(text),))


def turned_off(wording: Wording) -> Message:
    text = "Reactions here don't create issues."
    text += f" To turn this on: `{wording.command('tracker')} emoji :ticket:`."
    return Message(text, (section(text),))


def link_first(emoji: str, wording: Wording, saved: str) -> Message:
    """For someone who isn't linked; `saved` is the ID of their reaction."""
    service = wording.service
    text = f"To create {service} issues by reacting with :{emoji}:, link your account first."
    return Message(text, (section(text), button_row(LINK, LinkAccount(saved=saved))))


def not_created(why: str, saved: str | None) -> Message:
    """Why a reaction created no issue, with the form for the saved message."""
    text = prose(why)
    form = (button_row("Create an issue", CreateFromMessage(saved=saved)),) if saved else ()
    return Message(text, (section(text), *form))
