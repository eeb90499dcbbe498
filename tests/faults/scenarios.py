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
from importlib import import_module

from tests.faults.scenario import SCENARIOS, Scenario

for module in (
    *("issue", "search", "home", "file", "thread", "comment", "template"),
    *("editing", "time", "digest", "account"),
):
    import_module(f"tests.faults.{module}_scenarios")

__all__ = ["SCENARIOS", "WHOLE", "sampled"]
WHOLE = "ISSUEBOT_MATRIX" in os.environ


def sampled(share: int) -> list[Scenario]:
    """Returns a third of the scenarios that are the first with one of their handlers; all of them if `WHOLE`.

    The three shares go to the faults of the service, the faults of Slack, and duplicate deliveries.
    """
    seen: set[str] = set()
    first = []
    for scenario in SCENARIOS.values():
        if not seen.issuperset(scenario.handlers):
            first.append(scenario)
        seen.update(scenario.handlers)
    return list(SCENARIOS.values()) if WHOLE else first[share::3]
