"""Colleagues go on working while the sandbox runs: they report issues, so that there is something to tell."""

import asyncio
from datetime import UTC, datetime

from bot.sandbox.demo.history import Plan, Topic, report, stock
from bot.sandbox.demo.randomness import Dice
from bot.sandbox.tracker.data import Data
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT, TASK

SEED = 7
HOW_OFTEN = {BUG: 45, SUPPORT: 20, TASK: 20, FEATURE: 15}
FOLLOWING = {
    BUG: {
        SUPPORT: ("Customer asks: {}", "Third letter this week: {}"),
        TASK: ("Write a test: {}",),
    },
    FEATURE: {
        FEATURE: ("Next step: {}",),
        TASK: ("Write help texts: {}", "Ask customers first: {}", "Measure whether it helps: {}"),
    },
}
"""What comes of a bug and of a feature: trackers and subjects."""


async def go_on_reporting(data: Data, project_id: int, seconds: float) -> None:
    """Report a new issue, never a private one, every so many seconds until cancelled.

    `project_id` is one of the demo's projects.
    """
    dice = Dice(SEED)
    while True:
        await asyncio.sleep(seconds)
        now = datetime.now(UTC).replace(microsecond=0)
        category, tracker_id, subject = _topic(data, project_id, dice)
        report(data, Plan(now, project_id, category, tracker_id, subject), now, dice).is_private = False


def _topic(data: Data, project_id: int, dice: Dice) -> Topic:
    """Something that nobody has reported yet; once there is no such thing left, anything."""
    plain, more = stock(project_id)
    following = [
        (category, tracker_id, words.format(subject))
        for category, cause, subject in plain
        for tracker_id, wordings in FOLLOWING.get(cause, {}).items()
        for words in wordings
    ]
    usable = data.projects[project_id].tracker_ids
    known = {issue.subject for issue in data.issues.values()}
    topics = [topic for topic in (*plain, *more, *following) if topic[1] in usable]
    topics = [topic for topic in topics if topic[2] not in known] or topics
    trackers = sorted({tracker_id for _, tracker_id, _ in topics})
    tracker_id = dice.one(trackers, [HOW_OFTEN[one] for one in trackers])
    return dice.one([topic for topic in topics if topic[1] == tracker_id])
