"""The stored post: a job's message, sent once, however often the job is tried and by whichever process.

That it begins is recorded right before the request. If an earlier attempt may have sent it, it is looked for
in the conversation first, by its mark. "Can't tell" is neither sent nor absent: it is asked again for a day.
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
from bot.store.job import Job, Later
from bot.store.jobs import Jobs
from bot.store.owner import Owner
from bot.timings import Delays, Timings

MESSAGE = "message"
"""The kind of job that sends a direct message whose words are known when it is put."""

LOOKS_FOR = timedelta(days=1)
"""How long a message is looked for that can't be found or ruled out; then it is sent with MAY_BE_REPEATED."""
HIDDEN_AGAIN = 1800.0  # seconds until a conversation is read again that can't be read now
MAY_BE_REPEATED = "You may have got this message before: Slack didn't confirm it."

LookUp = outcomes.Posted | outcomes.Absent | outcomes.Unsure | Later

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StoredPosts:
    jobs: Jobs
    outbox: Outbox
    timings: Timings
    delays: Delays

    async def tell(self, owner: Owner, message: Message) -> None:
        """Let somebody get a direct message, once."""
        key = f"{MESSAGE}:{secrets.token_hex(16)}"
        await self.jobs.put(MESSAGE, key, [owner.name, message.text, message.blocks])

    async def told(self, job: Job) -> Later | None:
        """Send a direct message that was put by `tell`."""
        name, text, blocks = job.content

        async def ready() -> Message:
            return Message(text, tuple(blocks))

        owner = Owner.named(name)
        sent = await self.send(job, Post(owner=owner, channel_id=owner.user_id, mark=job.key), ready)
        return sent if isinstance(sent, Later) else None

    async def send(
        self, job: Job, post: Post, ready: Ready, *, sending: Callable[[], object] = lambda: None
    ) -> outcomes.Outcome | Later | None:
        """Post a job's message, unless an earlier attempt has; if that can't be told for a day, it is posted
        with MAY_BE_REPEATED. Otherwise as `post`.
        """
        found = await self.look_up(job, post)
        if isinstance(found, outcomes.Posted | Later):
            return found
        repeated = isinstance(found, outcomes.Unsure)
        return await self.post(job, post, ready, sending=sending, repeated=repeated)

    async def look_up(self, job: Job, post: Post) -> LookUp:
        """Whether an earlier attempt has posted a job's message; when to go on if that can't be told yet, and
        Unsure if it can't be told for a day.
        """
        if job.tried_at is None:
            return outcomes.Absent()
        first, lease = job.tried_at, timedelta(seconds=self.timings.longest_post)
        match await self.outbox.find(post, (first, first + lease), job.searched_to):
            case outcomes.Posted() | outcomes.Absent() as found:
                return found
            case _ if job.unknown_for >= LOOKS_FOR:
                return outcomes.Unsure()
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
    ) -> outcomes.Outcome | Later | None:
        """Post a job's message that isn't posted yet, in order of `due_at`; returns when to go on if it isn't
        sent yet, None if it must not be sent.

        `ready` makes the message when its turn has come; None if it must not be sent anymore. `sending` is
        then what the job records of it, to know what was sent if this process dies. `repeated`: an
        earlier attempt may have posted it, and it says so.
        """
        kept = partial(self._kept, job, post.owner, ready, sending, repeated=repeated)
        delayed = None if repeated else partial(self.jobs.go_on, job)
        outcome = await self.outbox.send(post, kept, due_at=due_at, delayed=delayed)
        match outcome:
            case outcomes.Delayed(seconds):
                return job.later(max(seconds, self.delays.background_retry), unknown=repeated)
            case outcomes.Unsure() if not repeated:
                return job.later(self.timings.look_up_after)
            case outcomes.Unsure() | outcomes.PostRefused():
                log.warning("message not sent", action="stored.not_sent", outcome=type(outcome).__name__)
        return outcome

    async def _kept(
        self, job: Job, owner: Owner, ready: Ready, sending: Callable[[], object], *, repeated: bool
    ) -> Message | None:
        began, lease = await self.outbox.slack_time(owner), timedelta(seconds=self.timings.longest_post)
        message = await ready()
        if message is None or not await self.jobs.keep(job, began, lease, sending()):
            return None
        return replace(message, blocks=(*message.blocks, context(MAY_BE_REPEATED))) if repeated else message
