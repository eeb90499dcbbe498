"""A small memory of what was read a moment ago, so that a form's fields don't each ask the service again."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """At most `size` values, each at most `seconds` old. Keys hold the owner: nobody gets another's view."""

    def __init__(self, seconds: float, size: int = 500) -> None:
        self._seconds = seconds
        self._size = size
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def known(self, key: K) -> V | None:
        """The value for `key` if it was read a moment ago."""
        kept = self._kept.get(key)
        return kept[1] if kept and time.monotonic() - kept[0] < self._seconds else None

    def forget(self, key: K) -> None:
        """Have the value for `key` read anew next time."""
        self._kept.pop(key, None)

    async def get(self, key: K, read: Callable[[], Awaitable[V]]) -> V:
        """The value for `key`, read anew when it's not there or too old. What `read` raises, this raises."""
        now = time.monotonic()
        if (kept := self._kept.get(key)) and now - kept[0] < self._seconds:
            return kept[1]
        value = await read()
        self.put(key, value, now)
        return value

    def put(self, key: K, value: V, read_at: float | None = None) -> None:
        """Keep a value, read just now or at that moment of the monotonic clock."""
        self._kept[key] = (time.monotonic() if read_at is None else read_at, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
