"""The message about an assigned issue, and the switch on the Home tab."""

from datetime import date

from bot.features.assigned.buttons import TellWhenAssigned
from bot.features.issues.views import listed, title
from bot.service.models import Issue
from bot.slack.blocks import Block, Message, button, section
from bot.slack.text import line
from bot.slack.wording import Wording


def assigned(issue: Issue, wording: Wording, by: str, today: date) -> Message:
    """The direct message about an issue that `by` assigned to the reader."""
    mine = {"assigned_to": issue.assigned_to.id} if issue.assigned_to else {}
    row = listed(issue, wording, today, shareable=False, fixed=mine)
    said = f"{line(by)} assigned #{issue.id} to you"
    return Message(f"{said}: {title(issue, wording)}", (section(f"{said}."), row))


def switch(*, on: bool) -> Block:
    """The switch on the Home tab; `on` is its position."""
    does = (
        "You get a direct message when someone assigns you an issue with Issue Bot."
        if on
        else "Turn it on to get a direct message when someone assigns you an issue with Issue Bot."
    )
    press = button("Turn off" if on else "Turn on", TellWhenAssigned(on=not on))
    return section(f"*Tell me when I'm assigned*\n{does}", press)
