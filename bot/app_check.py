"""`issuebot check`: is everything there that `issuebot run` needs, and how is it mended where not?"""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Bot as InstalledBot
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot import errors
from bot.config import Settings, leave_proxies_out
from bot.service.client import Client
from bot.slack import webclient
from bot.slack.manifest import INSTALL_PATH, SCOPES
from bot.slack.posting import reason
from bot.store.engine import Database, DatabaseUnavailableError
from bot.store.store import Store
from bot.store.vault import Vault

SECONDS_TO_ANSWER = 10
WORKSPACES_ASKED, WORKSPACES_AT_ONCE = 100, 5
REDMINE_HEADER = "X-Redmine-API-Key"
NO_KEY = SecretStr("0" * 40)  # nobody's: what answers to it shows itself, and no account is touched
# slack_sdk trips over an answer that is text, as a proxy or another program at this address gives it.
NO_USABLE_ANSWER = (SlackApiError, aiohttp.ClientError, TimeoutError, AttributeError)


@dataclass(frozen=True)
class Finding:
    """What was found about a variable: fine, or wrong with how to mend it."""

    name: str
    sentence: str
    fine: bool

    def __str__(self) -> str:
        return f"{'ok   ' if self.fine else 'wrong'} {self.name}: {self.sentence}"


def _fine(name: str, sentence: str) -> Finding:
    return Finding(name, sentence, fine=True)


def _wrong(name: str, sentence: str) -> Finding:
    return Finding(name, sentence, fine=False)


async def check(settings: Settings) -> AsyncIterator[Finding]:
    """Looks at Slack, the service and the database, and yields a finding on each; raises nothing for them."""
    if urlsplit(settings.slack_api_url).hostname in {"127.0.0.1", "::1", "localhost"}:
        leave_proxies_out()
    async with webclient.session() as connections:
        slack = webclient.web_client(settings.slack_bot_token, settings.slack_api_url, connections)
        yield await (_client_secret(slack, settings) if settings.several_workspaces else _bot_token(slack))
        yield await _transport(slack, settings)
        yield await _service(settings)
        yield await _key_header(settings)
        async for finding in _database(settings, slack):
            yield finding


async def _bot_token(slack: AsyncWebClient) -> Finding:
    name = "SLACK_BOT_TOKEN"
    try:
        answer = await slack.auth_test()
    except NO_USABLE_ANSWER as error:
        return _wrong(name, _slack_refusal(error, "install the app anew and copy its bot token"))
    granted = {scope.strip() for scope in (answer.headers or {}).get("x-oauth-scopes", "").split(",")}
    missing = [scope for scope in SCOPES if scope not in granted]
    if missing:
        return _wrong(
            name,
            f"lacks {', '.join(missing)}: paste `issuebot manifest` into the app's page “App Manifest”, "
            "then reinstall the app",
        )
    return _fine(name, f"works in {answer.get('team')}, with every scope that is needed")


async def _client_secret(slack: AsyncWebClient, settings: Settings) -> Finding:
    """Slack names what is wrong with the pair before, or in place of, the code that nobody ever got."""
    name, secret = "SLACK_CLIENT_SECRET", settings.slack_client_secret.get_secret_value()
    try:
        await slack.oauth_v2_access(client_id=settings.slack_client_id, client_secret=secret, code="0")
    except NO_USABLE_ANSWER as error:
        if reason(error) != "invalid_code":
            mend = "copy SLACK_CLIENT_ID and this from the app's “Basic Information” again"
            return _wrong(name, _slack_refusal(error, mend))
    return _fine(name, "is taken by Slack")


async def _installed(store: Store, slack: AsyncWebClient) -> Finding:
    """Whose token works; one whose time is over is left alone, as the bot renews it when it is needed."""
    name, at_once = "SLACK_CLIENT_ID", asyncio.Semaphore(WORKSPACES_AT_ONCE)

    async def refused(bot: InstalledBot) -> str | None:
        if bot.bot_token_expires_at and bot.bot_token_expires_at < time.time():
            return None
        try:
            async with at_once:
                await webclient.for_team(slack, bot.bot_token, bot.team_id).auth_test()
        except NO_USABLE_ANSWER as error:
            why = reason(error) or type(error).__name__
            return f"{bot.team_name or bot.enterprise_name or bot.team_id or bot.enterprise_id} ({why})"
        return None

    try:
        count, latest = await store.installations.latest(WORKSPACES_ASKED)
    except errors.StoredSecretError as error:
        return _wrong(name, f"a workspace's token can't be opened ({error}): install the app there again")
    if not count:
        return _fine(name, f"no workspace is installed yet: open {INSTALL_PATH} at the bot's address")
    said = (
        f"{count} installed" if count <= len(latest) else f"{count} installed, the latest {len(latest)} asked"
    )
    if wrong := [one for one in await asyncio.gather(*map(refused, latest)) if one]:
        return _wrong(name, f"{said}: no token works for {', '.join(wrong)}: install the app there again")
    return _fine(name, f"{said}, and their tokens work")


async def _transport(slack: AsyncWebClient, settings: Settings) -> Finding:
    if not settings.socket_mode:
        return _fine("SLACK_SIGNING_SECRET", f"is set; Slack's requests are taken on port {settings.port}")
    name = "SLACK_APP_TOKEN"
    try:
        await slack.apps_connections_open(app_token=settings.slack_app_token.get_secret_value())
    except NO_USABLE_ANSWER as error:
        mend = "make an app-level token with connections:write, and switch Socket Mode on"
        return _wrong(name, _slack_refusal(error, mend))
    return _fine(name, "opens Socket Mode")


def _slack_refusal(error: Exception, mend: str) -> str:
    if isinstance(error, SlackApiError) and isinstance(error.response, AsyncSlackResponse):
        return f"Slack says {error.response.get('error', 'nothing of use')}: {mend}"
    return f"Slack can't be reached ({type(error).__name__}): check SLACK_API_URL and the network"


async def _service(settings: Settings) -> Finding:
    """Unauthorized is a good answer here: the interface is there, and asks for a key."""
    name = "SERVICE_BASE_URL"
    async with Client(settings.service_base_url, key_header=settings.service_api_key_header) as client:
        try:
            await client.list_projects(NO_KEY, limit=1)
        except errors.Unauthorized:
            return _fine(name, "the interface answers, and asks for a key")
        except errors.Forbidden:
            sentence = "refuses everybody: switch the REST interface on in the service's settings"
        except errors.NotFound:
            sentence = "there is no interface at this address: is a path prefix missing, such as /redmine?"
        except errors.Redirected:
            sentence = (
                "sends us elsewhere: use the address that it leads to, often https:// in place of http://"
            )
        except (errors.Unreachable, errors.TimedOut):
            sentence = "doesn't answer: check host, port and network"
        except errors.ServiceError as error:
            sentence = f"doesn't answer as the interface does (status {error.status}): check host and path"
        else:
            return _fine(name, "the interface answers")
    return _wrong(name, sentence)


async def _key_header(settings: Settings) -> Finding:
    """Redmine tells that it is one when it asks for a key, and it reads one header only."""
    name, header = "SERVICE_API_KEY_HEADER", settings.service_api_key_header
    url = f"{settings.service_base_url}/users/current.json"
    timeout = aiohttp.ClientTimeout(total=SECONDS_TO_ANSWER)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            asked, status = answer.headers.get("WWW-Authenticate", ""), answer.status
    except (aiohttp.ClientError, TimeoutError):
        return _wrong(name, "can't be checked while the service doesn't answer")
    if "redmine" in asked.lower() and header.lower() != REDMINE_HEADER.lower():
        return _wrong(name, f"{header} is not read by this service: set it to {REDMINE_HEADER}")
    if status == HTTPStatus.FORBIDDEN:
        return _wrong(name, "is not looked at: switch the REST interface on in the service's settings")
    if status != HTTPStatus.UNAUTHORIZED:
        return _wrong(name, f"the service doesn't ask for a key (status {status}): check its address")
    return _fine(name, f"keys are sent in {header}")


async def _database(settings: Settings, slack: AsyncWebClient) -> AsyncIterator[Finding]:
    database = Database(settings.database_url)
    try:
        await database.ping()
        current = await database.is_current()
        if not current:
            yield _fine("DATABASE_URL", "answers; `issuebot run` makes its tables up to date")
            yield _fine("ENCRYPTION_KEYS", "can encrypt")
            return
        yield _fine("DATABASE_URL", "answers, and its tables are up to date")
        store = Store(database, Vault(settings.encryption_keys), settings.slack_client_id)
        if unreadable := await store.sealings.unreadable():
            sentence = (
                f"open all stored keys but {unreadable}: put the earlier encryption key back, as the last"
            )
            yield _wrong("ENCRYPTION_KEYS", sentence)
        else:
            yield _fine("ENCRYPTION_KEYS", "open every stored key")
            if settings.several_workspaces:
                yield await _installed(store, slack)
    except DatabaseUnavailableError as error:
        yield _wrong("DATABASE_URL", f"{error}: check the address, and that it may be written")
    finally:
        await database.close()
