"""Slack's mrkdwn: escaping what others wrote, and translating from and to the service's text formats."""

from bot.slack.mrkdwn.escaping import bold, cut, escape, line, link
from bot.slack.mrkdwn.formats import to_markdown, to_textile
from bot.slack.mrkdwn.markdown import from_markdown
from bot.slack.mrkdwn.textile import from_textile

__all__ = [
    "bold",
    "cut",
    "escape",
    "from_markdown",
    "from_textile",
    "line",
    "link",
    "to_markdown",
    "to_textile",
]
