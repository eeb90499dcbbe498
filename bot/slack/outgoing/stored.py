"""The stored post: a job's message, posted once, however many attempts and processes the job takes.

The bot records the start of each attempt right before the request. After an attempt of unknown outcome, it
first looks for the message in the conversation, by its mark. If Slack can't tell, it looks again for a day.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outbox import FIRST, Outbox, Post, Ready
from bot.slack.surfaces.blocks import Message, context
from bot.store.jobs import Job, Jobs, Later
from bot.store.owner import Owner
from bot.timings import Delays, Timings

MESSAGE = "message"
"""The kind of job that sends a direct message whose words are known when it is put."""

LOOKS_FOR = timedelta(days=1)
"""How long the bot looks for a message that it can't find or rule out; then it posts with MAY_BE_REPEATED."""
HIDDEN_AGAIN = 1800.0  # seconds until the bot reads an unreadable conversation again
MAY_BE_REPEATED = "You may have already received this message, because Slack didn't confirm it."

LookUp = outcomes.Posted | outcomes.Absent | outcomes.Unconfirmed | Later

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StoredPosts:
    jobs: Jobs
    outbox: Outbox
    timings: Timings
    delays: Delays

    async def tell(self, owner: Owner, message: Message) -> None:
        """Send a user a direct message once, in the background."""
        key = f"{MESSAGE}:{secrets.token_hex(16)}"
        await self.jobs.put(MESSAGE, key, [owner.name, message.text, message.blocks])

    async def deliver(self, job: Job) -> Later | None:
        """Do a job that `tell` added."""
        name, text, blocks = job.content

        async def ready() -> Message:
            return Message(text, tuple(blocks))

        owner = Owner.named(name)
        return await self.send(job, Post(owner=owner, channel_id=owner.user_id, mark=job.key), ready)

    async def send(self, job: Job, post: Post, ready: Ready) -> Later | None:
        """Post a job's message, unless an earlier attempt did; returns Later if it isn't posted yet. If that
        stays unknown for a day, it is posted with MAY_BE_REPEATED. Otherwise like `post`.
        """
        lookup = await self.look_up(job, post)
        if isinstance(lookup, Later):
            return lookup
        if isinstance(lookup, outcomes.Posted):
            return None
        repeated = isinstance(lookup, outcomes.Unconfirmed)
        outcome = await self.post(job, post, ready, repeated=repeated)
        return outcome if isinstance(outcome, Later) else None

    async def look_up(self, job: Job, post: Post) -> LookUp:
        """Whether an earlier attempt posted a job's message: Later while that is unknown, and Unconfirmed
        once it has been unknown for a day.
        """
        if job.request_began is None:
            return outcomes.Absent()
        first, lease = job.request_began, timedelta(seconds=self.timings.longest_post)
        match await self.outbox.find(post, (first, first + lease), job.searched_to):
            case outcomes.Posted() | outcomes.Absent() as lookup:
                return lookup
            case _ if job.unknown_for >= LOOKS_FOR:
                return outcomes.Unconfirmed()
            case outcomes.Unfinished(seconds, searched_to):
                return Later(seconds, searched_to=searched_to)
        return Later(HIDDEN_AGAIN)

    async def post(
        self,
        job: Job,
        post: Post,
        ready: Ready,
        *,
        sending: Callable[[], object] = lambda: None,
        due_at: datetime = FIRST,
        repeated: bool = False,
    ) -> outcomes.DeliveryOutcome | outcomes.NotPosted | Later:
        """Post a job's message, in order of `due_at`. Returns Later if it isn't posted yet.

        `ready` builds the message when its turn comes, or returns NotPosted if it must not be posted.
        `sending` is called then, and returns what the job records of the message for a retry after a crash.
        If it is `repeated`, an earlier attempt may have posted it, and the message says so.
        """
        begin = partial(self._begin, job, post.owner, ready, sending, repeated=repeated)
        delayed = None if repeated else partial(self.jobs.end_request, job)
        outcome = await self.outbox.send(post, begin, due_at=due_at, delayed=delayed)
        match outcome:
            case outcomes.Delayed(seconds):
                return job.later(max(seconds, self.delays.background_retry), unknown=repeated)
            case outcomes.Unconfirmed() if not repeated:
                return job.later(self.timings.look_up_after)
            case outcomes.Unconfirmed() | outcomes.PostRefused():
                log.warning("message not sent", action="stored.not_sent", outcome=type(outcome).__name__)
        return outcome

    async def _begin(
        self, job: Job, owner: Owner, ready: Ready, sending: Callable[[], object], *, repeated: bool
    ) -> Message | outcomes.NotPosted:
        """Build the message and record that it is about to be sent, unless this process lost the job."""
        began, lease = await self.outbox.slack_time(owner), timedelta(seconds=self.timings.longest_post)
        message = await ready()
        if isinstance(message, outcomes.NotPosted):
            return message
        if not await self.jobs.begin_request(job, began, lease, sending()):
            return outcomes.NotPosted()
        return replace(message, blocks=(*message.blocks, context(MAY_BE_REPEATED))) if repeated else message
