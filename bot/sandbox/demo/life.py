"""Simulated colleagues, who keep reporting issues while the sandbox runs so that digests have news."""

import asyncio
from datetime import UTC, datetime

from bot.sandbox.demo.harbor import HARBOR, TRACKER_IDS
from bot.sandbox.demo.history import Plan, SeededRandom, Topic, report, stock
from bot.sandbox.tracker.data import Data
from bot.sandbox.tracker.defaults import BUG, FEATURE, SUPPORT, TASK

SEED = 7
NAMES = {number: name for name, number in TRACKER_IDS.items()}
TRACKER_WEIGHTS = {BUG: 45, SUPPORT: 20, TASK: 20, FEATURE: 15}


async def go_on_reporting(data: Data, project_id: int, seconds: float) -> None:
    """Report a new public issue every `seconds` in a demo project until canceled."""
    rng = SeededRandom(SEED)
    while True:
        await asyncio.sleep(seconds)
        now = datetime.now(UTC).replace(microsecond=0)
        category, tracker_id, subject = _topic(data, project_id, rng)
        report(data, Plan(now, project_id, category, tracker_id, subject), now, rng).is_private = False


def _topic(data: Data, project_id: int, rng: SeededRandom) -> Topic:
    """Return a topic that hasn't been reported yet, or any topic once all have been."""
    plain, more = stock(project_id)
    following = [
        (category, TRACKER_IDS[tracker], words.format(subject))
        for category, cause, subject in plain
        for tracker, wordings in HARBOR.follow_ups.get(NAMES[cause], {}).items()
        for words in wordings
    ]
    usable = data.projects[project_id].tracker_ids
    known = {issue.subject for issue in data.issues.values()}
    topics = [topic for topic in (*plain, *more, *following) if topic[1] in usable]
    topics = [topic for topic in topics if topic[2] not in known] or topics
    trackers = sorted({tracker_id for _, tracker_id, _ in topics})
    tracker_id = rng.one(trackers, [TRACKER_WEIGHTS[one] for one in trackers])
    return rng.one([topic for topic in topics if topic[1] == tracker_id])
