"""Slack's mrkdwn: escapes other people's text, and converts from and to the service's text formats."""

from bot.slack.text.building import LONGEST, code
from bot.slack.text.dates import day, moment
from bot.slack.text.escaping import bold, clean, cut, escape, is_web, line, link, own, prose, spoken, stripped
from bot.slack.text.rendering import rendered
from bot.slack.text.textile import from_textile

__all__ = [
    "LONGEST",
    "bold",
    "clean",
    "code",
    "cut",
    "day",
    "escape",
    "from_textile",
    "is_web",
    "line",
    "link",
    "moment",
    "own",
    "prose",
    "rendered",
    "spoken",
    "stripped",
]
