"""Deletes what belongs to a workspace once Slack confirms that the app was removed from it.

Slack repeats events, also after the app was installed again, so the workspace's token is tried first. Data is
deleted only when Slack refuses the token. Any other failure is raised, and Slack sends the event again.
"""

import asyncio
from collections.abc import Awaitable

import structlog

from bot.slack.blocks import JSON
from bot.slack.feature import Feature
from bot.slack.interaction import (
    Event,
)
from bot.slack.posting import SLACK_FAILED, reason
from bot.slack.replies import Reply
from bot.slack.workspaces import NotInstalled, TokenUnusable, Workspaces
from bot.store.store import Store

REFUSED = frozenset({"account_inactive", "invalid_auth", "team_access_not_granted", "token_revoked"})
"""Slack's errors for a token that no longer works there. One with `token_expired` may still be renewed."""
SECONDS_TO_ANSWER = 2.5
"""Slack waits three seconds for the acknowledgement."""

log = structlog.get_logger(__name__)


async def _taken(asking: Awaitable[object]) -> bool:
    try:
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            await asking
    except SLACK_FAILED as error:
        if reason(error) not in REFUSED:
            raise
        return False
    return True


class Uninstall:
    """Answers Slack's events about removed apps and revoked tokens."""

    def __init__(self, store: Store, workspaces: Workspaces) -> None:
        self._store = store
        self._workspaces = workspaces

    def feature(self) -> Feature:
        """What this answers to."""
        return Feature(
            events={"tokens_revoked": self.tokens_revoked},
            settled_events={
                "app_uninstalled": self.uninstalled,
                "team_access_revoked": self.team_access_revoked,
            },
        )

    async def uninstalled(self, event: Event, _: Reply) -> None:
        """Deletes the workspace's data, or the organization's, unless the app is installed there."""
        enterprise_id, team_id = _installed(event.payload)
        about = {"team": team_id, "enterprise": enterprise_id}
        if await self._works(enterprise_id, team_id):
            log.info("still installed", action="slack.still_installed", **about)
        else:
            await self._store.installations.remove(enterprise_id, team_id)
            log.info("workspace forgotten", action="slack.uninstalled", **about)

    async def team_access_revoked(self, event: Event, _: Reply) -> None:
        """Deletes the data of workspaces that an organization's installation no longer serves."""
        enterprise_id = _installed(event.payload)[0]

        async def settle(team_id: str) -> None:
            if await self._works(enterprise_id, team_id, within=team_id):
                log.info("still installed", action="slack.still_installed", team=team_id)
            else:
                await self._store.installations.forget_team(team_id)
                log.info("workspace forgotten", action="slack.access_revoked", team=team_id)

        await asyncio.gather(*map(settle, event.event["team_ids"]))

    async def tokens_revoked(self, event: Event, _: Reply) -> None:
        """Logs that the bot's token no longer works. Nothing is deleted: it may be replaced, and for an app
        that was removed Slack sends `app_uninstalled`.
        """
        if not (event.event.get("tokens") or {}).get("bot"):
            return
        enterprise_id, team_id = _installed(event.payload)
        if not await self._works(enterprise_id, team_id):
            log.error(
                "Slack revoked the bot's token. Set SLACK_BOT_TOKEN to the new one and restart, or open "
                "/slack/install to install the app again. No data was deleted.",
                action="slack.token_revoked",
                team=team_id,
                enterprise=enterprise_id,
            )

    async def _works(
        self, enterprise_id: str | None, team_id: str | None, *, within: str | None = None
    ) -> bool:
        """Whether Slack takes the installation's token; with `within`, for that workspace of an organization.

        Raises what the call to Slack raises when Slack gives no clear answer.
        """
        try:
            slack = await self._workspaces.client(enterprise_id, team_id)
        except TokenUnusable:
            raise
        except NotInstalled:
            return False
        # auth.test answers for the whole organization, even in a workspace that it was taken out of.
        asking = slack.users_conversations(team_id=within, limit=1) if within else slack.auth_test()
        return await _taken(asking)


def _installed(payload: JSON) -> tuple[str | None, str | None]:
    """The organization and workspace that an event is about; no workspace for a whole organization."""
    there: JSON = (payload.get("authorizations") or [payload])[0]
    enterprise_id = there.get("enterprise_id") or payload.get("enterprise_id")
    if there.get("is_enterprise_install"):
        return enterprise_id, None
    return enterprise_id, there.get("team_id") or payload.get("team_id")
