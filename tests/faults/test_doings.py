"""Everything that people can do is among the doings; taking the bot out is done at Slack."""

from tests.faults.doings import DOINGS
from tests.hostile.recording import GONE
from tests.support.registered import REGISTERED


def test_whatever_is_registered_is_done() -> None:
    gone = {f"event:{one['type']}" for one in GONE}
    registered = {f"{kind}:{name}" for kind, names in REGISTERED.items() for name in names} - gone

    assert registered == {name for doing in DOINGS.values() for name in doing.serves}
