"""One cell of Slack's matrix: a doing whose calls to Slack fail in one way, and what may come of it."""

import json
import re
import traceback
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from tests.faults import secrets
from tests.faults.doings import DOINGS
from tests.faults.matrix import GENERIC, Seen
from tests.faults.scene import Scene
from tests.journeys.slackwire import SlackWire

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
    "files.info": ("file_not_found", "file_deleted"),
    "entity.presentDetails": ("expired_trigger_id", "invalid_metadata_format"),
    "response_url": ("used_url", "expired_url", "no_permission"),
    "file": ("file_not_found",),
}
"""What Slack documents of each method: https://docs.slack.dev/reference/methods."""
MAY_BE_DONE = ("lose", "late answer", "500", "page", "truncate")
POSTS = ("chat.postMessage", "chat.postEphemeral", "response_url")
PRIVATE = ("chat.postEphemeral", "response_url")
REPORTED = ("500 after it", "page after it", "truncate")
"""Where Slack says that it failed, a person is rather told twice than not at all; nobody else is."""
ONLY_WAY = ("views.publish", "entity.presentDetails")
"""What shows a thing at the one place at which it can be shown."""
CALLED_FAILED = re.compile(f"{GENERIC}|nothing was done|didn't work|was not shared|not attached")
KEPT = re.compile("(Open|Fill in) the form")


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
    """Goes through cells in one office; `wrong` are the promises that were broken, a sentence each."""

    def __init__(self, scene: Scene, wire: SlackWire, logs: secrets.Logs) -> None:
        self.scene = scene
        self.wire = wire
        self.logs = logs
        self.ran = 0
        self.wrong: list[str] = []

    async def methods(self, name: str) -> list[str]:
        """The methods that a doing calls where nothing fails."""
        called: list[str] = []
        async with self._doing(name):
            called += [call.method for call in self.wire.calls]
        return [method for method in dict.fromkeys(called) if method in OWN]

    async def run(self, cell: Cell) -> None:
        """Go through one cell."""
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one cell that can't be gone through holds up no other one
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        printed = len(self.logs.printed.getvalue())
        raw = len(self.logs.raw.lines)
        async with self._doing(cell.doing, cell) as before:
            after = await self._parts(cell.doing)
            effect = DOINGS[cell.doing].effect
            made = await effect(self.scene) if effect else 0
        new = [text for name, text in after.items() if before.get(name) != text]
        wrong = self._untrue(cell, new, made)
        wrong += secrets.shown(self.scene, [await self.scene.person(DOINGS[cell.doing].who).state()])
        lines = [json.loads(line) for line in self.logs.printed.getvalue()[printed:].splitlines()]
        if not any("reference" in line and "action" in line for line in lines):
            wrong.append("nothing in the log says what was done, under which reference")
        wrong += [f"a task died: {line}" for line in self.logs.raw.lines[raw:] if "never retrieved" in line]
        self.scene.office.workspace.violations.clear()
        self.wrong += [f"{cell}: {one}; said: {' / '.join(new)[:400]!r}" for one in wrong]

    @asynccontextmanager
    async def _doing(self, name: str, cell: Cell | None = None) -> AsyncIterator[dict[str, str]]:
        """What is seen before it is done, once it is done."""
        self.scene.office.bot.parts.profiles._recent._kept.clear()
        await self.scene.begin()
        async with aclosing(DOINGS[name].way(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            before = await self._parts(name)
            self.wire.calls.clear()
            if cell:
                self.wire.faults = [] if cell.lasting else [(cell.method, cell.fault)]
                self.wire.lasting = {cell.method: cell.fault} if cell.lasting else {}
            await anext(steps, None)
            await self.scene.settled()
            self.wire.faults, self.wire.lasting = [], {}
        yield before

    async def _parts(self, name: str) -> dict[str, str]:
        return Seen(await self.scene.person(DOINGS[name].who).state(), self.scene.offered).parts

    def _untrue(self, cell: Cell, new: list[str], made: int) -> list[str]:
        doing, said = DOINGS[cell.doing], " ".join(new)
        maybe_told = cell.method in POSTS and cell.fault.startswith(MAY_BE_DONE)
        closed = cell.fault == "refuse:not_found" and doing.effect is None  # there is nothing to tell
        expected = doing.asked and not maybe_told and not closed and cell.method not in ONLY_WAY
        done = bool(re.search(doing.said, said))
        waiting = "One moment" in said or ":hourglass" in said
        private = cell.method in PRIVATE and cell.fault in REPORTED
        rules = {
            f"it was done {made} times": made not in (0, 1),
            "nobody answered": expected and not said.strip(),
            "it is called done and isn't": done and not made and doing.effect is not None,
            "it is done and called failed": made == 1 and bool(CALLED_FAILED.search(said)),
            "Slack's fault is called the bot's own": GENERIC in said,
            "it is still waited for": waiting and not self._told_beside(cell, new),
            "what was typed is lost": doing.typed
            and not (made or maybe_told)
            and not (self.scene.word in said or KEPT.search(said)),
            "it is said twice": any(times > 1 for times in Counter(new).values()) and not private,
        }
        return [rule for rule, broken in rules.items() if broken]

    def _told_beside(self, cell: Cell, new: list[str]) -> bool:
        """Whether the form is gone, or what can't be shown in it is said in a message."""
        return cell.fault == "refuse:not_found" or (cell.method.startswith("views.") and len(new) > 1)
