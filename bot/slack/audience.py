"""Who reads along in a conversation, before anything is posted there for all to see."""

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack import members
from bot.slack.blocks import JSON
from bot.slack.posting import SLACK_FAILED, Announced
from bot.ttl_cache import TtlCache

log = structlog.get_logger(__name__)


def shared_outside(channel: JSON) -> bool | None:
    """Whether people outside the company read a conversation; None where Slack doesn't say.

    Slack leaves the flag out of direct messages with the bot, which only one person reads.
    """
    if channel.get("is_ext_shared") or channel.get("is_pending_ext_shared"):
        return True
    return False if channel.get("is_im") or channel.get("is_ext_shared") is False else None


class Audiences:
    """What Slack says of conversations, for half a minute: it takes fifty such questions in a minute."""

    def __init__(self) -> None:
        self._recent: TtlCache[tuple[str, str], bool | None] = TtlCache(seconds=30)

    async def barred(
        self, slack: AsyncWebClient, team_id: str, channel_id: str, by: str | None
    ) -> Announced | None:
        """Why nothing may be posted there, if so.

        `by` is who has to be a member: where the place comes from a form, Slack doesn't vouch for it.
        """
        try:
            if by is not None and not await members.includes(slack, channel_id, by):
                return Announced.ELSEWHERE
        except SLACK_FAILED as error:
            log.info("not announced", action="announcement.not_made", error=type(error).__name__)
            return Announced.UNKNOWN
        return await self.overheard(slack, team_id, channel_id)

    async def overheard(self, slack: AsyncWebClient, team_id: str, channel_id: str) -> Announced | None:
        """Why nothing may be said there, if so: outsiders read along, or can't be ruled out."""

        async def read() -> bool | None:
            return shared_outside((await slack.conversations_info(channel=channel_id)).get("channel") or {})

        try:
            shared = await self._recent.get((team_id, channel_id), read)
        except SLACK_FAILED as error:
            log.info("not announced", action="announcement.not_made", error=type(error).__name__)
            shared = None
        if shared is None:
            return Announced.UNKNOWN
        return Announced.SHARED if shared else None
