"""Everything that people do with the bot, as data: what tests of faults do again and again.

scene = Scene(office, office.tracker)
await scene.begin()
steps = DOINGS["submit issue"].way(scene)
await anext(steps)           # what has to be there first
await scene.settled()
await anext(steps, None)     # the act itself
await scene.settled()
"""

from tests.faults import account_doings, file_doings, issue_doings, time_doings
from tests.faults.scene import Doing

DOINGS: dict[str, Doing] = {
    found.name: found
    for module in (issue_doings, file_doings, time_doings, account_doings)
    for found in vars(module).values()
    if isinstance(found, Doing)
}
