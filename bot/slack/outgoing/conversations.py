"""Whether the bot may post in a conversation: is it in it, who reads it, and is the user in it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

import structlog
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.outgoing.outcomes import ChannelStatus, PostOutcome
from bot.slack.surfaces.blocks import JSON
from bot.slack.workspaces.slack_errors import SLACK_FAILED, Failure, failure, why
from bot.slack.workspaces.tokens import Workspaces
from bot.store.owner import Owner
from bot.ttl_cache import TtlCache

TYPES = "public_channel,private_channel,mpim,im"
MAX_PAGES, CONVERSATIONS_ON_PAGE, MEMBERS_ON_PAGE = 100, 999, 1000

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Conversation:
    """A conversation, as Slack describes it.

    `shared` is whether people outside the company can read it; None if Slack doesn't say.
    """

    name: str
    shared: bool | None
    has_bot: bool
    archived: bool
    public: bool

    @classmethod
    def of(cls, channel: JSON) -> "Conversation":
        """Slack omits `is_ext_shared` for direct messages with the bot, which only one person reads."""
        direct, outside = channel.get("is_im"), channel.get("is_ext_shared")
        shared = outside or channel.get("is_pending_ext_shared")
        return cls(
            name=str(channel.get("name") or ""),
            shared=bool(shared) if shared or direct or outside is False else None,
            has_bot=bool(direct or channel.get("is_member") is not False),
            archived=bool(channel.get("is_archived")),
            public=channel.get("is_channel") is True and channel.get("is_private") is False,
        )

    @property
    def status(self) -> ChannelStatus:
        if self.archived or not self.has_bot:
            return ChannelStatus.GONE
        if self.shared is None:
            return ChannelStatus.UNREAD
        return ChannelStatus.SHARED if self.shared else ChannelStatus.OPEN


async def conversation(slack: AsyncWebClient, channel_id: str) -> Conversation:
    """What Slack says of a conversation now. Raises SLACK_FAILED."""
    answer = await slack.conversations_info(channel=channel_id)
    return Conversation.of(answer.get("channel") or {})


async def is_member(slack: AsyncWebClient, channel_id: str, user_id: str) -> bool:
    """Whether a user is a member of a conversation. Raises SLACK_FAILED."""
    async for page in _pages(slack.conversations_members, channel=channel_id, limit=MEMBERS_ON_PAGE):
        if user_id in (page.get("members") or ()):
            return True
    return False


async def _pages(
    method: Callable[..., Awaitable[AsyncSlackResponse]], **about: object
) -> AsyncIterator[AsyncSlackResponse]:
    cursor = None
    for _ in range(MAX_PAGES):
        page = await method(cursor=cursor, **about)
        yield page
        if not (cursor := (page.get("response_metadata") or {}).get("next_cursor")):
            return


class Conversations:
    """Caches what Slack says of conversations for some `seconds`; it allows 50 calls a minute."""

    def __init__(self, workspaces: Workspaces, seconds: float) -> None:
        self._workspaces = workspaces
        self._shared: TtlCache[tuple[str, str], bool | None] = TtlCache(seconds)
        self._listed: TtlCache[str, Mapping[str, ChannelStatus]] = TtlCache(seconds)

    async def why_not_share(
        self, slack: AsyncWebClient, team_id: str, channel_id: str, by: str | None = None
    ) -> PostOutcome | None:
        """Return why nothing may be shown in a channel, or None: outsiders read it, or may.

        `by` must be a member: set it if the channel comes from a form, where Slack doesn't verify membership.
        """

        async def read() -> bool | None:
            return (await conversation(slack, channel_id)).shared

        try:
            if by is not None and not await is_member(slack, channel_id, by):
                return PostOutcome.ELSEWHERE
            shared = await self._shared.get((team_id, channel_id), read)
        except SLACK_FAILED as error:
            log.info("channel not read", action="channel.not_read", error=why(error))
            shared = None
        if shared is None:
            return PostOutcome.AUDIENCE_UNREAD
        return PostOutcome.SHARED if shared else None

    async def status(self, owner: Owner, channel_id: str) -> ChannelStatus:
        """Whether the bot may post somewhere in the background.

        Read from one list of all the bot's conversations; one that isn't in it is read alone.
        """
        listed = await self._listed.get(owner.team_id, partial(self._list, owner))
        if channel_id in listed:
            return listed[channel_id]
        try:
            return (await conversation(await self._workspaces.of(owner), channel_id)).status
        except SLACK_FAILED as error:
            log.info("channel not read", action="channel.not_read", error=why(error))
            return ChannelStatus.GONE if failure(error) is Failure.GONE else ChannelStatus.UNREAD

    async def _list(self, owner: Owner) -> Mapping[str, ChannelStatus]:
        listed: dict[str, ChannelStatus] = {}
        about = {"types": TYPES, "exclude_archived": True, "limit": CONVERSATIONS_ON_PAGE}
        try:
            async for page in _pages((await self._workspaces.of(owner)).users_conversations, **about):
                for channel in page.get("channels") or ():
                    listed[channel["id"]] = Conversation.of(channel).status
        except SLACK_FAILED as error:  # those not listed are read one by one
            log.info("conversations not listed", action="channels.not_listed", error=why(error))
        return {channel: status for channel, status in listed.items() if status is not ChannelStatus.UNREAD}
