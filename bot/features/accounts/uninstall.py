"""Deletes a workspace's data once Slack confirms that the app was removed from it.

Slack may repeat an event even after the app was reinstalled, so the handler tries the workspace's token first
and deletes data only if Slack refuses it. It raises any other failure, and Slack retries the event.
"""

import asyncio
from dataclasses import dataclass

import structlog

from bot.features.parts import Parts
from bot.slack.incoming.feature import Feature
from bot.slack.incoming.interaction import Event
from bot.slack.outgoing.posting import SLACK_FAILED, reason
from bot.slack.outgoing.replies import Reply
from bot.slack.surfaces.blocks import JSON
from bot.slack.workspaces.tokens import NotInstalled, TokenUnusable

REFUSED = frozenset({"account_inactive", "invalid_auth", "team_access_not_granted", "token_revoked"})
"""Slack's errors for a token that no longer works. `token_expired` isn't one: the token can be renewed."""
SECONDS_TO_ANSWER = 2.5
"""Below Slack's limit of three seconds to acknowledge an event."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Uninstall:
    parts: Parts

    def feature(self) -> Feature:
        return Feature(
            events={"tokens_revoked": self.tokens_revoked},
            retryable_events={
                "app_uninstalled": self.uninstalled,
                "team_access_revoked": self.team_access_revoked,
            },
        )

    async def uninstalled(self, event: Event, _: Reply) -> None:
        """Delete the data of the workspace or organization unless the app is still installed."""
        enterprise_id, team_id = _installation_of(event.payload)
        about = {"team": team_id, "enterprise": enterprise_id}
        if await self._token_works(enterprise_id, team_id):
            log.info("app still installed", action="slack.still_installed", **about)
        else:
            await self.parts.store.installations.remove(enterprise_id, team_id)
            log.info("workspace data deleted", action="slack.uninstalled", **about)

    async def team_access_revoked(self, event: Event, _: Reply) -> None:
        """Delete the data of workspaces that the organization's installation no longer covers."""
        enterprise_id = _installation_of(event.payload)[0]

        async def handle_workspace(team_id: str) -> None:
            if await self._token_works(enterprise_id, team_id, within=team_id):
                log.info("app still installed", action="slack.still_installed", team=team_id)
            else:
                await self.parts.store.installations.forget_team(team_id)
                log.info("workspace data deleted", action="slack.access_revoked", team=team_id)

        await asyncio.gather(*map(handle_workspace, event.event["team_ids"]))

    async def tokens_revoked(self, event: Event, _: Reply) -> None:
        """Log that the bot's token no longer works, without deleting anything.

        The token may have been replaced, and a removed app gets its own event, `app_uninstalled`.
        """
        if not (event.event.get("tokens") or {}).get("bot"):
            return
        enterprise_id, team_id = _installation_of(event.payload)
        if not await self._token_works(enterprise_id, team_id):
            log.error(
                "Slack revoked the bot's token. Set SLACK_BOT_TOKEN to the new one and restart, or open "
                "/slack/install to install the app again. No data was deleted.",
                action="slack.token_revoked",
                team=team_id,
                enterprise=enterprise_id,
            )

    async def _token_works(
        self, enterprise_id: str | None, team_id: str | None, *, within: str | None = None
    ) -> bool:
        """Whether Slack accepts the installation's token, in the organization's workspace `within` if given.

        Raises any Slack error that doesn't settle the question.
        """
        try:
            slack = await self.parts.workspaces.client(enterprise_id, team_id)
        except TokenUnusable:
            raise
        except NotInstalled:
            return False
        # auth.test checks the whole organization, even when the app was removed from this workspace.
        call = slack.users_conversations(team_id=within, limit=1) if within else slack.auth_test()
        try:
            async with asyncio.timeout(SECONDS_TO_ANSWER):
                await call
        except SLACK_FAILED as error:
            if reason(error) not in REFUSED:
                raise
            return False
        return True


def _installation_of(payload: JSON) -> tuple[str | None, str | None]:
    """The event's organization and workspace. The workspace is None for an organization-wide installation."""
    installation: JSON = (payload.get("authorizations") or [payload])[0]
    enterprise_id = installation.get("enterprise_id") or payload.get("enterprise_id")
    if installation.get("is_enterprise_install"):
        return enterprise_id, None
    return enterprise_id, installation.get("team_id") or payload.get("team_id")
