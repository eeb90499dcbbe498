"""What the Home tab's own buttons carry."""

from bot.slack.buttons import Button


class ShowMyIssues(Button):
    """Opens all open issues that are assigned to the user."""

    action = "home.mine"
