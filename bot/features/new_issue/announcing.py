"""Says that an issue was created: to its author, in the conversation, and to its assignee."""

from collections.abc import Sequence

from bot.features.assigned.messenger import AssignmentMessenger
from bot.features.files.attach import Batch
from bot.features.files.jobs import FileJobs
from bot.features.following.handlers import FollowHandlers
from bot.features.issues.creating import Created
from bot.features.issues.handlers import IssueHandlers
from bot.features.parts import Parts
from bot.slack.outgoing.replies import Reply


async def announce(
    parts: Parts, reply: Reply, made: Created, batch: Batch, notes: Sequence[str] = (), *, followed: bool
) -> None:
    """Announce it, if everyone may see it; `followed` is whether the post follows the issue."""
    if batch.files:
        await reply.privately(await FileJobs(parts).results(reply, made.issue.id, batch))
    issues = IssueHandlers(parts)
    announcement = await issues.announce(reply, made, followed=followed)
    if followed and (ts := announcement[1]):
        await FollowHandlers(parts).follow_created(reply, made, ts)
    await issues.confirm(reply, made, announcement, notes)
    await AssignmentMessenger(parts).told(reply.owner, made.issue)
