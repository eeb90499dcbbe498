"""Assigns an issue to the user, from a digest's `…` menu or after a confirmation."""

import time
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.features.issues import assign_views as views
from bot.features.issues.assign import FRESH, Assigning
from bot.features.issues.buttons import TakeIssue
from bot.service.models import Issue
from bot.slack.blocks import JSON
from bot.slack.feature import Feature
from bot.slack.interaction import ButtonPress
from bot.slack.replies import Reply


class RowUpdates(Protocol):
    """The rows of posted digests."""

    async def show(
        self, slack: AsyncWebClient, channel_id: str, ts: str, issue: Issue, message: JSON | None
    ) -> None:
        """Show an issue's assignee in its row; `message` is the digest, None to read it from Slack."""


class AssignHandlers:
    """Assigns issues to the user who pressed the button, and updates the digest that lists the issue."""

    def __init__(self, assigning: Assigning, digest_rows: RowUpdates) -> None:
        self._assigning = assigning
        self._digest_rows = digest_rows

    def feature(self) -> Feature:
        return Feature(buttons={TakeIssue: self.take})

    async def take(self, press: ButtonPress[TakeIssue], reply: Reply) -> None:
        """Assign an issue to the user and answer privately; if it is someone else's, ask first."""
        asked = press.button
        confirmed = asked.holder is not None
        digest = None if confirmed else press.message
        ts = asked.digest if digest is None else str(digest.get("ts") or "")
        result = await self._assigning.take(reply.owner, asked.issue, agreed=asked.holder)
        await reply.privately(views.taken(result, reply.wording, ts), replace=confirmed)
        if reply.place.channel_id and ts:
            fresh = time.time() - press.pressed_at < FRESH
            await self._digest_rows.show(
                reply.slack, reply.place.channel_id, ts, result.issue, digest if fresh else None
            )
