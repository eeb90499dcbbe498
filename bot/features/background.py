"""The loop for work that nobody waits for: claim what is due, read it with its owner's key, post and settle.

Digests and followed issues are two kinds of such work. Each has a table in which one process claims what is
due (`bot.store`), and posts through the outbox.
"""

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Hashable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import ClassVar, Generic, Protocol, TypeVar

import structlog

from bot.access.access import Access
from bot.errors import BotError, KeySuspended
from bot.store.owner import Owner
from bot.store.processes import Clock
from bot.tasks import Tasks

log = structlog.get_logger(__name__)


class Claimed(Protocol):
    """What this process has claimed: one of its owner's items, told from the others by its `key`."""

    @property
    def key(self) -> Hashable: ...

    @property
    def owner(self) -> Owner: ...


Item = TypeVar("Item", bound=Claimed)
Content = TypeVar("Content")
T = TypeVar("T")


class Background(ABC, Generic[Item, Content]):
    """Does one kind of work in one process. `clock` is the database's; `in_flight` has all items by key."""

    name: ClassVar[str]  # what its log lines call it
    readers: ClassVar[int]  # how many owners' items are read from the service at once

    def __init__(self, access: Access) -> None:
        self.access = access
        self.clock = Clock()
        self.in_flight: dict[Hashable, Item] = {}
        self.reading = asyncio.Semaphore(self.readers)
        self._tasks = Tasks()
        self.start, self.idle = self._tasks.start, self._tasks.idle

    @abstractmethod
    def due(self, now: datetime) -> AsyncIterator[Sequence[Item]]:
        """Claim what is due and not in flight, one owner's items at a time."""

    async def ready(self, items: Sequence[Item]) -> Sequence[Item]:
        """Those of one owner's items to read; the others are settled."""
        return items

    @abstractmethod
    async def read(self, items: Sequence[Item]) -> Sequence[tuple[Item, Content]]:
        """Read one owner's items with their key. Raises NotLinked, ServiceError."""

    @abstractmethod
    async def post(self, item: Item, content: Content) -> object:
        """Post an item, and settle it."""

    @abstractmethod
    async def failed(self, items: Sequence[Item], error: Exception) -> None:
        """Put off one owner's items that couldn't be read or posted, or settle them if their key is gone."""

    async def realign(self, now: datetime) -> None:
        """Bring forward due times and leases that were set while the clock was ahead."""

    async def release(self) -> None:
        """Let other processes have what this one has claimed and not begun to send."""

    def lease_until(self) -> datetime:
        """The latest time, by the database's clock, when a write that begins now may still arrive."""
        return self.clock.now() + timedelta(seconds=self.access.timings.longest_post)

    async def run_due(self, now: datetime | None = None) -> None:
        """Claim and start what is due at `now`, by default the database's time; `idle` waits for it."""
        now = now or await self.access.store.processes.now()
        self.clock.set(now)
        if self.clock.suspect:
            await self.realign(now)
            self.clock.suspect = False
        async for items in self.due(now):
            self.in_flight |= {item.key: item for item in items}
            self.start(self._turn(items))

    async def stop(self, seconds: float) -> None:
        """Give what is in flight `seconds` to finish; another process continues the rest."""
        await self._tasks.drain(seconds)
        await self.release()

    async def posted(self, item: Item, content: Content) -> object:
        """As `post`, or put the item off after an error."""
        try:
            return await self.post(item, content)
        except Exception as error:
            log.exception("not posted", action="background.not_posted", work=self.name, item=str(item.key))
            with suppress(Exception):  # this process takes it over once its lease has ended
                await self.failed([item], error)
            return None
        finally:
            self.in_flight.pop(item.key, None)

    async def read_or_put_off(self, items: Sequence[Item], reading: Awaitable[T]) -> T | None:
        """What was read; None if it can't be, and the items are settled or put off."""
        try:
            return await reading
        except KeySuspended as error:
            seconds = round(error.retry_after)
            log.info("key suspended", action="background.key_suspended", work=self.name, seconds=seconds)
            await self.failed(items, error)
        except BotError as error:
            why = str(error) or type(error).__name__
            log.warning("not read", action="background.not_read", work=self.name, error=why)
            await self.failed(items, error)
        return None

    async def _turn(self, items: Sequence[Item]) -> None:
        """Read and post one owner's items; all log lines share one reference."""
        owner = items[0].owner
        who = {"reference": secrets.token_hex(4), "team": owner.team_id, "user": owner.user_id}
        try:
            with structlog.contextvars.bound_contextvars(**who):
                await self._read_and_post(items)
        finally:
            for item in items:
                self.in_flight.pop(item.key, None)

    async def _read_and_post(self, items: Sequence[Item]) -> None:
        try:
            if ready := await self.ready(items):
                async with self.reading:
                    found = await self.read_or_put_off(ready, self.read(ready))
                # At once, so that a busy channel doesn't hold up the others.
                await asyncio.gather(*(self.posted(item, content) for item, content in found or ()))
        except Exception as error:
            log.exception("not read", action="background.failed", work=self.name, items=len(items))
            with suppress(Exception):
                await self.failed(items, error)
