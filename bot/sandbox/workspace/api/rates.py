"""Slack's rate limits (https://docs.slack.dev/apis/web-api/rate-limits).

One message per second per channel, with a small burst; other methods by tier, with bursts of up to a minute's
worth. After a 429, the method stays closed for the workspace until `Retry-After` has passed.
"""

import math
from dataclasses import dataclass, field

from bot.sandbox.workspace.shapes import ApiError, Clock

MESSAGE_BURST = 5


@dataclass(slots=True)
class Bucket:
    maximum: float
    each_second: float
    left: float
    at: float

    def take(self, now: float) -> float:
        """Take one permit, or return the seconds to wait for one."""
        self.left = min(self.maximum, self.left + (now - self.at) * self.each_second)
        self.at = now
        if self.left < 1:
            return (1 - self.left) / self.each_second
        self.left -= 1
        return 0.0


@dataclass
class Rates:
    """Enforces the rate limits of one workspace."""

    clock: Clock
    _buckets: dict[str, Bucket] = field(default_factory=dict, init=False)
    _closed: dict[str, float] = field(default_factory=dict, init=False)

    def admit(self, method: str, per_minute: int, channel: str, *, each: float = 0) -> None:
        """Count a call, or raise ApiError with the seconds to wait; 0 `per_minute` is no limit.

        `each` is the interval in seconds of a method that apps outside the Marketplace may rarely call. They
        can't know it, so calling too early breaks no rule.
        """
        now = self.clock.now()
        if each:
            if wait := self._take(f"{method} rarely", 1, 1 / each, now):
                self._refuse(method, wait, broken=False)
            return
        if now < self._closed.get(method, 0.0):
            self._refuse(method, self._closed[method] - now)
        wait = 0.0
        if per_minute:
            wait = self._take(method, per_minute, per_minute / 60, now)
        if method == "chat.postMessage" and channel:
            wait = max(wait, self._take(f"{method} {channel}", MESSAGE_BURST, 1.0, now))
        if wait:
            self._closed[method] = now + math.ceil(wait)
            self._refuse(method, wait)

    def _take(self, key: str, maximum: float, each_second: float, now: float) -> float:
        return self._buckets.setdefault(key, Bucket(maximum, each_second, maximum, now)).take(now)

    @staticmethod
    def _refuse(method: str, wait: float, *, broken: bool = True) -> None:
        seconds = max(1, math.ceil(wait))
        detail = f"{method} is called too often; wait {seconds} s."
        raise ApiError("ratelimited", detail, broken=broken, retry_after=seconds)
