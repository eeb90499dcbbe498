"""The workspace's state: its records, the open pages that watch it, its clock and its background tasks."""

import asyncio
import itertools
import logging
import secrets
import time
import weakref
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

from bot.sandbox.workspace.model import (
    App,
    Call,
    Channel,
    Details,
    File,
    JsonObject,
    Message,
    Team,
    User,
    View,
    Violation,
)

ACK_SECONDS = 3.0
TRIGGER_SECONDS = 3.0
"""How long the app may take to acknowledge a payload, and to use its trigger."""
RETRY_SECONDS = (0.0, 60.0, 300.0)
"""Before each retry of an event that the app doesn't acknowledge."""
TOMBSTONE = "This message was deleted."
KEPT_VIOLATIONS = 200
KEPT_CALLS = 10_000
ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
LOG = logging.getLogger("issuebot.sandbox.received")


class Clock:
    """The workspace's time; tests pass a clock they advance manually."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(eq=False)
class ApiError(Exception):
    """An error response from the Web API.

    `error` is Slack's code. `broken`: the app broke a rule, so the panel shows it; other errors, such as
    "user_not_found", are ordinary answers. `detail` is the panel's sentence, `messages` go to
    `response_metadata`, `retry_after` is the delay of a 429 in seconds.
    """

    error: str
    detail: str = ""
    _: KW_ONLY
    broken: bool = True
    messages: Sequence[str] = ()
    retry_after: int | None = None
    extra: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.detail = self.detail or "; ".join(self.messages) or self.error

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


@dataclass(eq=False)
class Watcher:
    """One open page: whether to refresh its snapshot, and its pending toasts."""

    user: str
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    changed: bool = False
    toasts: list[JsonObject] = field(default_factory=list)

    def take(self) -> tuple[bool, list[JsonObject]]:
        """Return and clear whether the snapshot changed, and the pending toasts."""
        news = self.changed, self.toasts
        self.changed, self.toasts = False, []
        self.wake.clear()
        return news


@dataclass(eq=False)
class State:
    """Plain collections that anyone may read, and the methods that change them.

    `lost` are the channels the app was removed from: posting there is an error but breaks no rule, as the
    app can't know. `history_page` is the maximum page size, and `history_seconds` the interval between two
    pages: 15 messages and 60 seconds for apps outside the Marketplace, which others needn't keep.
    `rate_limits` is whether calls are counted against Slack's limits. `comments_limit` is how many comments
    of a Work Object are asked for at once. `max_file_size` is in bytes.
    """

    team: Team
    app: App
    clock: Clock
    service_url: str = ""
    base_url: str = ""
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    messages: dict[str, list[Message]] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    details: dict[str, Details] = field(default_factory=dict)
    steps: dict[str, JsonObject | None] = field(default_factory=dict)
    """How each executed workflow step ended, None while it runs."""
    work_objects: bool = True
    ack_seconds: float = ACK_SECONDS
    trigger_seconds: float = TRIGGER_SECONDS
    retry_seconds: Sequence[float] = RETRY_SECONDS
    history_page: int = 999
    history_seconds: float = 0.0
    rate_limits: bool = True
    comments_limit: int = 100
    max_file_size: int = 1024**3  # as in Slack
    violations: list[Violation] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    version: int = 1
    watchers: set[Watcher] = field(default_factory=set)
    folder: Path = field(default_factory=lambda: Path(mkdtemp(prefix="issuebot-files-")))
    _last_ts: int = 0
    _counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        weakref.finalize(self, rmtree, self.folder, ignore_errors=True)

    def new_id(self, prefix: str) -> str:
        """Return a Slack-like ID: the prefix, then capital letters and digits."""
        return prefix + "0" + "".join(secrets.choice(ALPHABET) for _ in range(9))

    def new_ts(self, at: float | None = None) -> str:
        """Return a message timestamp, which is also its ID: unique, and increasing unless `at` is given."""
        micros = int((self.clock.now() if at is None else at) * 1_000_000)
        if at is None:
            micros = max(micros, self._last_ts + 1)
            self._last_ts = micros
        return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"

    def new_hash(self) -> str:
        return f"{int(self.clock.now())}.{secrets.token_hex(4)}"

    def changed(self, users: Iterable[str] | None = None) -> None:
        """Mark the pages of `users`, or of everyone, as changed."""
        self.version += 1
        chosen = None if users is None else set(users)
        for watcher in self.watchers:
            if chosen is None or watcher.user in chosen:
                watcher.changed = True
                watcher.wake.set()

    def toast(self, user: str, text: str, kind: str = "error") -> None:
        for watcher in self.watchers:
            if watcher.user == user:
                watcher.toasts.append({"type": "toast", "text": text, "kind": kind})
                watcher.wake.set()

    def violate(self, where: str, rule: str, detail: str) -> None:
        """Report a broken rule on the panel."""
        self.violations.append(Violation(next(self._counter), self.clock.now(), where, rule, detail))
        del self.violations[:-KEPT_VIOLATIONS]
        self.changed()

    def received(self, what: str, payload: object) -> None:
        """Log what the app sent, at debug level; handlers find the payload in the record."""
        LOG.debug(what, extra={"payload": payload})

    def called(self, method: str, arguments: JsonObject) -> None:
        self.received(method, arguments)
        self.calls.append(Call(method, arguments))
        del self.calls[:-KEPT_CALLS]

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        self.messages[channel.id] = []
        return channel

    def archive(self, channel_id: str, *, archived: bool = True) -> None:
        self.channels[channel_id].is_archived = archived
        self.changed()

    def kick(self, channel_id: str, user: str) -> None:
        self.channels[channel_id].members.remove(user)
        if user == self.app.bot_user_id:
            self.lost.add(channel_id)
        self.changed()

    def invite(self, channel_id: str, user: str) -> None:
        self.channels[channel_id].members.add(user)
        self.changed()

    def delete(self, channel_id: str) -> None:
        del self.channels[channel_id], self.messages[channel_id]
        self.lost.add(channel_id)
        self.changed()

    def im(self, user: str, other: str = "") -> Channel:
        """Return the direct messages of two people, or of a user and the app, created on first use."""
        members = {user, other or self.app.bot_user_id}
        for channel in self.channels.values():
            if channel.kind == "im" and channel.members == members:
                return channel
        return self.add_channel(Channel(self.new_id("D"), "", "im", members, created=int(self.clock.now())))

    def post(self, message: Message) -> Message:
        """Add a message to its channel, in order of time."""
        messages = self.messages[message.channel]
        messages.append(message)
        messages.sort(key=lambda other: other.ts)
        self.changed(self.channels[message.channel].members if message.to is None else (message.to,))
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        return next((message for message in self.messages.get(channel, ()) if message.ts == ts), None)

    def remove(self, message: Message) -> None:
        """Delete a message; one that has replies leaves a tombstone."""
        if self.replies(message):
            message.text, message.blocks, message.files = TOMBSTONE, [], []
            message.unfurls, message.entities, message.metadata = {}, {}, None
            message.is_tombstone = True
        else:
            self.messages[message.channel].remove(message)
        self.changed(self.channels[message.channel].members)

    def replies(self, message: Message) -> list[Message]:
        """Return a message's public replies."""
        return [
            other
            for other in self.messages[message.channel]
            if other.thread_ts == message.ts and other.ts != message.ts and other.to is None
        ]

    def stack(self, user: str) -> list[View]:
        """Return a user's open modals, the visible one last."""
        return [view for view in self.views.values() if view.user == user]

    def push(self, view: View) -> None:
        self.views[view.id] = view
        self.changed((view.user,))

    def close(self, view: View) -> None:
        self.views.pop(view.id, None)
        self.changed((view.user,))

    def close_all(self, user: str) -> None:
        for view in self.stack(user):
            self.close(view)

    def sees_file(self, file: File) -> bool:
        """Return whether the app can read a file: shared where it is a member, or passed to it by a form."""
        return file.for_app or any(
            file.id in message.files
            for channel in self.channels.values()
            if self.app.bot_user_id in channel.members
            for message in self.messages[channel.id]
        )
