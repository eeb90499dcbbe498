"""Everything that people can do is among the doings; taking the bot out is done at Slack."""

from collections.abc import Collection

from bot.features import registry as register
from tests.faults.doings import DOINGS
from tests.hostile.recording import GONE

REGISTERED: dict[str, Collection[str]] = {
    "command": register.COMMANDS,
    "shortcut": register.SHORTCUTS,
    "action": {*register.ACTIONS, *register.RESUMING},
    "event": register.EVENTS.keys() - {one["type"] for one in GONE},
    "form": {*register.FORMS, "link"},
    "closed": register.CLOSED,
    "options": register.OPTIONS,
}


def test_whatever_is_registered_is_done() -> None:
    registered = {f"{kind}:{name}" for kind, names in REGISTERED.items() for name in names}

    assert registered == {name for doing in DOINGS.values() for name in doing.serves}
