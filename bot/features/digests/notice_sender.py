"""Sends owners and channels the notices about their digests.

A notice is cleared only after it was sent: a crash loses none, and one right after sending repeats it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from bot.features.digests.posts import Poster
from bot.slack.outgoing.outcomes import ChannelStatus
from bot.store.digests import Digest, StoredDigests

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class NoticeSender:
    """Sends the notices that are pending in the database."""

    digests: StoredDigests
    poster: Poster

    async def send(self) -> None:
        """Send all of them, one message for each owner and channel."""
        try:
            if await self._to_owners():
                await self._to_channels()
        except Exception:
            log.exception("digest notice not sent", action="digest.not_told")

    async def _to_owners(self) -> bool:
        while (pending := await self.digests.claim_owner_notice()) is not None:
            digests, notice = pending
            if digests and not await self.poster.notify_owner(digests, notice):
                return False
            await self.digests.clear_owner_notice(digests, notice)
        return True

    async def _to_channels(self) -> None:
        while digests := await self.digests.claim_channel_notice():
            if not await self._to_channel(digests):
                return
            await self.digests.clear_channel_notice(digests)

    async def _to_channel(self, digests: Sequence[Digest]) -> bool:
        owner, channel_id = digests[0].owner, digests[0].channel_id
        channel_status = await self.poster.channel_status(owner, channel_id)
        if channel_status is ChannelStatus.OPEN:
            return await self.poster.notify_channel(digests)
        # A channel that is gone or shared outside gets no notice.
        return channel_status is not ChannelStatus.UNKNOWN
