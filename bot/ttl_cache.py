"""A small cache whose entries expire, so that the fields of one form share a single request."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class TtlCache(Generic[K, V]):
    """A cache of at most `size` values, each valid for `seconds`.

    Include the user in the key of anything that depends on permissions.
    """

    def __init__(self, seconds: float, size: int = 500) -> None:
        self._seconds = seconds
        self._size = size
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def peek(self, key: K) -> V | None:
        """Return the cached value for `key`, or None if it's absent or expired."""
        kept = self._kept.get(key)
        return kept[1] if kept and time.monotonic() - kept[0] < self._seconds else None

    def discard(self, key: K) -> None:
        self._kept.pop(key, None)

    async def get(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        """Return the value for `key`; calls `read` if it's absent or expired, and passes on its errors."""
        now = time.monotonic()
        if (kept := self._kept.get(key)) and now - kept[0] < self._seconds:
            return kept[1]
        value = await read()
        self.put(key, value, now)
        return value

    def put(self, key: K, value: V, read_at: float | None = None) -> None:
        """Cache a value; `read_at` is a time of the monotonic clock, now by default."""
        self._kept[key] = (time.monotonic() if read_at is None else read_at, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
