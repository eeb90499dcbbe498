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
    *("editing", "time", "digest", "account", "mention"),
):
    import_module(f"tests.faults.{module}_scenarios")

__all__ = ["SCENARIOS", "WHOLE", "first_of_each_handler", "sampled"]
WHOLE = "ISSUEBOT_MATRIX" in os.environ


def first_of_each_handler() -> list[Scenario]:
    """Returns the first scenario of each handler, with an effect if there is one."""
    handlers: set[str] = set()
    first = []
    for scenario in sorted(SCENARIOS.values(), key=lambda one: one.effect is None):
        if not handlers.issuperset(scenario.handlers):
            first.append(scenario)
        handlers.update(scenario.handlers)
    return first


def sampled(share: int) -> list[Scenario]:
    """Returns a third of `first_of_each_handler`; all scenarios if `WHOLE`.

    The three shares go to the faults of the service, the faults of Slack, and duplicate deliveries.
    """
    return list(SCENARIOS.values()) if WHOLE else first_of_each_handler()[share::3]
