"""One cell of Slack's matrix: a doing whose calls to Slack fail in one way, and what may come of it."""

import asyncio
import json
import re
import traceback
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from tests.faults import secrets
from tests.faults.doings import DOINGS
from tests.faults.matrix import GENERIC, Seen
from tests.faults.scene import Doing, Scene
from tests.faults.time_doings import digests_posted
from tests.support.reading import JSON
from tests.support.slackwire import SlackWire

LOST = ("lose the request", "lose the answer", "late answer:1")
BROKEN = (
    *("500 before it", "500 after it", "page", "page after it", "truncate"),
    *("429", "429:0", "429:600", "slow:0.2"),
)
GENERAL = (
    *("internal_error", "fatal_error", "ratelimited", "account_inactive", "token_revoked", "missing_scope"),
    *("service_unavailable", "request_timeout", "team_access_not_granted"),
)
VIEW = (
    "expired_trigger_id",
    "exchanged_trigger_id",
    "invalid_trigger_id",
    "view_too_large",
    "duplicate_external_id",
)
POST = (
    "not_in_channel",
    "channel_not_found",
    "is_archived",
    "restricted_action",
    "msg_too_long",
    "invalid_blocks",
)
OWN = {
    "views.open": VIEW,
    "views.push": (*VIEW, "push_limit_reached"),
    "views.update": ("not_found", "hash_conflict", "view_too_large", "invalid_arguments"),
    "views.publish": ("hash_conflict", "not_enabled", "user_not_found", "view_too_large"),
    "chat.postMessage": (*POST, "too_many_attachments", "restricted_action_read_only_channel"),
    "chat.postEphemeral": (*POST, "user_not_in_channel", "no_text"),
    "chat.delete": ("cant_delete_message", "channel_not_found"),
    "chat.unfurl": (
        "cannot_unfurl_url",
        "cannot_unfurl_message",
        "invalid_unfurls",
        "invalid_metadata_format",
    ),
    "chat.getPermalink": ("channel_not_found", "message_not_found"),
    "conversations.info": ("channel_not_found", "method_not_supported_for_channel_type"),
    "conversations.members": ("channel_not_found", "fetch_members_failed"),
    "conversations.history": ("not_in_channel", "channel_not_found"),
    "users.info": ("user_not_found", "user_not_visible"),
    "users.conversations": ("invalid_types", "method_not_supported_for_channel_type"),
    "files.info": ("file_not_found", "file_deleted"),
    "entity.presentDetails": ("expired_trigger_id", "invalid_metadata_format"),
    "response_url": ("used_url", "expired_url", "no_permission"),
    "file": ("file_not_found",),
}
"""What Slack documents of each method: https://docs.slack.dev/reference/methods."""
DONE = ("lose the answer", "late answer:1", "500 after it", "page after it", "truncate")
PRIVATE = ("chat.postEphemeral", "response_url")
"""Where nobody knows whether Slack took it, a person is rather told twice than not at all; nobody else is."""
ONLY_WAY = ("views.publish", "entity.presentDetails")
"""What shows a thing at the one place at which it can be shown."""
CALLED_FAILED = re.compile(f"{GENERIC}|nothing was done|didn't work|was not shared|not attached")
KEPT = re.compile("(Open|Fill in) the form")
PROMISED = "comes as soon as"
GONE = "refuse:not_found"
"""What Slack says of a form that the person has closed."""
OVERTAKEN = {("choose project", "refuse:hash_conflict")}
"""Where another choice was made meanwhile, whose own answer stands in the form."""
IN_TIME = 15
"""Seconds by which everybody is answered: far more than a slow machine needs, less than Slack asks for."""
LATER = timedelta(minutes=20)


def faults_of(method: str) -> list[str]:
    """All that can go wrong with a call."""
    return [*LOST, *BROKEN, *(f"refuse:{error}" for error in (*OWN[method], *GENERAL))]


@dataclass(frozen=True)
class Cell:
    """What is done, which of its calls fail, how, and whether all of that method do."""

    doing: str
    method: str
    fault: str
    lasting: bool

    def __str__(self) -> str:
        return f"{self.doing} × {'every' if self.lasting else 'one'} {self.method} × {self.fault}"


class Matrix:
    """Goes through cells in one office; `wrong` are the promises that were broken, a sentence each.

    `lane` is what tells the office's lines in the log from others'.
    """

    def __init__(self, scene: Scene, wire: SlackWire, logs: secrets.Logs, lane: int) -> None:
        self.scene = scene
        self.wire = wire
        self.logs = logs
        self.lane = lane
        self.ran = 0
        self.wrong: list[str] = []
        self._in_forms: set[str] = set()
        """The doings that only fill a form."""

    async def methods(self, name: str) -> list[str]:
        """The methods that a doing calls where nothing fails, which has to do what it is for."""
        doing = DOINGS[name]
        async with self._doing(name) as before:
            called = list(dict.fromkeys(call.method for call in self.wire.calls))
            seen = await self._seen(name)
            made = await doing.effect(self.scene) if doing.effect else 1
        new = {key: text for key, text in seen.parts.items() if before.get(key) != text}
        said = " ".join(new.values())
        if made != 1 or (doing.effect and not re.search(doing.said, said)) or (doing.asked and not said):
            self.wrong.append(f"{name}: was done {made} times where nothing failed; said: {said[:400]!r}")
        self.wrong += [f"{name}: nobody knows what Slack says of {one}" for one in called if one not in OWN]
        self.wrong += [f"{name}, where nothing failed: {one}" for one in self._violations()]
        if not doing.effect and seen.view and set(new) == {seen.view["hash"]}:
            self._in_forms.add(name)
        return [method for method in called if method in OWN]

    async def run(self, cell: Cell) -> None:
        """Go through one cell."""
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one cell that can't be gone through holds up no other one
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        printed, doing = len(self.logs.printed.getvalue()), DOINGS[cell.doing]
        async with self._doing(cell.doing, cell) as before:
            seen = await self._seen(cell.doing)
            if doing.effect is digests_posted:
                await self._let_through()
            made = await doing.effect(self.scene) if doing.effect else 0
        new = {key: text for key, text in seen.parts.items() if before.get(key) != text}
        if cell.fault == GONE and seen.view:  # what stands in a form that is gone is seen by nobody
            new.pop(seen.view["hash"], None)
        passing = {m["ts"] for rows in seen.state["messages"].values() for m in rows if m["ephemeral"]}
        lasting = [text for key, text in new.items() if key not in passing]
        wrong = self._untrue(cell, list(new.values()), lasting, made)
        wrong += secrets.shown(self.scene, [await self.scene.person(doing.who).state()])
        lines = [json.loads(line) for line in self.logs.printed.getvalue()[printed:].splitlines()]
        if not any(self._tells(line, doing) for line in lines):
            wrong.append("nothing in the log says what was done, under which reference")
        gone = cell.method == "chat.delete" and cell.fault in DONE  # asked again, Slack says so
        broken = [one for one in self._violations() if not (gone and "message_not_found" in one)]
        wrong += [f"Slack's rule broken: {one}" for one in broken]
        self.wrong += [f"{cell}: {one}; said: {' / '.join(new.values())[:400]!r}" for one in wrong]

    def _tells(self, line: JSON, doing: Doing) -> bool:
        """Whether a line of the log, one of this office's, says what was done."""
        action = str(line.get("action", "")).replace("command:/", "command:")
        return line.get("lane") == self.lane and "reference" in line and action in doing.serves

    def _violations(self) -> list[str]:
        broken = self.scene.office.violations()
        self.scene.office.workspace.violations.clear()
        return broken

    @asynccontextmanager
    async def _doing(self, name: str, cell: Cell | None = None) -> AsyncIterator[dict[str, str]]:
        """What is seen before it is done, once it is done."""
        platform = self.scene.office.bot.platform
        platform.profiles._recent._kept.clear()
        platform.audiences._recent._kept.clear()
        await self.scene.begin()
        async with aclosing(DOINGS[name].way(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            before = (await self._seen(name)).parts
            self.wire.calls.clear()
            if cell:
                self.wire.faults = [] if cell.lasting else [(cell.method, cell.fault)]
                self.wire.lasting = {cell.method: cell.fault} if cell.lasting else {}
            try:
                async with asyncio.timeout(IN_TIME):
                    await anext(steps, None)
                    await self.scene.settled()
            finally:
                self.wire.faults, self.wire.lasting = [], {}
        yield before

    async def _let_through(self) -> None:
        """Slack fails at nothing any more, and the time for which it asked the bot to wait is over."""
        bot = self.scene.office.bot
        for pacer in bot.features.poster._pacers.values():
            pacer._open_at = 0
            pacer._changed.set()
        await bot.digests.idle()
        await bot.digests.run_due(await bot.store.digest_runs.now() + LATER)
        await bot.digests.idle()

    async def _seen(self, name: str) -> Seen:
        return Seen(await self.scene.person(DOINGS[name].who).state(), self.scene.offered)

    def _untrue(self, cell: Cell, new: list[str], lasting: list[str], made: int) -> list[str]:
        doing, said = DOINGS[cell.doing], " ".join(new)
        closed = cell.fault == GONE and cell.doing in self._in_forms  # there is nobody left to tell
        overtaken = (cell.doing, cell.fault) in OVERTAKEN
        expected = doing.asked and not (closed or overtaken or cell.method in ONLY_WAY)
        done = bool(re.search(doing.said, said))
        waiting = "One moment" in said or ":hourglass" in said
        twice = max(Counter(new).values(), default=0) > 1
        private = cell.method in PRIVATE and cell.fault in DONE
        rules = {
            f"it was done {made} times": made not in (0, 1),
            "nobody answered": expected and not said.strip(),
            "it is called done and isn't": done and not made and doing.effect is not None,
            "it is promised and wasn't done": PROMISED in said and not made,
            "it is done and called failed": made == 1 and bool(CALLED_FAILED.search(said)),
            "Slack's fault is called the bot's own": GENERIC in said,
            "it is still waited for": waiting and not self._told_beside(cell, new),
            "what was typed is lost": doing.typed
            and not (made or KEPT.search(said) or self.scene.word in said or self.scene.slug in said),
            "it is said twice": twice and not private,
            "everybody is told twice": max(Counter(lasting).values(), default=0) > 1,
        }
        return [rule for rule, broken in rules.items() if broken]

    @staticmethod
    def _told_beside(cell: Cell, new: list[str]) -> bool:
        """Whether what can't be shown in the form is said in a message."""
        return cell.method.startswith("views.") and len(new) > 1
