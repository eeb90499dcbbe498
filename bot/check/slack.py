"""Checks the Slack tokens and secrets."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Collection
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Bot as InstalledBot
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import errors
from bot.check.findings import Finding, clock, fine, wrong
from bot.config import Settings
from bot.slack.surfaces.manifest import INSTALL_PATH, OPTIONAL, SCOPES
from bot.slack.workspaces import web_client
from bot.slack.workspaces.slack_errors import reason
from bot.store.store import Store

SECONDS_TO_GREET = 10
WORKSPACES_CHECKED, WORKSPACES_AT_ONCE = 100, 5
SLACK_ITSELF = re.compile(r"(.+\.)?slack(-gov)?\.com")
UPDATE_MANIFEST = "Paste the output of `issuebot manifest` into the app's “App Manifest” page"
# AttributeError: slack_sdk fails on a text response, such as a proxy's.
CALL_FAILED = (SlackApiError, aiohttp.ClientError, TimeoutError, AttributeError)


async def check(slack: AsyncWebClient, settings: Settings) -> AsyncIterator[Finding]:
    if settings.several_workspaces:
        yield await _client_secret(slack, settings)
    else:
        async for finding in _bot_token(slack):
            yield finding
    yield await _socket_mode(slack, settings) if settings.socket_mode else _signing_secret(settings)


async def _bot_token(slack: AsyncWebClient) -> AsyncIterator[Finding]:
    name = "SLACK_BOT_TOKEN"
    try:
        answer = await slack.auth_test()
    except CALL_FAILED as error:
        yield wrong(name, _refusal(error, "Reinstall the app and copy its bot token."))
        return
    if not answer.get("bot_id"):
        yield wrong(name, "This isn't a bot token. Copy “Bot User OAuth Token” from “OAuth & Permissions”.")
    elif missing := _missing(answer, set(SCOPES) - OPTIONAL):
        yield wrong(name, f"Missing scopes: {missing}. {UPDATE_MANIFEST}, then reinstall the app.")
    elif declined := _missing(answer, OPTIONAL):
        yield fine(name, f"Works in {answer.get('team')}. Optional scopes it doesn't have: {declined}.")
    else:
        yield fine(name, f"Works in {answer.get('team')} and has every scope.")
    if off := clock("Slack's", web_client.header(answer, "date")):
        yield off


async def _client_secret(slack: AsyncWebClient, settings: Settings) -> Finding:
    """Exchange an invalid code: Slack checks the client ID and secret first."""
    name, secret = "SLACK_CLIENT_SECRET", settings.slack_client_secret.get_secret_value()
    try:
        await slack.oauth_v2_access(client_id=settings.slack_client_id, client_secret=secret, code="0")
    except CALL_FAILED as error:
        if reason(error) != "invalid_code":
            fix = "Copy it and SLACK_CLIENT_ID from “Basic Information” again."
            return wrong(name, _refusal(error, fix))
    return fine(name, "Slack accepts it.")


async def installed(store: Store, slack: AsyncWebClient) -> Finding:
    """Check that all workspaces' tokens work and have every scope; the bot itself renews expired ones."""
    name, at_once = "SLACK_CLIENT_ID", asyncio.Semaphore(WORKSPACES_AT_ONCE)

    async def problem(bot: InstalledBot) -> str | None:
        if bot.bot_token_expires_at and bot.bot_token_expires_at < time.time():
            return None
        try:
            async with at_once:
                answer = await web_client.for_team(slack, bot.bot_token, bot.team_id).auth_test()
        except CALL_FAILED as error:
            why = reason(error) or type(error).__name__
        else:
            missing = _missing(answer, set(SCOPES) - OPTIONAL)
            why = f"missing scopes: {missing}" if missing else ""
        where = bot.team_name or bot.enterprise_name or bot.team_id or bot.enterprise_id
        return f"{where} ({why})" if why else None

    try:
        count, latest = await store.installations.latest(WORKSPACES_CHECKED)
    except errors.StoredSecretError as error:
        return wrong(name, f"Can't decrypt a workspace's token ({error}). Install the app there again.")
    if not count:
        return fine(name, f"No workspace has installed the app yet. Open {INSTALL_PATH} at the bot's URL.")
    summary = f"{count} installed" if count <= len(latest) else f"{count} installed, {len(latest)} checked"
    if problems := [one for one in await asyncio.gather(*map(problem, latest)) if one]:
        fix = f"{UPDATE_MANIFEST} if a scope is missing, then open {INSTALL_PATH} to install the app again."
        return wrong(name, f"{summary}. Problems: {', '.join(problems)}. {fix}")
    return fine(name, f"{summary}. All tokens work and have every required scope.")


def _missing(answer: AsyncSlackResponse, required: Collection[str]) -> str:
    """The wanted scopes that a token lacks: the only part of the app's configuration a bot can see."""
    granted = {scope.strip() for scope in web_client.header(answer, "x-oauth-scopes").split(",")}
    return ", ".join(scope for scope in SCOPES if scope in required and scope not in granted)


def _signing_secret(settings: Settings) -> Finding:
    """Check the secret's format, since Slack offers no way to test it."""
    name, secret = "SLACK_SIGNING_SECRET", settings.slack_signing_secret.get_secret_value()
    host = urlsplit(settings.slack_api_url).hostname or ""
    if SLACK_ITSELF.fullmatch(host) and not re.fullmatch(r"[0-9a-f]{32}", secret):
        return wrong(name, "This isn't a signing secret. Copy “Signing Secret” from “Basic Information”.")
    return fine(name, f"Set. The bot accepts Slack's requests on port {settings.port}.")


async def _socket_mode(slack: AsyncWebClient, settings: Settings) -> Finding:
    """Open a connection and read its first message, which says whether Socket Mode is turned off."""
    name = "SLACK_APP_TOKEN"
    try:
        answer = await slack.apps_connections_open(app_token=settings.slack_app_token.get_secret_value())
        greeting = await _greeting(str(answer.get("url")))
    except CALL_FAILED as error:
        fix = "Create an app-level token with connections:write, and turn on Socket Mode."
        return wrong(name, _refusal(error, fix))
    if greeting.get("type") == "hello":
        return fine(name, "Opens a Socket Mode connection.")
    if greeting.get("reason") == "link_disabled":
        return wrong(name, "Socket Mode is off. Turn it on in the app's “Socket Mode” page.")
    return wrong(name, "Slack closes the connection immediately. Try again in a minute.")


async def _greeting(url: str) -> dict[str, object]:
    """The first message of a connection (https://docs.slack.dev/apis/events-api/using-socket-mode)."""
    async with (
        asyncio.timeout(SECONDS_TO_GREET),
        aiohttp.ClientSession(trust_env=True, trace_configs=[web_client.no_redirects()]) as session,
        session.ws_connect(url) as connection,
    ):
        message = await connection.receive()
        greeting = message.json() if message.type is aiohttp.WSMsgType.TEXT else None
        return greeting if isinstance(greeting, dict) else {}


def _refusal(error: Exception, fix: str) -> str:
    if isinstance(error, SlackApiError) and isinstance(error.response, AsyncSlackResponse):
        return f"Slack returned {error.response.get('error', 'an unknown error')}. {fix}"
    return f"Can't reach Slack ({type(error).__name__}). Check SLACK_API_URL and the network."
