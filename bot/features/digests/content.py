"""Tells owners and channels what became of their digests.

A notice is cleared after it was sent, so that a crash loses none; a crash right after sending repeats it.
"""

from collections.abc import Sequence

import structlog

from bot.features.digests.posts import Poster, Standing
from bot.store.digests import Digest, Digests

log = structlog.get_logger(__name__)


class News:
    """What the database says that people have to be told."""

    def __init__(self, kept: Digests, poster: Poster) -> None:
        self._kept = kept
        self._poster = poster

    async def tell(self) -> None:
        """Tell all of it, an owner's or a channel's in one message."""
        try:
            if await self._owners():
                await self._channels()
        except Exception:
            log.exception("not told", action="digest.not_told")

    async def _owners(self) -> bool:
        while (news := await self._kept.owner_to_tell()) is not None:
            digests, notice = news
            if digests and not await self._poster.tell_owner(digests, notice):
                return False
            await self._kept.owner_told(digests, notice)
        return True

    async def _channels(self) -> None:
        while digests := await self._kept.channel_to_tell():
            if not await self._to_channel(digests):
                return
            await self._kept.channel_told(digests)

    async def _to_channel(self, digests: Sequence[Digest]) -> bool:
        owner, channel_id = digests[0].owner, digests[0].channel_id
        standing = (await self._poster.standings(owner, {channel_id}))[channel_id]
        if standing is Standing.OPEN:
            return await self._poster.tell_channel(digests)
        return standing is not Standing.UNKNOWN  # nobody is left to be told, or people who must not be
