"""One cell of the Slack matrix: a scenario with a fault in one of its calls, and the rules that must hold."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta

from tests.faults import secrets
from tests.faults.digest_scenarios import digests_posted
from tests.faults.matrix import GENERIC, Cell, Did, Matrix
from tests.faults.scenario import Scenario
from tests.faults.scenarios import SCENARIOS
from tests.faults.scene import Scene
from tests.support.reading import JSON
from tests.support.slackwire import SlackWire
from tests.support.work import run_due_after

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
    "auth.test": ("ekm_access_denied",),
    "reactions.get": ("message_not_found", "channel_not_found", "bad_timestamp"),
    **dict.fromkeys(
        ("functions.completeSuccess", "functions.completeError"),
        ("execution_not_in_running_state", "function_execution_not_found", "access_denied"),
    ),
    "users.info": ("user_not_found", "user_not_visible"),
    "users.conversations": ("invalid_types", "method_not_supported_for_channel_type"),
    "files.info": ("file_not_found", "file_deleted"),
    "entity.presentDetails": ("expired_trigger_id", "invalid_metadata_format"),
    "entity.presentComments": ("expired_trigger_id", "invalid_arguments"),
    "entity.acknowledgeCommentAction": ("expired_trigger_id", "invalid_arguments"),
    "response_url": ("used_url", "expired_url", "no_permission"),
    "file": ("file_not_found",),
}
"""The errors that Slack documents for each method: https://docs.slack.dev/reference/methods."""
DONE = ("lose the answer", "late answer:1", "500 after it", "page after it", "truncate")
PRIVATE = ("chat.postEphemeral", "response_url")
"""Private answers: if Slack may have lost one, the bot posts it again."""
ONLY_WAY = ("views.publish", "entity.presentDetails", "entity.presentComments")
"""Calls that fill the only place where the result can be shown."""
IN_CONVERSATION = ("direct message", "chat.postMessage")
"""A scenario in the user's conversation with the bot, and the only call that can answer there."""
CALLED_FAILED = re.compile(f"{GENERIC}|nothing was done|didn't work|wasn't shared|not attached")
KEPT = "Open form"
PROMISED = "comes as soon as"
GONE = "refuse:not_found"
"""Slack's error for a view that the user has closed."""
SUPERSEDED = {
    (scenario, "refuse:hash_conflict")
    for scenario in ("choose project", "choose template", "choose tracker", "more fields")
}
"""The user has chosen again in the meantime, and the view shows that choice's result."""
IN_TIME = 15
"""Timeout in seconds: more than a slow machine needs, less than Slack's longest backoff."""
LATER = timedelta(minutes=20)


def faults_of(method: str) -> list[str]:
    """Returns every fault that a call can have."""
    return [*LOST, *BROKEN, *(f"refuse:{error}" for error in (*OWN[method], *GENERAL))]


@dataclass(frozen=True)
class SlackCell(Cell):
    """A cell with the method whose calls fail."""

    method: str

    def __str__(self) -> str:
        return f"{self.scenario} × {'every' if self.lasting else 'one'} {self.method} × {self.fault}"


class SlackMatrix(Matrix):
    """Runs cells in one office behind a faulty proxy to Slack; `lane` marks this office's log lines."""

    def __init__(self, scene: Scene, wire: SlackWire, logs: secrets.Logs, lane: int) -> None:
        super().__init__(scene)
        self.wire = wire
        self.logs = logs
        self.lane = lane
        self._in_forms: set[str] = set()
        """Scenarios that only update a form."""

    def learned(self, name: str, did: Did) -> list[str]:
        """Returns the methods that a run without a fault called."""
        called = list(dict.fromkeys(call.method for call in self.wire.calls))
        self.wrong += [f"{name}: no documented errors listed for {one}" for one in called if one not in OWN]
        if not SCENARIOS[name].effect and did.screen.view and set(did.new) == {did.screen.view["hash"]}:
            self._in_forms.add(name)
        return [method for method in called if method in OWN]

    async def check(self, cell: SlackCell) -> tuple[Did, list[str]]:
        printed, scenario = self.logs.printed.tell(), SCENARIOS[cell.scenario]

        def fail() -> None:
            self.wire.faults = [] if cell.lasting else [(cell.method, cell.fault)]
            self.wire.lasting = {cell.method: cell.fault} if cell.lasting else {}

        did = await self.do(cell.scenario, fail)
        if cell.fault == GONE and did.screen.view:  # the user has closed that form
            did.new.pop(did.screen.view["hash"], None)
        wrong = self._broken_rules(cell, did)
        lines = [json.loads(line) for line in self.logs.printed.getvalue()[printed:].splitlines()]
        if not any(self._logs_handler(line, scenario) for line in lines):
            wrong.append("no log line with a reference names the handler")
        if cell.method == "chat.delete" and cell.fault in DONE:  # the retry doesn't find it
            violations = self.scene.office.workspace.violations
            violations[:] = [one for one in violations if "message_not_found" not in str(one)]
        return did, wrong

    async def act(self, name: str, steps: AsyncGenerator[None, None]) -> None:
        self.wire.calls.clear()
        try:
            async with asyncio.timeout(IN_TIME):
                await super().act(name, steps)
        finally:
            self.wire.faults, self.wire.lasting = [], {}

    async def count(self, name: str) -> int:
        if SCENARIOS[name].effect is digests_posted:
            await self._end_backoff()
        return await super().count(name)

    def _logs_handler(self, line: JSON, scenario: Scenario) -> bool:
        """Returns whether it is this office's log line about one of the scenario's handlers."""
        action = str(line.get("action", "")).replace("command:/", "command:")
        return line.get("lane") == self.lane and "reference" in line and action in scenario.handlers

    async def _end_backoff(self) -> None:
        """Ends the backoff that Slack asked for, with Slack working again: a new process doesn't know it."""
        office = self.scene.office
        await office.bot.stop(0)
        await office.start_bot()
        await run_due_after(office, LATER)

    def _broken_rules(self, cell: SlackCell, did: Did) -> list[str]:
        reply_text, made = did.reply_text, did.made
        closed = cell.fault == GONE and cell.scenario in self._in_forms  # the user has closed the form
        superseded = (cell.scenario, cell.fault) in SUPERSEDED
        waiting = "One moment" in reply_text or ":hourglass" in reply_text
        passing = {message["ts"] for message in did.screen.messages if message["ephemeral"]}
        lasting = [text for key, text in did.new.items() if key not in passing]
        twice = max(Counter(did.new.values()).values(), default=0) > 1
        private = cell.method in PRIVATE and cell.fault in DONE
        mute = cell.lasting and (cell.scenario, cell.method) == IN_CONVERSATION
        answered = not (closed or superseded or mute or cell.method in ONLY_WAY)
        rules = self.common_rules(cell, did, answered=answered, linking=KEPT in reply_text) | {
            "it is promised but not done": PROMISED in reply_text and not made,
            "it is done but reported as failed": made == 1 and CALLED_FAILED.search(reply_text),
            "it still says to wait": waiting and not self._posted_too(cell, did),
            "the same text appears twice": twice and not private,
            "everyone sees the same text twice": max(Counter(lasting).values(), default=0) > 1,
        }
        return [rule for rule, broken in rules.items() if broken]

    @staticmethod
    def _posted_too(cell: SlackCell, did: Did) -> bool:
        """Returns whether the bot posted a message besides what it couldn't show in the form."""
        return cell.method.startswith("views.") and len(did.new) > 1
