"""Installs the bot in more workspaces or organizations: Bolt's OAuth flow with the bot's pages.

See https://docs.slack.dev/authentication/installing-with-oauth/
"""

import re
from html import escape
from urllib.parse import urljoin

import structlog
from pydantic import SecretStr
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.surfaces.blocks import shortened
from bot.slack.surfaces.manifest import INSTALL_PATH, REDIRECT_PATH, SCOPES
from bot.store.installations import STATE_SECONDS, Installations

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

log = structlog.get_logger(__name__)


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
    said = f"Issue Bot is installed in {named or 'Slack'}. Open it there to get started."
    return _page(args, 200, "Installed", escape(said))


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    reason = shortened(args.reason, REASON_LENGTH)
    log.warning("installation failed", action="slack.install_failed", why=reason)
    said = escape(WHY.get(reason, f"Slack reported an error: {reason}."))
    again = f'<a href="{escape(args.settings.install_path)}">Try again</a>'
    return _page(args, args.suggested_status_code, "Not installed", f"{said} {again}.")


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
