"""The workspaces that the bot serves, and their clients: one with a fixed token, or all that installed it.

They install it with Bolt's OAuth flow and the bot's pages:
https://docs.slack.dev/authentication/installing-with-oauth/
"""

import asyncio
import hashlib
import re
from abc import abstractmethod
from datetime import timedelta
from html import escape
from time import time
from urllib.parse import urljoin

import stamina
import structlog
from pydantic import SecretStr
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import StoredSecretError
from bot.slack.surfaces.blocks import shortened
from bot.slack.surfaces.manifest import INSTALL_PATH, REDIRECT_PATH, SCOPES
from bot.slack.workspaces import web_client
from bot.slack.workspaces.slack_errors import reason
from bot.store.installations import STATE_SECONDS, Installations
from bot.store.owner import Owner
from bot.store.store import Store
from bot.tasks import Tasks

MINUTES_EARLY = 120  # how many minutes before its expiration a token is renewed (tokens last 12 hours)
AT_LEAST = 60.0  # with fewer seconds than this left on a token, callers wait for the new one
FIRST_WAIT, LONGEST_WAIT = 0.25, 10.0
NOT_INSTALLED_MESSAGE = (
    "I don't have a valid token for this workspace. Try again in a minute. If it keeps happening, ask a "
    "workspace admin to install me again."
)
WHY = {
    "access_denied": "The installation was canceled in Slack.",
    "invalid_browser": "Finish the installation in the browser where you started it, with cookies allowed.",
    "invalid_state": "The installation took more than ten minutes or was already finished.",
    "invalid_code": "Slack didn't confirm the installation.",
}
TEAM = re.compile(r"[TE][A-Z0-9]{1,30}")
NO_TEAM = "That isn't a Slack workspace ID. Open this page again without `team`."
REASON_LENGTH = 100  # how much of Slack's error is shown: anyone can put anything there
LOST = "a workspace's token can no longer be renewed: reinstall the app there from /slack/install"

log = structlog.get_logger(__name__)


class NotInstalled(SlackApiError):
    def __init__(self) -> None:
        super().__init__("not installed", {"ok": False, "error": "not_authed"})  # type: ignore[no-untyped-call] # slack_sdk's


class TokenUnusable(NotInstalled):
    """The workspace's token can't be decrypted, or has expired and wasn't renewed."""


class Workspaces(AsyncAuthorize):
    """Clients for workspaces; Bolt calls it for the token of each payload."""

    @abstractmethod
    async def client(self, enterprise_id: str | None, team_id: str | None) -> AsyncWebClient:
        """The client for a team, or without one for an organization. Raises NotInstalled or TokenUnusable."""

    async def of(self, owner: Owner) -> AsyncWebClient:
        """The client for a user's team, as from `client`."""
        return await self.client(owner.enterprise_id, owner.team_id)


class OneWorkspace(Workspaces):
    def __init__(self, slack: AsyncWebClient) -> None:
        self._slack = slack

    async def client(self, enterprise_id: str | None, team_id: str | None) -> AsyncWebClient:  # noqa: ARG002 - there is only one
        return self._slack

    async def __call__(
        self, *, enterprise_id: str | None, team_id: str | None, user_id: str | None, **_: object
    ) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, user_id=user_id, bot_token=self._slack.token
        )


class InstalledWorkspaces(Workspaces):
    """All workspaces that installed the bot through OAuth; renews their tokens.

    `slack` is a client without a token.
    """

    def __init__(
        self,
        slack: AsyncWebClient,
        store: Store,
        in_flight: Tasks,
        client_id: str,
        client_secret: SecretStr,
        *,
        renewal_seconds: float,
    ) -> None:
        self._renewal_claim = timedelta(seconds=renewal_seconds)
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
        """The token for a payload; None if the bot isn't installed.

        If the database fails, returns no token: claiming the delivery then fails too, and the user hears of
        it.
        """
        try:
            bot = await self._bot(enterprise_id, None if context.is_enterprise_install else team_id)
        except NotInstalled:
            return None
        except Exception:
            log.exception("could not read a workspace's token", action="slack.no_token", team=team_id)
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
            event = (
                "a workspace's token can't be decrypted: check ENCRYPTION_KEYS, or reinstall the app there"
            )
            log.error(event, action="slack.token_unreadable", team=team_id, error=str(error))  # noqa: TRY400 - no traceback needed
            raise TokenUnusable from None
        if bot is None:
            raise NotInstalled
        if _seconds_left(bot) > MINUTES_EARLY * 60:
            return bot
        renewal = self._renewal(bot)
        if _seconds_left(bot) > AT_LEAST:
            return bot
        bot = await asyncio.shield(renewal)
        if _seconds_left(bot) <= 0:
            raise TokenUnusable
        return bot

    def _renewal(self, bot: Bot) -> asyncio.Task[Bot]:
        """The renewal of this token that is running in this process, or a new one."""
        token = bot.bot_refresh_token or ""
        if (running := self._renewing.get(token)) is not None:
            return running
        renewal = self._renewing[token] = self._in_flight.start(self._renewed(bot))
        renewal.add_done_callback(lambda _: self._renewing.pop(token))
        return renewal

    async def _renewed(self, bot: Bot) -> Bot:
        """The installation with a new token; unchanged if renewing it fails."""
        about = {"team": bot.team_id, "enterprise": bot.enterprise_id}
        claim = f"renewal:{hashlib.sha256((bot.bot_refresh_token or '').encode()).hexdigest()}"
        try:
            if not await self._store.claims.claim_once(claim, self._renewal_claim):
                return await self._renewed_elsewhere(bot)
            renewed = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=MINUTES_EARLY
            )
        except SlackTokenRotationError as error:
            if (why := reason(error.api_error)) == "invalid_refresh_token":
                log.error(LOST, action="slack.token_lost", **about)  # noqa: TRY400 - no traceback needed
            else:
                log.warning("could not renew a token", action="slack.token_not_renewed", error=why, **about)
            return bot
        except Exception as error:  # noqa: BLE001 - any error leaves the old token
            # Slack may have renewed it anyway; then the next attempt finds it lost.
            kind = type(error).__name__
            log.warning("could not renew a token", action="slack.token_not_renewed", error=kind, **about)
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
        for _ in range(int(LONGEST_WAIT / FIRST_WAIT)):
            now = await self._store.installations.find(bot.enterprise_id, bot.team_id)
            if now is None or now.bot_refresh_token != bot.bot_refresh_token:
                return now or bot
            if _seconds_left(bot) > AT_LEAST:
                return bot
            await asyncio.sleep(FIRST_WAIT)
        return bot


def _seconds_left(bot: Bot) -> float:
    """Seconds until the token expires; infinite without token rotation."""
    return float("inf") if bot.bot_token_expires_at is None else bot.bot_token_expires_at - time()


def flow(
    slack: AsyncWebClient, installations: Installations, client_id: str, client_secret: SecretStr
) -> AsyncOAuthFlow:
    """The OAuth flow from the install path to Slack and back; `slack` is a client without a token."""
    settings = AsyncOAuthSettings(
        client_id=client_id,
        client_secret=client_secret.get_secret_value(),
        scopes=list(SCOPES),
        user_scopes=[],
        install_path=INSTALL_PATH,
        install_page_rendering_enabled=False,
        redirect_uri_path=REDIRECT_PATH,
        authorization_url=urljoin(slack.base_url, "/oauth/v2/authorize"),
        callback_options=AsyncCallbackOptions(_installed, _failed),
        installation_store=installations,
        installation_store_bot_only=True,
        state_store=installations.states,
        state_expiration_seconds=STATE_SECONDS,
    )
    return _Flow(client=slack, settings=settings)


class _Flow(AsyncOAuthFlow):
    async def handle_installation(self, request: AsyncBoltRequest) -> BoltResponse:
        # Bolt would put the parameter into Slack's URL unescaped.
        if not all(TEAM.fullmatch(team) for team in request.query.get("team", ())):
            return BoltResponse(status=400, body=NO_TEAM)
        return await super().handle_installation(request)


async def _installed(args: AsyncSuccessArgs) -> BoltResponse:
    installation = args.installation
    where = {"team": installation.team_id, "enterprise": installation.enterprise_id}
    log.info("installed", action="slack.installed", **where)
    named = installation.enterprise_name if installation.is_enterprise_install else installation.team_name
    text = f"Issue Bot is installed in {named or 'Slack'}. Open it there to get started."
    return _page(args, 200, "Installed", escape(text))


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    reason = shortened(args.reason, REASON_LENGTH)
    log.warning("installation failed", action="slack.install_failed", why=reason)
    explanation = escape(WHY.get(reason, f"Slack reported an error: {reason}."))
    again = f'<a href="{escape(args.settings.install_path)}">Try again</a>'
    return _page(args, args.suggested_status_code, "Not installed", f"{explanation} {again}.")


def _page(args: AsyncSuccessArgs | AsyncFailureArgs, status: int, title: str, content: str) -> BoltResponse:
    cookie = args.settings.state_utils.build_set_cookie_for_deletion()
    return BoltResponse(
        status=status,
        body=f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>{content}</p></html>",
        headers={
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": "default-src 'none'",
            "Cache-Control": "no-store",
            "Set-Cookie": cookie,
        },
    )
