"""What the switch on the Home tab carries."""

from bot.slack.buttons import Button


class TellWhenAssigned(Button):
    """Turns messages about newly assigned issues on or off."""

    action = "home.tell_when_assigned"
    on: bool
