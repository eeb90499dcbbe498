"""The stored post: a job's message, sent once, however often the job is tried and by whichever process.

That it begins is recorded right before the request. If an earlier attempt may have sent it, it is looked for
in the conversation first, by its mark.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import structlog

from bot.slack.outgoing import outcomes
from bot.slack.outgoing.outbox import Outbox, Post, Ready
from bot.slack.surfaces.blocks import Message, context
from bot.store.jobs import Job, Jobs, Later
from bot.store.owner import Owner
from bot.timings import Delays, Timings

MESSAGE = "message"
"""The kind of job that sends a direct message whose words are known when it is put."""

LOOKS_FOR = timedelta(days=1)
"""How long a message is looked for that can't be found or ruled out; then it is sent with MAY_BE_REPEATED."""
HIDDEN_AGAIN = 1800.0  # seconds until a conversation is read again that can't be read now
MAY_BE_REPEATED = "You may have got this message before: Slack didn't confirm it."
UNEQUAL_CLOCKS = timedelta(minutes=5)  # how far Slack's clock may be from the one that dated an attempt

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
        self, job: Job, post: Post, ready: Ready, *, content: Callable[[], object] = lambda: None
    ) -> outcomes.Outcome | Later | None:
        """Send a job's message; returns when to go on if it isn't sent yet, None if it must not be sent.

        `ready` makes the message when its turn has come; None if it must not be sent anymore. `content` is
        then what the job's content becomes, to know what was sent if this process dies.
        """
        repeated = False
        if job.tried_at:
            first, lease = job.tried_at, timedelta(seconds=self.timings.longest_post)
            within = (first - UNEQUAL_CLOCKS, first + lease + UNEQUAL_CLOCKS)
            match await self.outbox.find(post, within, job.searched_to):
                case outcomes.Posted() as posted:
                    return posted
                case outcomes.Unfinished(seconds, searched_to) if job.age < LOOKS_FOR:
                    return Later(seconds, unknown=True, searched_to=searched_to)
                case outcomes.Hidden() if job.age < LOOKS_FOR:
                    return Later(HIDDEN_AGAIN, unknown=True)
                case outcomes.Unfinished() | outcomes.Hidden():
                    repeated = True
        kept = partial(self._kept, job, ready, content, repeated=repeated)
        delayed = None if repeated else partial(self.jobs.not_begun, job)
        outcome = await self.outbox.send(post, kept, delayed=delayed)
        match outcome:
            case outcomes.Delayed(seconds):
                return job.later(max(seconds, self.delays.background_retry), unknown=repeated)
            case outcomes.Unsure() if not repeated:
                return Later(self.timings.look_up_after, unknown=True)
            case outcomes.Unsure() | outcomes.PostRefused():
                log.warning("message not sent", action="stored.not_sent", outcome=type(outcome).__name__)
        return outcome

    async def _kept(
        self, job: Job, ready: Ready, content: Callable[[], object], *, repeated: bool
    ) -> Message | None:
        message = await ready()
        lease = timedelta(seconds=self.timings.longest_post)
        if message is None or not await self.jobs.keep(job, self.outbox.slack_time(), lease, content()):
            return None
        return replace(message, blocks=(*message.blocks, context(MAY_BE_REPEATED))) if repeated else message
