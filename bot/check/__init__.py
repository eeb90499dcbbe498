"""`issuebot check`: is everything there that `issuebot run` needs, and how is it mended where not?"""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from bot.check import service, slack, storage
from bot.check.findings import Finding
from bot.config import Settings, leave_proxies_out
from bot.slack import web_client


async def check(settings: Settings) -> AsyncIterator[Finding]:
    """Looks at Slack, the service and the database, and yields a finding on each; raises nothing for them."""
    if urlsplit(settings.slack_api_url).hostname in {"127.0.0.1", "::1", "localhost"}:
        leave_proxies_out()
    async with web_client.session() as connections:
        client = web_client.web_client(settings.slack_bot_token, settings.slack_api_url, connections)
        async for finding in slack.check(client, settings):
            yield finding
        async for finding in service.check(settings, await storage.linked_keys(settings)):
            yield finding
        async for finding in storage.check(settings, client):
            yield finding
