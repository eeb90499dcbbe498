"""One cell of the Slack matrix: a scenario with a fault in one of its calls, and the rules that must hold."""

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
from tests.faults.digest_scenarios import digests_posted
from tests.faults.matrix import GENERIC, Screen
from tests.faults.scenario import Scenario
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import Scene
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
    "chat.update": ("cant_update_message", "edit_window_closed", "message_not_found"),
    "chat.unfurl": (
        "cannot_unfurl_url",
        "cannot_unfurl_message",
        "invalid_unfurls",
        "invalid_metadata_format",
    ),
    "chat.getPermalink": ("channel_not_found", "message_not_found"),
    "conversations.info": ("channel_not_found", "method_not_supported_for_channel_type"),
    "conversations.open": ("user_not_found", "user_disabled", "user_not_visible", "method_not_supported"),
    "conversations.members": ("channel_not_found", "fetch_members_failed"),
    "conversations.history": ("not_in_channel", "channel_not_found"),
    "conversations.replies": ("not_in_channel", "channel_not_found", "thread_not_found"),
    "users.info": ("user_not_found", "user_not_visible"),
    "users.conversations": ("invalid_types", "method_not_supported_for_channel_type"),
    "files.info": ("file_not_found", "file_deleted"),
    "entity.presentDetails": ("expired_trigger_id", "invalid_metadata_format"),
    "response_url": ("used_url", "expired_url", "no_permission"),
    "file": ("file_not_found",),
}
"""The errors that Slack documents for each method: https://docs.slack.dev/reference/methods."""
DONE = ("lose the answer", "late answer:1", "500 after it", "page after it", "truncate")
PRIVATE = ("chat.postEphemeral", "response_url")
"""Private answers: if Slack may have lost one, the bot posts it again."""
ONLY_WAY = ("views.publish", "entity.presentDetails")
"""Calls that fill the only place where the result can be shown."""
CALLED_FAILED = re.compile(f"{GENERIC}|nothing was done|didn't work|wasn't shared|not attached")
KEPT = "Open form"
PROMISED = "comes as soon as"
GONE = "refuse:not_found"
"""Slack's error for a view that the user has closed."""
SUPERSEDED = {("choose project", "refuse:hash_conflict"), ("choose tracker", "refuse:hash_conflict")}
"""The user has chosen again in the meantime, and the view shows that choice's result."""
IN_TIME = 15
"""Timeout in seconds: more than a slow machine needs, less than Slack's longest backoff."""
LATER = timedelta(minutes=20)


def faults_of(method: str) -> list[str]:
    """Returns every fault that a call can have."""
    return [*LOST, *BROKEN, *(f"refuse:{error}" for error in (*OWN[method], *GENERAL))]


@dataclass(frozen=True)
class Cell:
    """A scenario, the method whose calls fail, the fault, and whether all calls of the method fail."""

    scenario: str
    method: str
    fault: str
    lasting: bool

    def __str__(self) -> str:
        return f"{self.scenario} × {'every' if self.lasting else 'one'} {self.method} × {self.fault}"


class Matrix:
    """Runs cells in one office; `wrong` collects one sentence per broken rule.

    `lane` marks this office's log lines.
    """

    def __init__(self, scene: Scene, wire: SlackWire, logs: secrets.Logs, lane: int) -> None:
        self.scene = scene
        self.wire = wire
        self.logs = logs
        self.lane = lane
        self.ran = 0
        self.wrong: list[str] = []
        self._in_forms: set[str] = set()
        """Scenarios that only update a form."""

    async def methods(self, name: str) -> list[str]:
        """Runs the scenario without a fault, checks that it succeeds, and returns the methods it calls."""
        scenario = SCENARIOS[name]
        async with self._before_and_after(name) as before:
            called = list(dict.fromkeys(call.method for call in self.wire.calls))
            seen = await self._screen(name)
            made = await scenario.effect(self.scene) if scenario.effect else 1
        new = {key: text for key, text in seen.parts.items() if before.get(key) != text}
        said = " ".join(new.values())
        if (
            made != 1
            or (scenario.effect and not re.search(scenario.said, said))
            or (scenario.expects_answer and not said)
        ):
            self.wrong.append(f"{name}: took effect {made} times without a fault; said: {said[:400]!r}")
        self.wrong += [f"{name}: no documented errors listed for {one}" for one in called if one not in OWN]
        self.wrong += [f"{name}, without a fault: {one}" for one in self._violations()]
        if not scenario.effect and seen.view and set(new) == {seen.view["hash"]}:
            self._in_forms.add(name)
        return [method for method in called if method in OWN]

    async def run(self, cell: Cell) -> None:
        self.ran += 1
        try:
            await self._run(cell)
        except Exception as error:  # noqa: BLE001 - one failing cell must not stop the rest
            self.wrong.append(f"{cell}: {error!r} at {traceback.extract_tb(error.__traceback__)[-2:]}")

    async def _run(self, cell: Cell) -> None:
        printed, scenario = len(self.logs.printed.getvalue()), SCENARIOS[cell.scenario]
        async with self._before_and_after(cell.scenario, cell) as before:
            seen = await self._screen(cell.scenario)
            if scenario.effect is digests_posted:
                await self._end_backoff()
            made = await scenario.effect(self.scene) if scenario.effect else 0
        new = {key: text for key, text in seen.parts.items() if before.get(key) != text}
        if cell.fault == GONE and seen.view:  # the user has closed that form
            new.pop(seen.view["hash"], None)
        passing = {m["ts"] for rows in seen.state["messages"].values() for m in rows if m["ephemeral"]}
        lasting = [text for key, text in new.items() if key not in passing]
        wrong = self._broken_rules(cell, list(new.values()), lasting, made)
        wrong += secrets.shown(self.scene, [await self.scene.person(scenario.who).state()])
        lines = [json.loads(line) for line in self.logs.printed.getvalue()[printed:].splitlines()]
        if not any(self._logs_handler(line, scenario) for line in lines):
            wrong.append("no log line with a reference names the handler")
        gone = cell.method == "chat.delete" and cell.fault in DONE  # the retry doesn't find it
        broken = [one for one in self._violations() if not (gone and "message_not_found" in one)]
        wrong += [f"it broke Slack's rule: {one}" for one in broken]
        self.wrong += [f"{cell}: {one}; said: {' / '.join(new.values())[:400]!r}" for one in wrong]

    def _logs_handler(self, line: JSON, scenario: Scenario) -> bool:
        """Returns whether it is this office's log line about one of the scenario's handlers."""
        action = str(line.get("action", "")).replace("command:/", "command:")
        return line.get("lane") == self.lane and "reference" in line and action in scenario.handlers

    def _violations(self) -> list[str]:
        broken = self.scene.office.violations()
        self.scene.office.workspace.violations.clear()
        return broken

    @asynccontextmanager
    async def _before_and_after(self, name: str, cell: Cell | None = None) -> AsyncIterator[dict[str, str]]:
        """Runs the scenario and yields what was on screen before its action."""
        platform = self.scene.office.bot.platform
        platform.profiles._recent._kept.clear()
        platform.audiences._recent._kept.clear()
        await self.scene.reset()
        async with aclosing(SCENARIOS[name].steps(self.scene)) as steps:
            await anext(steps)
            await self.scene.settled()
            before = (await self._screen(name)).parts
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

    async def _end_backoff(self) -> None:
        """Ends the backoff that Slack asked for, with Slack working again."""
        bot = self.scene.office.bot
        for turns in bot.platform.outbox._turns.values():
            turns._open_at = dict.fromkeys(turns._open_at, 0)
            turns._start_after(0)
        await bot.digests.idle()
        await bot.digests.run_due(await bot.store.digest_runs.now() + LATER)
        await bot.digests.idle()

    async def _screen(self, name: str) -> Screen:
        return Screen(await self.scene.person(SCENARIOS[name].who).state(), self.scene.offered)

    def _broken_rules(self, cell: Cell, new: list[str], lasting: list[str], made: int) -> list[str]:
        scenario, said = SCENARIOS[cell.scenario], " ".join(new)
        closed = cell.fault == GONE and cell.scenario in self._in_forms  # the user has closed the form
        superseded = (cell.scenario, cell.fault) in SUPERSEDED
        expected = scenario.expects_answer and not (closed or superseded or cell.method in ONLY_WAY)
        done = bool(re.search(scenario.said, said))
        waiting = "One moment" in said or ":hourglass" in said
        twice = max(Counter(new).values(), default=0) > 1
        private = cell.method in PRIVATE and cell.fault in DONE
        rules = {
            f"it took effect {made} times": made not in (0, 1),
            "there is no answer": expected and not said.strip(),
            "it is reported as done but isn't": done and not made and scenario.effect is not None,
            "it is promised but not done": PROMISED in said and not made,
            "it is done but reported as failed": made == 1 and bool(CALLED_FAILED.search(said)),
            "Slack's fault is reported as the bot's": GENERIC in said,
            "it still says to wait": waiting and not self._posted_too(cell, new),
            "the user's input is lost": scenario.typed
            and not (made or KEPT in said or self.scene.word in said or self.scene.slug in said),
            "the same text appears twice": twice and not private,
            "everyone sees the same text twice": max(Counter(lasting).values(), default=0) > 1,
        }
        return [rule for rule, broken in rules.items() if broken]

    @staticmethod
    def _posted_too(cell: Cell, new: list[str]) -> bool:
        """Returns whether the bot posted a message besides what it couldn't show in the form."""
        return cell.method.startswith("views.") and len(new) > 1
