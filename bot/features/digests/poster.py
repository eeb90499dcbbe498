"""Posts digests and notices about them to Slack, through the outbox."""

from collections.abc import Sequence
from datetime import datetime

from bot.features.digests import message as digest_message
from bot.features.digests import notices
from bot.features.digests.posts import Ready
from bot.slack.blocks import Block, Message
from bot.slack.outgoing.outbox import Outbox, Post
from bot.slack.outgoing.outcomes import Found, Outcome
from bot.slack.wording import Wording
from bot.store.digests import Digest, Notice

MARK = "issuebot_digest"


class SlackPoster:
    """Implements `posts.Poster` with Slack."""

    def __init__(self, outbox: Outbox, wording: Wording) -> None:
        self._outbox = outbox
        self._wording = wording
        self.channel_status = outbox.channel_status
        self.slack_time = outbox.slack_time

    async def post(self, digest: Digest, due_at: datetime, ready: Ready) -> Outcome | None:
        async def message() -> Message | None:
            edition = await ready()
            return digest_message.message(edition, self._wording) if edition else None

        return await self._outbox.send(_post(digest, due_at), message, due_at=due_at)

    async def find(
        self, digest: Digest, due_at: datetime, within: tuple[datetime, datetime], searched_to: str | None
    ) -> Found:
        return await self._outbox.find(_post(digest, due_at), within, searched_to)

    async def notify_owner(self, digests: Sequence[Digest], notice: Notice) -> bool:
        message = notices.to_owner(digests, notice, self._wording)
        return await self._outbox.tell(digests[0].owner, message)

    async def notify_channel(self, digests: Sequence[Digest]) -> bool:
        message = notices.to_channel(digests, self._wording)
        return await self._outbox.tell(digests[0].owner, message, digests[0].channel_id)


def _post(digest: Digest, due_at: datetime) -> Post:
    mark = f"{MARK}:{digest.id}:{due_at.isoformat()}"
    return Post(owner=digest.owner, channel_id=digest.channel_id, mark=mark)


def digest_of(posted: Sequence[Block]) -> int | None:
    """The ID of the digest that was posted with these blocks."""
    mark, _, about = str(posted[0].get("block_id") if posted else "").partition(":")
    number = about.partition(":")[0]
    return int(number) if mark == MARK and number.isdecimal() else None
