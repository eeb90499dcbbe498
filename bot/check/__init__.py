"""`issuebot check`: tests everything that `issuebot run` depends on and says how to fix what fails."""

from collections.abc import AsyncIterator

from bot import config
from bot.check import service, slack, storage
from bot.check.findings import Finding, wrong
from bot.config import Settings, ignore_proxies
from bot.slack.workspaces import web_client
from bot.timings import Delays


async def check(settings: Settings) -> AsyncIterator[Finding]:
    """Check Slack, the service and the database, and yield the findings; never raises for a failed check."""
    if config.is_exposed():
        yield wrong(".env", "Every user of this machine can read its secrets. Run `chmod 600 .env`.")
    if config.is_local(settings.slack_api_url):
        ignore_proxies()
    token, url, delays = settings.slack_bot_token, settings.slack_api_url, Delays()
    async with web_client.session(delays.slack) as connections:
        client = web_client.web_client(token, url, connections, delays.slack_backoff)
        async for finding in slack.check(client, settings):
            yield finding
        async for finding in service.check(settings, await storage.linked_keys(settings)):
            yield finding
        async for finding in storage.check(settings, client):
            yield finding
