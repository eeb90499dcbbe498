"""The workspaces that the bot serves: one with a plain token, or all that installed it; a client for each."""

import asyncio
import hashlib
from abc import abstractmethod
from datetime import timedelta
from time import time

import stamina
import structlog
from pydantic import SecretStr
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import StoredSecretError
from bot.slack import web_client
from bot.slack.in_flight import InFlight
from bot.slack.posting import reason
from bot.store.store import Store

EARLY = 120
"""Minutes before its end at which a token is renewed (Slack's tokens live for 12 hours)."""
AT_LEAST = 60.0
"""Seconds that a token must be good for: with less, whoever needs it waits for the new one."""
ONE_RENEWAL = timedelta(minutes=2)
"""A renewal is some process's own for so long: a refresh token works once."""
WAIT, LONGEST_WAIT = 0.25, 10.0
LOST = "a workspace's token can't be renewed any more: open /slack/install there and install the app again"

log = structlog.get_logger(__name__)


class NotInstalled(SlackApiError):
    """There is no installation for the workspace."""

    def __init__(self) -> None:
        super().__init__("not installed", {"ok": False, "error": "not_authed"})  # type: ignore[no-untyped-call] # slack_sdk's


class TokenUnusable(NotInstalled):
    """The workspace's token can't be decrypted, or has expired and wasn't renewed."""


class Workspaces(AsyncAuthorize):
    """The workspaces' clients; Bolt asks it for the token of whatever comes from Slack."""

    @abstractmethod
    async def client(self, enterprise_id: str | None, team_id: str | None) -> AsyncWebClient:
        """The client for a team, or with no team for an organization. Raises NotInstalled or
        TokenUnusable.
        """


class OneWorkspace(Workspaces):
    """The one workspace of a plain token."""

    def __init__(self, slack: AsyncWebClient) -> None:
        self._slack = slack

    async def client(self, enterprise_id: str | None, team_id: str | None) -> AsyncWebClient:  # noqa: ARG002 - there is only one
        """The client with the token."""
        return self._slack

    async def __call__(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None, **_: object
    ) -> AuthorizeResult:
        """The token for whatever comes."""
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, user_id=user_id, bot_token=self._slack.token
        )


class InstalledWorkspaces(Workspaces):
    """All that installed the bot by Slack's OAuth flow; their tokens are renewed in time.

    `slack` is a client without a token.
    """

    def __init__(
        self,
        slack: AsyncWebClient,
        store: Store,
        in_flight: InFlight,
        client_id: str,
        client_secret: SecretStr,
    ) -> None:
        self._slack = slack
        self._store = store
        self._in_flight = in_flight
        self._rotator = AsyncTokenRotator(
            client_id=client_id, client_secret=client_secret.get_secret_value(), client=slack
        )
        self._renewing: dict[str, asyncio.Task[Bot]] = {}

    async def client(self, enterprise_id: str | None, team_id: str | None) -> AsyncWebClient:
        """A client with the team's own token, or its organization's."""
        bot = await self._bot(enterprise_id, team_id)
        return web_client.for_team(self._slack, bot.bot_token, team_id)

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        **_: object,
    ) -> AuthorizeResult | None:
        """The token for what came from Slack; None where the bot isn't installed.

        Where the database doesn't answer there is none either, and whoever claims the delivery says so.
        """
        try:
            bot = await self._bot(enterprise_id, None if context.is_enterprise_install else team_id)
        except NotInstalled:
            return None
        except Exception:
            log.exception("no token can be read", action="slack.no_token", team=team_id)
            return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, user_id=user_id)
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_id=bot.bot_id,
            bot_user_id=bot.bot_user_id,
            bot_token=bot.bot_token,
            bot_scopes=bot.bot_scopes,
            user_id=user_id,
        )

    async def _bot(self, enterprise_id: str | None, team_id: str | None) -> Bot:
        try:
            bot = await self._store.installations.find(enterprise_id, team_id)
        except StoredSecretError as error:
            said = (
                "a workspace's token can't be opened: is the right key in ENCRYPTION_KEYS? Else install again"
            )
            log.error(said, action="slack.token_unreadable", team=team_id, error=str(error))  # noqa: TRY400 - it says it all
            raise TokenUnusable from None
        if bot is None:
            raise NotInstalled
        if _seconds_left(bot) > EARLY * 60:
            return bot
        renewal = self._renewal(bot)
        if _seconds_left(bot) > AT_LEAST:
            return bot
        bot = await asyncio.shield(renewal)
        if _seconds_left(bot) <= 0:
            raise TokenUnusable
        return bot

    def _renewal(self, bot: Bot) -> asyncio.Task[Bot]:
        """The one renewal of this token in this process."""
        token = bot.bot_refresh_token or ""
        if (going_on := self._renewing.get(token)) is not None:
            return going_on
        renewal = self._renewing[token] = asyncio.create_task(self._renewed(bot))
        renewal.add_done_callback(lambda _: self._renewing.pop(token))
        return renewal

    async def _renewed(self, bot: Bot) -> Bot:
        """The installation with a new token; as it was where there is none to be had now."""
        about = {"team": bot.team_id, "enterprise": bot.enterprise_id}
        claim = f"renewal:{hashlib.sha256((bot.bot_refresh_token or '').encode()).hexdigest()}"
        with self._in_flight.track():
            try:
                if not await self._store.deliveries.claim_for(claim, ONE_RENEWAL):
                    return await self._renewed_elsewhere(bot)
                renewed = await self._rotator.perform_bot_token_rotation(
                    bot=bot, minutes_before_expiration=EARLY
                )
            except SlackTokenRotationError as error:
                if (why := reason(error.api_error)) == "invalid_refresh_token":
                    log.error(LOST, action="slack.token_lost", **about)  # noqa: TRY400 - it says it all
                else:
                    log.warning("token not renewed", action="slack.token_not_renewed", error=why, **about)
                return bot
            except Exception as error:  # noqa: BLE001 - whatever it is, there is no new token yet
                # Slack may have renewed it all the same: then the next attempt is told that it is lost.
                kind = type(error).__name__
                log.warning("token not renewed", action="slack.token_not_renewed", error=kind, **about)
                return bot
            if renewed is not None:
                await self._keep(renewed, about)
            return renewed or bot

    async def _keep(self, renewed: Bot, about: dict[str, str | None]) -> None:
        try:
            async for attempt in stamina.retry_context(on=Exception, attempts=5, timeout=LONGEST_WAIT):
                with attempt:
                    await self._store.installations.renew(renewed)
        except Exception:
            log.exception(LOST, action="slack.token_lost", **about)
        else:
            log.info("token renewed", action="slack.token_renewed", **about)

    async def _renewed_elsewhere(self, bot: Bot) -> Bot:
        """What another process makes of it, if that is done soon."""
        for _ in range(int(LONGEST_WAIT / WAIT)):
            now = await self._store.installations.find(bot.enterprise_id, bot.team_id)
            if now is None or now.bot_refresh_token != bot.bot_refresh_token:
                return now or bot
            if _seconds_left(bot) > AT_LEAST:
                return bot
            await asyncio.sleep(WAIT)
        return bot


def _seconds_left(bot: Bot) -> float:
    """How long the token is good for; without rotation for ever."""
    return float("inf") if bot.bot_token_expires_at is None else bot.bot_token_expires_at - time()
