"""What the errors of calls to Slack mean: no other module groups Slack's error codes."""

from enum import Enum

import aiohttp
from slack_sdk.errors import SlackApiError

from bot.slack.workspaces import web_client

SLACK_FAILED = (SlackApiError, aiohttp.ClientError, OSError, TimeoutError)
"""The errors of a call to Slack that is refused or whose connection breaks."""


class Failure(Enum):
    """How a call failed (docs.slack.dev, chat.postMessage, Errors)."""

    DELAYED = "Slack limits the rate or can't be reached: nothing was done"
    LOCKED_OUT = "the app or the workspace may not; temporary, or for an administrator to fix"
    GONE = "the bot can't post in that conversation anymore"
    REFUSED = "Slack refused the call for another reason"
    UNKNOWN = "the call may have succeeded"


NO_ACCESS = frozenset({"not_in_channel", "channel_not_found"})
GONE = NO_ACCESS | {"is_archived", "channel_is_limited_access", "user_not_found"}
UNKNOWN = frozenset({None, "internal_error", "fatal_error", "service_unavailable", "request_timeout"})
LOCKED_OUT = frozenset(
    {
        *("access_denied", "accesslimited", "account_inactive", "invalid_auth", "message_limit_exceeded"),
        *("missing_scope", "not_authed", "org_login_required", "rate_limited", "ratelimited"),
        *("team_added_to_org", "token_expired", "token_revoked"),
    }
)
TOKEN_REFUSED = frozenset({"account_inactive", "invalid_auth", "team_access_not_granted", "token_revoked"})
"""The token no longer works. `token_expired` isn't one of these: the token can be renewed."""
TRIGGER_EXPIRED = frozenset({"expired_trigger_id", "exchanged_trigger_id", "trigger_expired"})
EXECUTION_OVER = frozenset({"execution_not_in_running_state", "function_execution_not_found"})
"""A workflow's step was completed before, or ended."""


def failure(error: BaseException) -> Failure:
    """How a call failed, from its error: one of SLACK_FAILED."""
    code = reason(error)
    if retry_after(error, 0) is not None or isinstance(error, aiohttp.ClientConnectorError):
        return Failure.DELAYED
    for codes, kind in (
        (UNKNOWN, Failure.UNKNOWN),
        (LOCKED_OUT, Failure.LOCKED_OUT),
        (GONE, Failure.GONE),
    ):
        if code in codes:
            return kind
    return Failure.REFUSED


def reason(error: BaseException) -> str | None:
    """Slack's error code; None for any other error or response."""
    answer = getattr(error, "response", None)
    data = getattr(answer, "data", answer)
    word = data.get("error") if isinstance(data, dict) else None
    return word if isinstance(word, str) else None


def why(error: BaseException) -> str:
    """What the log says of a failed call: Slack's error code, or the error's type."""
    return reason(error) or type(error).__name__


def retry_after(error: BaseException, otherwise: float) -> float | None:
    """The seconds to wait after a 429, `otherwise` if Slack doesn't say; None for any other error."""
    return web_client.retry_after(getattr(error, "response", None), otherwise)
