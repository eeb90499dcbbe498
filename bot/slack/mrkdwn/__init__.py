"""Slack's mrkdwn: escaping what others wrote, and translating from and to the service's text formats."""

from bot.slack.mrkdwn.building import LONGEST, code
from bot.slack.mrkdwn.escaping import (
    bold,
    clean,
    cut,
    escape,
    is_web,
    line,
    link,
    own,
    prose,
    spoken,
    stripped,
)
from bot.slack.mrkdwn.formats import to_markdown, to_textile
from bot.slack.mrkdwn.markdown import from_markdown
from bot.slack.mrkdwn.rendering import rendered
from bot.slack.mrkdwn.textile import from_textile

__all__ = [
    "LONGEST",
    "bold",
    "clean",
    "code",
    "cut",
    "escape",
    "from_markdown",
    "from_textile",
    "is_web",
    "line",
    "link",
    "own",
    "prose",
    "rendered",
    "spoken",
    "stripped",
    "to_markdown",
    "to_textile",
]
