"""The button that links an account."""

from bot.slack.buttons import Button


class LinkAccount(Button):
    """Opens the form for an API key; `saved` is the ID of the request to resume after linking."""

    action = "link.open"
    saved: str = ""
