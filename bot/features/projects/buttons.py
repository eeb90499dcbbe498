"""The buttons of projects."""

from bot.slack.buttons import Button, Number


class MakeDefault(Button):
    """Makes a project the channel's."""

    action = "project.default"
    project: Number


class ShowProject(Button):
    """Shows a project to the user."""

    action = "project.show"
    project: Number
