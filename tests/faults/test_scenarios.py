"""Every handler has a scenario, except those for uninstalling the bot, which users do in Slack itself."""

from tests.faults.scenarios import SCENARIOS
from tests.hostile.recording import GONE
from tests.support.registered import REGISTERED


def test_every_registered_handler_has_a_scenario() -> None:
    gone = {f"event:{one['type']}" for one in GONE}
    registered = {f"{kind}:{name}" for kind, names in REGISTERED.items() for name in names} - gone

    assert registered == {name for scenario in SCENARIOS.values() for name in scenario.handlers}
