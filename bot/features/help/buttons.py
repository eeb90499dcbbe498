"""The button that shows the help."""

from bot.slack.buttons import Button


class ShowHelp(Button):
    """Opens the help."""

    action = "help"
