"""The button that sets a channel's project."""

from bot.slack.buttons import Button, Number


class MakeDefault(Button):
    """Makes a new project the channel's."""

    action = "project.default"
    project: Number
