"""What the buttons of time logging carry."""

from bot.slack.buttons import Button, Number


class OpenTimeForm(Button):
    action = "time.open"
    issue: Number
