"""Every scenario by name: the things users do with the bot, as data for the tests of faults.

scene = Scene(office)
await scene.reset()
steps = SCENARIOS["submit issue"].steps(scene)
await anext(steps)           # the setup
await scene.settled()
await anext(steps, None)     # the action under test
await scene.settled()
"""

import os
from collections.abc import Iterable

from tests.faults import (
    account_scenarios,
    comment_scenarios,
    digest_scenarios,
    editing_scenarios,
    file_scenarios,
    following_scenarios,
    home_scenarios,
    issue_scenarios,
    related_scenarios,
    search_scenarios,
    template_scenarios,
    time_scenarios,
)
from tests.faults.scene import Scenario

MODULES = (
    issue_scenarios,
    search_scenarios,
    home_scenarios,
    file_scenarios,
    following_scenarios,
    comment_scenarios,
    template_scenarios,
    related_scenarios,
    editing_scenarios,
    time_scenarios,
    digest_scenarios,
    account_scenarios,
)
SCENARIOS: dict[str, Scenario] = {
    found.name: found for module in MODULES for found in vars(module).values() if isinstance(found, Scenario)
}
WHOLE = "ISSUEBOT_MATRIX" in os.environ


def sampled(scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Returns the scenarios that are the first with one of their handlers; all of them if `WHOLE`."""
    seen: set[str] = set()
    kept = []
    for scenario in scenarios:
        if WHOLE or not seen.issuperset(scenario.handlers):
            kept.append(scenario)
        seen.update(scenario.handlers)
    return kept
