"""The client of Slack's Web API, with retries chosen for each method.

slack_sdk's default repeats every call whose connection broke, posts too, which doubles a message.
"""

from http import HTTPStatus

import aiohttp
from pydantic import SecretStr
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

TIMEOUT = aiohttp.ClientTimeout(total=15, connect=5)
LONGEST_WAIT = 3  # seconds asked for with a 429; beyond that the person is told instead
REPEATABLE = frozenset(
    {
        "api.test",
        "apps.connections.open",
        "auth.test",
        "chat.delete",
        "chat.getPermalink",
        "conversations.history",
        "conversations.info",
        "conversations.members",
        "files.info",
        "users.conversations",
        "users.info",
        "views.publish",
        "views.update",
    }
)
"""What does no more when it is done twice."""


class _Broken(AsyncConnectionErrorRetryHandler):
    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if request.url.rsplit("/", 1)[-1] not in REPEATABLE:
            return False
        return await super()._can_retry_async(state=state, request=request, response=response, error=error)


class _ShortWaits(AsyncRateLimitErrorRetryHandler):
    """A call answered with 429 was not carried out, so any of them may be repeated."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,  # noqa: ARG002 - slack_sdk's signature
        request: HttpRequest,  # noqa: ARG002 - slack_sdk's signature
        response: HttpResponse | None = None,
        error: Exception | None = None,  # noqa: ARG002 - slack_sdk's signature
    ) -> bool:
        if response is None or response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
            return False
        headers = {name.lower(): value for name, value in response.headers.items()}
        wait = "".join(headers.get("retry-after", ""))
        return wait.isdecimal() and int(wait) <= LONGEST_WAIT


def session() -> aiohttp.ClientSession:
    """The connections to Slack, to be closed in the end; all their waits are bounded."""
    return aiohttp.ClientSession(timeout=TIMEOUT)


def for_team(slack: AsyncWebClient, token: str, team_id: str | None) -> AsyncWebClient:
    """A client like this one for a team's token; with an organization's, Slack must be told which team."""
    return AsyncWebClient(
        token=token,
        base_url=slack.base_url,
        session=slack.session,
        team_id=team_id,
        retry_handlers=slack.retry_handlers,
    )


def web_client(token: SecretStr, base_url: str, connections: aiohttp.ClientSession) -> AsyncWebClient:
    """A client that speaks with this token to the API at this root, over these connections."""
    return AsyncWebClient(
        token=token.get_secret_value(),
        base_url=base_url,
        session=connections,
        retry_handlers=[_Broken(max_retry_count=1), _ShortWaits(max_retry_count=1)],
    )
