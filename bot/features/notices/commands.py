"""What follows `/tracker notify` (docs/commands.md)."""

from collections.abc import Mapping

from bot.errors import UserError
from bot.slack.language.values import unknown_word
from bot.store.notices import Topic

_TOPICS = {
    **{str(topic): [topic] for topic in Topic},
    **{word: [Topic.ASSIGNED] for word in ("assign", "assignment", "assignments")},
    "comment": [Topic.COMMENTS],
    "change": [Topic.CHANGES],
    "all": [*Topic],
}
_SWITCH = {"on": True, "off": False}


def notify_command(text: str) -> Mapping[Topic, bool]:
    """The topics to turn on or off; none to show what is on. Raises UserError."""
    words = [word.rstrip("?!.,") for word in text.lower().split()]
    words = [typed for typed in words if typed not in {"help", "and"}]
    for typed in words:
        if typed not in _TOPICS and typed not in _SWITCH:
            raise unknown_word(typed, (*Topic, *_SWITCH), "tracker notify")
    switches = [typed for typed in words if typed in _SWITCH]
    if len(switches) == 1:  # it may come first
        words.append(words.pop(words.index(switches[0])))
    chosen: dict[Topic, bool] = {}
    waiting: list[Topic] = []
    for typed in words:
        if typed in _TOPICS:
            waiting += _TOPICS[typed]
            continue
        if not waiting:
            raise UserError("Which messages? Try `{/tracker notify} comments {on}`.", on=typed)
        chosen |= dict.fromkeys(waiting, _SWITCH[typed])
        waiting = []
    return chosen
