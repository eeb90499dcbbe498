"""What follows `/tracker notify` (docs/commands.md)."""

from bot.errors import UserError
from bot.slack.language.values import unknown_word
from bot.store.notices import Topic

_TOPICS = {
    **{str(topic): topic for topic in Topic},
    **dict.fromkeys(("assign", "assignment", "assignments"), Topic.ASSIGNED),
    "comment": Topic.COMMENTS,
    "change": Topic.CHANGES,
}
_SWITCH = {"on": True, "off": False}


def notify_command(text: str) -> tuple[Topic, bool] | None:
    """The topic to turn on or off; None to show what is on. Raises UserError."""
    topic: Topic | None = None
    on: bool | None = None
    for word in text.lower().split():
        typed = word.rstrip("?!.,")
        if typed in _TOPICS:
            topic = _TOPICS[typed]
        elif typed in _SWITCH:
            on = _SWITCH[typed]
        elif typed != "help":
            raise unknown_word(typed, (*Topic, *_SWITCH), "tracker notify")
    if topic is None and on is not None:
        raise UserError("Say what: `{/tracker notify} comments {on}`.", on="on" if on else "off")
    return None if topic is None or on is None else (topic, on)
