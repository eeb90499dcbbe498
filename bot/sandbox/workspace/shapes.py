"""JSON as it travels, the clock, and the refusal that every rule ends in."""

import asyncio
import json
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

JsonObject = dict[str, Any]

MAX_BODY = 1024 * 1024


class Clock:
    """The workspace's time; whoever wants to move it by hand gives another one."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds."""
        await asyncio.sleep(seconds)


class Refused(Exception):
    """A call that Slack would refuse.

    `error` is Slack's code. `broken` tells whether a rule was broken, which then shows on the panel;
    some refusals are only answers ("there is no such user"). `detail` is the panel's sentence, `messages`
    what Slack puts into `response_metadata`, `retry_after` the seconds of a 429.
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
        """The answer's JSON, as Slack words it."""
        answer: JsonObject = {"ok": False, "error": self.error, **self.extra}
        if self.messages:
            answer["response_metadata"] = {"messages": [f"[ERROR] {line}" for line in self.messages]}
        return answer


class Errands:
    """Work that goes on after its request was answered: held on to, and ended with the workspace."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it beside everything else."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def stop(self) -> None:
        """End what still runs."""
        for task in tuple(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def parsed(text: str | bytes) -> object:
    """The JSON in `text`, or None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_object(value: object) -> JsonObject:
    """`value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []
