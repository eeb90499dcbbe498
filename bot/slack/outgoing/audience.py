"""Decides whether a conversation is safe to post in: who can read it, and is the user in it."""

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.outgoing.posting import SLACK_FAILED, PostOutcome
from bot.slack.surfaces.blocks import JSON
from bot.timings import Delays
from bot.ttl_cache import TtlCache

PAGE, PAGES = 1000, 100  # of members

log = structlog.get_logger(__name__)


def shared_outside(channel: JSON) -> bool | None:
    """Whether people outside the company can read a conversation; None if Slack doesn't say.

    Slack omits the flag for direct messages with the bot, which only one person reads.
    """
    if channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"):
        return True
    return False if channel.get("is_im") or channel.get("is_ext_shared") is False else None


async def is_member(slack: AsyncWebClient, channel_id: str, user_id: str) -> bool:
    """Whether a user is a member of a conversation. Raises what Slack's client raises."""
    cursor = ""
    for _ in range(PAGES):
        page = await slack.conversations_members(channel=channel_id, limit=PAGE, cursor=cursor or None)
        if user_id in (page.get("members") or ()):
            return True
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            break
    return False


class Audiences:
    """Caches what Slack says about conversations for some `seconds`; the method allows 50 calls a minute."""

    def __init__(self, seconds: float = Delays.channels) -> None:
        self._recent: TtlCache[tuple[str, str], bool | None] = TtlCache(seconds)

    async def why_not_share(
        self, slack: AsyncWebClient, team_id: str, channel_id: str, by: str | None = None
    ) -> PostOutcome | None:
        """Return why nothing may be shown in a channel, or None: outsiders read it, or may.

        `by` must be a member: set it if the channel comes from a form, where Slack doesn't verify membership.
        """

        async def read() -> bool | None:
            return shared_outside((await slack.conversations_info(channel=channel_id)).get("channel") or {})

        try:
            if by is not None and not await is_member(slack, channel_id, by):
                return PostOutcome.ELSEWHERE
            shared = await self._recent.get((team_id, channel_id), read)
        except SLACK_FAILED as error:
            log.info("not posted", action="announcement.not_made", error=type(error).__name__)
            shared = None
        if shared is None:
            return PostOutcome.UNKNOWN
        return PostOutcome.SHARED if shared else None
