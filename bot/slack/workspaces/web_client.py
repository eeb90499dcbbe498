"""The Slack Web API client, with retries chosen per method, and without redirects.

slack_sdk's default retries every call whose connection broke, posts included, which would duplicate messages.
It also follows redirects, and some of them carry the request along with its secrets.
"""

import math
from copy import copy
from http import HTTPStatus
from typing import Any

import aiohttp
from pydantic import SecretStr
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.http_retry.builtin_interval_calculators import BackoffRetryIntervalCalculator
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.web.async_client import AsyncWebClient

LONGEST_RETRY_AFTER = 3  # the longest Retry-After to wait for; otherwise the user hears of it
REPEATABLE = frozenset(
    {
        *("api.test", "apps.connections.open", "auth.test", "chat.delete", "chat.getPermalink"),
        *("conversations.history", "conversations.info", "conversations.members", "conversations.replies"),
        *("files.info", "functions.completeError", "functions.completeSuccess", "users.conversations"),
        *("users.info", "views.publish", "views.update"),
    }
)


class _RetryIdempotent(AsyncConnectionErrorRetryHandler):
    async def _can_retry_async(self, *, request: HttpRequest, **about: Any) -> bool:  # noqa: ANN401 - slack_sdk's
        repeatable = request.url.rsplit("/", 1)[-1] in REPEATABLE
        return repeatable and await super()._can_retry_async(request=request, **about)


class _RetryRateLimited(AsyncRateLimitErrorRetryHandler):
    """Retries any call after a short 429, since Slack didn't execute it."""

    async def _can_retry_async(self, *, response: HttpResponse | None = None, **_: object) -> bool:
        wait = retry_after(response, math.inf)
        return wait is not None and wait <= LONGEST_RETRY_AFTER


def retry_after(answer: Any, otherwise: float) -> float | None:  # noqa: ANN401 - slack_sdk has several types
    """The seconds that a 429 asks to wait, `otherwise` if Slack doesn't say; None for anything else."""
    if getattr(answer, "status_code", None) != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    wait = header(answer, "retry-after")
    return float(wait) if wait.isdecimal() else otherwise


def header(answer: Any, name: str, otherwise: str = "") -> str:  # noqa: ANN401 - slack_sdk has several types
    """A header of Slack's response by its name in lower case, `otherwise` if it's missing."""
    headers = {known.lower(): value for known, value in (answer.headers or {}).items()}
    return "".join(headers.get(name, otherwise))  # a list in what slack_sdk's handlers get


def session(timeout: float) -> aiohttp.ClientSession:
    """The HTTP session for Slack, with a timeout in seconds for each request; the caller closes it."""
    waits = aiohttp.ClientTimeout(total=timeout, connect=5)
    return aiohttp.ClientSession(timeout=waits, trace_configs=[no_redirects()])


def no_redirects() -> aiohttp.TraceConfig:
    """Makes every request of a session fail that would follow a redirect."""
    tracing = aiohttp.TraceConfig()
    tracing.on_request_redirect.append(_refuse)
    return tracing


async def _refuse(_session: object, _context: object, about: aiohttp.TraceRequestRedirectParams) -> None:
    raise aiohttp.TooManyRedirects(about.response.request_info, (about.response,))


def without_retries(slack: AsyncWebClient) -> AsyncWebClient:
    once = copy(slack)
    once.retry_handlers = []
    return once


def for_team(slack: AsyncWebClient, token: str | None, team_id: str | None) -> AsyncWebClient:
    """A client like this one with a team's token; for an organization's token Slack also needs the team."""
    return AsyncWebClient(
        token=token,
        base_url=slack.base_url,
        session=slack.session,
        team_id=team_id,
        retry_handlers=slack.retry_handlers,
    )


def web_client(
    token: SecretStr, base_url: str, connections: aiohttp.ClientSession, backoff: float
) -> AsyncWebClient:
    return AsyncWebClient(
        token=token.get_secret_value(),
        base_url=base_url,
        session=connections,
        retry_handlers=[
            _RetryIdempotent(max_retry_count=1, interval_calculator=BackoffRetryIntervalCalculator(backoff)),
            _RetryRateLimited(max_retry_count=1),
        ],
    )
