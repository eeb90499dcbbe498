"""A small cache whose entries expire, so that the fields of one form share a single request."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakSet

K = TypeVar("K")
V = TypeVar("V")


class _Entry(NamedTuple, Generic[V]):
    read_at: float
    weight: int
    value: V


class TtlCache(Generic[K, V]):
    """A cache of values that are valid for `seconds` and together weigh at most `size`.

    `weigh` returns how many items a value holds. Include the user in the key of anything that depends on
    permissions.
    """

    def __init__(self, seconds: float, size: int = 500, weigh: Callable[[V], int] | None = None) -> None:
        self._seconds = seconds
        self._size = size
        self._weigh = weigh
        self._kept: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._reading: dict[K, asyncio.Future[V]] = {}
        self.weight = 0
        _CACHES.add(self)

    def peek(self, key: K) -> V | None:
        """Return the cached value for `key`, or None if it's absent or expired."""
        kept = self._kept.get(key)
        return kept.value if kept and not self._expired(kept) else None

    def discard(self, key: K) -> None:
        if kept := self._kept.pop(key, None):
            self.weight -= kept.weight

    async def get(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        """Return the value for `key`; calls `read` if it's absent or expired, and passes on its errors.

        Simultaneous callers share one read.
        """
        if (kept := self._kept.get(key)) and not self._expired(kept):
            return kept.value
        if (reading := self._reading.get(key)) is None:
            return await self._read(key, read)
        try:
            return await asyncio.shield(reading)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not reading.cancelled() or (task and task.cancelling()):
                raise
        return await self.get(key, read)  # the caller who was reading was canceled

    async def _read(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        reading = self._reading[key] = asyncio.get_running_loop().create_future()
        began = time.monotonic()
        try:
            value = await read()
        except Exception as error:
            reading.set_exception(error)
            reading.exception()  # it isn't lost if nobody else waits
            raise
        else:
            reading.set_result(value)
            self.put(key, value, began)
            return value
        finally:
            reading.cancel()
            del self._reading[key]

    def put(self, key: K, value: V, read_at: float | None = None) -> None:
        """Cache a value; `read_at` is a time of the monotonic clock, now by default."""
        self.discard(key)
        weight = self._weigh(value) if self._weigh else 1
        self._kept[key] = _Entry(time.monotonic() if read_at is None else read_at, weight, value)
        self.weight += weight
        while self.weight > self._size:
            self.discard(next(iter(self._kept)))

    def sweep(self) -> None:
        """Drop what has expired."""
        for key in [key for key, kept in self._kept.items() if self._expired(kept)]:
            self.discard(key)

    def _expired(self, kept: _Entry[V]) -> bool:
        return time.monotonic() - kept.read_at >= self._seconds


_CACHES: WeakSet[TtlCache[Any, Any]] = WeakSet()  # every cache of this process


async def sweep() -> None:
    """Drop what has expired in every cache."""
    for cache in list(_CACHES):
        cache.sweep()


def weight() -> int:
    """Return how many items all caches hold."""
    return sum(cache.weight for cache in list(_CACHES))
