"""Telling owners and channels what became of their digests: once, and later where it can't be said now."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog

from bot.store.digests import Digest, Digests
from bot.usecases.digest_posts import Poster, Standing

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
            later = partial(self._kept.tell_owner_later, digests, notice)
            if digests and not await _said(self._poster.tell_owner(digests, notice), later):
                return False
        return True

    async def _channels(self) -> None:
        while digests := await self._kept.channel_to_tell():
            later = partial(self._kept.tell_channel_later, digests)
            if not await _said(self._to_channel(digests), later):
                return

    async def _to_channel(self, digests: Sequence[Digest]) -> bool:
        owner, channel_id = digests[0].owner, digests[0].channel_id
        standing = (await self._poster.standings(owner, {channel_id}))[channel_id]
        if standing is Standing.OPEN:
            return await self._poster.tell_channel(digests)
        return standing is not Standing.UNKNOWN  # nobody is left to be told, or people who must not be


async def _said(say: Awaitable[bool], otherwise: Callable[[], Awaitable[None]]) -> bool:
    """Whether it was said; `otherwise` is done where it wasn't."""
    try:
        said = await say
    except BaseException:
        await otherwise()
        raise
    if not said:
        await otherwise()
    return said
