"""What the buttons of files carry."""

from bot.slack.buttons import Button, Number


class OpenFilesForm(Button):
    action = "files.open"
    issue: Number
