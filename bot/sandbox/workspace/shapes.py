"""JSON helpers, the clock, background tasks, and the error that the Web API returns."""

import asyncio
import json
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

JsonObject = dict[str, Any]

MAX_BODY = 1024 * 1024


class Clock:
    """The workspace's time; tests pass a clock they advance manually."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ApiError(Exception):
    """An error response from the Web API.

    `error` is Slack's code. `broken`: the app broke a rule, so the panel shows it; other errors, such as
    "user_not_found", are ordinary answers. `detail` is the panel's sentence, `messages` go to
    `response_metadata`, `retry_after` is the delay of a 429 in seconds.
    """

    def __init__(
        self,
        error: str,
        detail: str = "",
        *,
        broken: bool = True,
        messages: Sequence[str] = (),
        retry_after: int | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(error)
        self.error = error
        self.detail = detail or "; ".join(messages) or error
        self.broken = broken
        self.messages = list(messages)
        self.retry_after = retry_after
        self.extra = dict(extra or {})

    def body(self) -> JsonObject:
        """Return the response's JSON in Slack's format."""
        answer: JsonObject = {"ok": False, "error": self.error, **self.extra}
        if self.messages:
            answer["response_metadata"] = {"messages": [f"[ERROR] {line}" for line in self.messages]}
        return answer


class BackgroundTasks:
    """Tasks that outlive their request; keeps references and cancels them with the workspace."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def parsed(text: str | bytes) -> object:
    """Return the JSON in `text`, or None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_object(value: object) -> JsonObject:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return `value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []
